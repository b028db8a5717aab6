"""IDs with a prefix, as a class for each kind of thing."""

from typing import Any, ClassVar, Generic, Self, SupportsIndex, TypeVar
from uuid import UUID

from snowmint._snowmint import prefix_decode_id, prefix_decode_uuid, prefix_encode, type_id_parts, uuid7

V = TypeVar("V", int, UUID)


class _Prefixed(Generic[V]):
    """A value and a prefix; ordered, hashable, immutable. IDs of two classes are never equal."""

    __slots__ = ("_prefix", "_value")
    _prefix: str
    _value: V

    def _become(self, prefix: str, value: V) -> None:
        object.__setattr__(self, "_prefix", prefix)
        object.__setattr__(self, "_value", value)

    def __setattr__(self, name: str, _: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: {name} cannot be deleted")

    def __str__(self) -> str:
        return prefix_encode(self._prefix, self._value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self}')"

    def __hash__(self) -> int:
        return hash((type(self), self._prefix, self._value))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._key() == other._key()

    def __lt__(self, other: Self) -> bool:
        return self._key() < other._key() if type(other) is type(self) else NotImplemented

    def __le__(self, other: Self) -> bool:
        return self._key() <= other._key() if type(other) is type(self) else NotImplemented

    def __gt__(self, other: Self) -> bool:
        return self._key() > other._key() if type(other) is type(self) else NotImplemented

    def __ge__(self, other: Self) -> bool:
        return self._key() >= other._key() if type(other) is type(self) else NotImplemented

    def _key(self) -> tuple[str, V]:
        return self._prefix, self._value

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self),)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _: object) -> Self:
        return self

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from snowmint.pydantic import text_schema

        return text_schema(cls)


class PrefixedId(_Prefixed[int]):
    """A 64-bit ID of one kind of thing, which no type checker and no database confuses with another kind.

    >>> from snowmint import PrefixedId
    >>> class UserId(PrefixedId, prefix="user"): ...
    >>> id = UserId(1541815603606036480)
    >>> id, str(id), id.value
    (UserId('user_1asd13xh1f800'), 'user_1asd13xh1f800', 1541815603606036480)
    >>> UserId("user_1asd13xh1f800") == id
    True

    pydantic takes a subclass as the type of a field: a text in JSON. `snowmint.sqlalchemy.PrefixedIdType(UserId)` and
    `snowmint.django.PrefixedIdField(UserId)` are columns, of numbers without the prefix.

    Args:
        value: A number of 64 bits, a text with the prefix of the class, or an ID of the class.

    Raises:
        InvalidTextError: The text has another prefix, another length, or a character that has no meaning. In
            `class UserId(PrefixedId, prefix=...)`: the prefix is not valid.
        InvalidIdError: The number is not from -2^63 to 2^64-1; a negative one is the signed form of the same bits.
        TypeError: The value is of another type, or `PrefixedId` itself is called.
    """

    __slots__ = ()
    prefix: ClassVar[str]
    """The prefix of the class."""

    def __init_subclass__(cls, *, prefix: str | None = None, **options: Any) -> None:
        super().__init_subclass__(**options)
        if prefix is not None:
            prefix_encode(prefix, 0)
            cls.prefix = prefix

    def __init__(self, value: SupportsIndex | str | Self) -> None:
        prefix = getattr(self, "prefix", None)
        if prefix is None:
            raise TypeError('PrefixedId is the base of your types: class UserId(PrefixedId, prefix="user"): ...')
        if isinstance(value, _Prefixed):
            if type(value) is not type(self):
                raise TypeError(f"{type(self).__name__} takes no {type(value).__name__}")
            value = value._value
        if not isinstance(value, str | SupportsIndex):
            raise TypeError(f"{type(self).__name__} takes an int or a str, not {type(value).__name__}")
        text = value if isinstance(value, str) else prefix_encode(prefix, value)
        self._become(prefix, prefix_decode_id(prefix, text))

    @property
    def value(self) -> int:
        """The number, 0 to 2^64-1."""
        return self._value

    def __int__(self) -> int:
        return self._value


class TypeID(_Prefixed[UUID]):
    """A TypeID: a prefix and a UUID, as version 0.3 of its specification says.

    >>> from snowmint import TypeID
    >>> id = TypeID("user_01h455vb4pex5vsknk084sn02q")
    >>> id.prefix, id.uuid
    ('user', UUID('01890a5d-ac96-774b-bcce-b302099a8057'))

    A subclass has one prefix. Without a value it mints, with a UUID of version 7:

    >>> class OrderId(TypeID, prefix="order"): ...
    >>> OrderId() < OrderId()
    True
    >>> OrderId("user_01h455vb4pex5vsknk084sn02q")
    Traceback (most recent call last):
    snowmint.InvalidTextError: the prefix of the ID is "user", and "order" is needed: pass an ID of that kind

    pydantic takes `TypeID` and its subclasses as the type of a field: a text in JSON.
    `snowmint.sqlalchemy.PrefixedIdType(OrderId)` and `snowmint.django.PrefixedIdField(OrderId)` are columns of UUIDs.

    Args:
        value: A text, or a TypeID. A subclass also takes a UUID, and mints without a value.

    Raises:
        InvalidTextError: The text has another prefix, another length, or a character that has no meaning. In
            `class OrderId(TypeID, prefix=...)`: the prefix is not valid.
        TypeError: The value is of another type.
    """

    __slots__ = ()
    _class_prefix: ClassVar[str | None] = None

    def __init_subclass__(cls, *, prefix: str | None = None, **options: Any) -> None:
        super().__init_subclass__(**options)
        if prefix is not None:
            prefix_encode(prefix, 0)
            cls._class_prefix = prefix

    def __init__(self, value: UUID | str | Self | None = None) -> None:
        prefix = self._class_prefix
        if isinstance(value, TypeID) and type(value) is type(self):
            self._become(*value._key())
        elif isinstance(value, str):
            if prefix is None:
                self._become(*type_id_parts(value))
            else:
                self._become(prefix, prefix_decode_uuid(prefix, value))
        elif prefix is not None and (value is None or isinstance(value, UUID)):
            self._become(prefix, uuid7() if value is None else value)
        else:
            needed = "a str" if prefix is None else "a str or a UUID"
            raise TypeError(f"{type(self).__name__} takes {needed}, not {type(value).__name__}")

    @classmethod
    def of(cls, prefix: str, uuid: UUID | None = None) -> "TypeID":
        """The TypeID of a prefix and a UUID; without a UUID a new one, of version 7.

        >>> from uuid import UUID
        >>> from snowmint import TypeID
        >>> TypeID.of("user", UUID("01890a5d-ac96-774b-bcce-b302099a8057"))
        TypeID('user_01h455vb4pex5vsknk084sn02q')

        Raises:
            InvalidTextError: The prefix is not valid, or is not the prefix of the class.
        """
        return cls(prefix_encode(prefix, uuid7() if uuid is None else uuid))

    @property
    def prefix(self) -> str:
        """The prefix."""
        return self._prefix

    @property
    def uuid(self) -> UUID:
        """The UUID."""
        return self._value

    @property
    def value(self) -> UUID:
        """The UUID, by the same name as of `PrefixedId`."""
        return self._value
