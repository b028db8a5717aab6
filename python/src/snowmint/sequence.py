"""Virtual ranges by name, as in the SEQUENCE engine of MariaDB.

>>> from snowmint import sequence
>>> list(sequence.virtual("seq_1_to_15_step_3"))
[1, 4, 7, 10, 13]
"""

from snowmint._snowmint import virtual_range as virtual

__all__ = ["virtual"]
