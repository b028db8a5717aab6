"""The functions of `snowmint.text`."""

from snowmint._stubs._arguments import Int

def text_encode(id: Int, form: str) -> str:
    """The text of a 64-bit ID.

    >>> from snowmint import text
    >>> text.encode(1541815603606036480, "base62"), text.encode(-1, "hex")
    ('1ptWyK4WgZU', 'ffffffffffffffff')

    Args:
        id: 64 bits; a negative value is the signed form of the same bits.
        form: One of `text.FORMS`.

    Raises:
        InvalidIdError: The ID is no 64-bit integer.
        InvalidTextError: No form has this name.
    """

def text_decode(text: str, form: str) -> int:
    """The ID of a text, unsigned.

    >>> from snowmint import text
    >>> text.decode("1ptWyK4WgZU", "base62")
    1541815603606036480

    Raises:
        InvalidTextError: A wrong length, a character of no meaning, a value above 2^64-1, or an unknown form.
    """

def text_forms() -> list[str]:
    """The names of the text forms."""
