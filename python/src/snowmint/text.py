"""Fixed-width text forms of a 64-bit ID: zero-padded, so that text order is number order.

| form | characters | alphabet |
| --- | --- | --- |
| `decimal` | 20 | 0-9 |
| `hex` | 16 | 0-9 a-f; decodes either case |
| `base32` | 13 | Crockford's, upper case; decodes either case, and `I L O` as `1 1 0` |
| `base36` | 13 | 0-9 a-z; decodes either case |
| `base58` | 11 | Bitcoin's, whose zero is `1` |
| `base62` | 11 | 0-9 A-Z a-z |
"""

from typing import Final

from snowmint._snowmint import text_decode as decode
from snowmint._snowmint import text_encode as encode
from snowmint._snowmint import text_forms

FORMS: Final = tuple(text_forms())
"""The names of the forms."""

__all__ = ["FORMS", "decode", "encode"]
