"""IDs moved about, so that a database that splits its tables by ranges of keys writes to all of them at once.

IDs that sort by time all go to the last range: the hot spot of TiDB and its kind. Each function gives another ID for
each ID, and its inverse gives the first one back; both stay below 2**63, so that a signed column holds them. The order
by time is lost, and with it `Layout.id_range` on the column.

| function | writes go to | inverse | takes |
| --- | --- | --- | --- |
| `rotate_digits` | 10**digits ranges a lead | `unrotate_digits` | more than `digits` digits, result below 2**63 |
| `shard_high` | 2**bits ranges, each in order of time | `unshard_high` | 0 to 2**63-1 |
| `reverse_bits` | everywhere | itself | 0 to 2**63-1 |

`rotate_digits` spreads by the last digits alone. At low load the sequence of most IDs is 0 and few last digits occur:
mint with `sequence_start="carry"` there.
"""

from snowmint._snowmint import reverse_bits, rotate_digits, shard_high, unrotate_digits, unshard_high

__all__ = ["reverse_bits", "rotate_digits", "shard_high", "unrotate_digits", "unshard_high"]
