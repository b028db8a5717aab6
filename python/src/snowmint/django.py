"""A model field for Django: `pip install snowmint[django]`.

    from snowmint.django import SnowflakeField

    class Post(models.Model):
        id = SnowflakeField(primary_key=True)

The IDs are minted in Python when an object is made, so it has its ID before it is saved: `obj._state.adding` is true
for a new object. One generator a process serves all models. It is made when the first ID is asked for, so commands like
`migrate` take no lease. The settings hold the options of its `snowmint.Snowflake`; without options it leases a slot of
this machine.

    SNOWMINT = {"layout": "twitter", "namespace": "blog"}

Other IDs have fields too: `PrefixedIdField(UserId)` of a subclass of `PrefixedId` or `TypeID`, `ULIDField`,
`ObjectIdField` and `UUID7Field`. As primary keys they mint by themselves as well.

`manage.py check` reports settings that `Snowflake` refuses (`snowmint.E001`). A layout that is not valid is refused as
soon as a model with such a key is imported.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from snowmint import ULID, InvalidIdError, ObjectId, PrefixedId, Snowflake, SnowmintError, TypeID, _ids, uuid7
from snowmint._lazy import LazySnowflake
from snowmint._snowmint import find_layout

try:
    from django import forms
    from django.conf import settings
    from django.core import checks
    from django.core.exceptions import ImproperlyConfigured, ValidationError
    from django.core.signals import setting_changed
    from django.core.validators import MaxValueValidator, MinValueValidator
    from django.db import models
except ImportError as error:
    raise ImportError("snowmint.django needs Django: pip install 'snowmint[django]'") from error

__all__ = ["ObjectIdField", "PrefixedIdField", "SnowflakeField", "ULIDField", "UUID7Field", "generator", "next_id"]


class SnowflakeField(models.BigIntegerField):  # type: ignore[misc]  # Django has no type hints.
    """An ID in a `bigint` column, 0 to 2^63-1; an `int` in Python.

    As a primary key it mints by itself, and stands in no form; `default=` with a function of your own takes another
    generator. Elsewhere it holds IDs that come from somewhere else, unless it is given `default=next_id` (added to a
    table with rows, Django gives all of them one default).

    It takes an `int` or a text of decimal digits. A form or `full_clean` meets anything else with `ValidationError`,
    a lookup or `save` with `ValueError` or `TypeError`, and `save` a number out of range with `InvalidIdError`, which
    is a `ValueError`; a lookup out of range finds nothing.
    """

    description = "Snowflake ID"
    default_validators = [MinValueValidator(0), MaxValueValidator(_ids.MAX_BIGINT)]

    def __init__(self, verbose_name: Any = None, name: str | None = None, **options: Any) -> None:
        if options.get("primary_key"):
            options.setdefault("editable", False)
            if "db_default" not in options:
                options.setdefault("default", next_id)
            if options.get("default") is next_id:
                _check_layout()
        super().__init__(verbose_name, name, **options)

    def deconstruct(self) -> tuple[str, str, list[Any], dict[str, Any]]:
        """The arguments in a migration: nothing of a generator, and a default only if the user gave it."""
        name, path, args, options = super().deconstruct()
        if self.primary_key:
            if self.default is next_id:
                del options["default"]
            # Django leaves out True, its default; the default of this field is False.
            if options.setdefault("editable", True) is False:
                del options["editable"]
        return name, path, args, options

    def to_python(self, value: Any) -> int | None:
        """Reads an `int` or a text of decimal digits, of any size; anything else is a `ValidationError`."""
        if value is None:
            return None
        number = _ids.number(value)
        if number is None:
            raise ValidationError(self.error_messages["invalid"], code="invalid", params={"value": value})
        return number

    def get_prep_value(self, value: Any) -> int | None:
        """The value of a lookup."""
        try:
            # Past IntegerField, which would take a float or a bool for a number.
            return self.to_python(models.Field.get_prep_value(self, value))
        except ValidationError:
            kind = ValueError if isinstance(value, str) else TypeError
            raise kind(f"Field '{self.name}' expected an ID, an int or decimal digits, but got {value!r}.") from None

    def get_db_prep_save(self, value: Any, connection: Any) -> Any:
        """The stored value: no number out of range."""
        value = super().get_db_prep_save(value, connection)
        return _ids.for_bigint(value) if isinstance(value, int) else value

    def formfield(self, **options: Any) -> Any:
        """A number field without a sign."""
        return super().formfield(**{"min_value": 0, **options})


class _ObjectField(models.Field):  # type: ignore[misc]
    """A field whose values are objects of a class of IDs. A derived class says how they are read, stored and minted."""

    default_error_messages = {"invalid": "%(message)s"}

    def __init__(self, verbose_name: Any = None, name: str | None = None, **options: Any) -> None:
        self._mints_itself = bool(options.get("primary_key")) and not {"default", "db_default"} & options.keys()
        if options.get("primary_key"):
            options.setdefault("editable", False)
        if self._mints_itself:
            options["default"] = self.mint
        super().__init__(verbose_name, name, **options)

    def mint(self) -> Any:
        """A new ID."""
        raise NotImplementedError

    def read(self, value: Any) -> Any:
        """The object of a value: of an object, a text, or a value of a column."""
        raise NotImplementedError

    def stored(self, value: Any) -> Any:
        """The value of a column for an object."""
        raise NotImplementedError

    def deconstruct(self) -> tuple[str, str, list[Any], dict[str, Any]]:
        """The arguments in a migration: a default is among them only if the user gave it."""
        name, path, args, options = super().deconstruct()
        if self._mints_itself:
            options.pop("default", None)
        if self.primary_key:
            # Django leaves out True, its default; the default of this field is False.
            if options.setdefault("editable", True) is False:
                del options["editable"]
        return name, path, args, options

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        """The object of a column's value."""
        return None if value is None else self.read(value)

    def to_python(self, value: Any) -> Any:
        """Reads an object or its text; anything else is a `ValidationError`."""
        if value is None:
            return None
        try:
            return self.read(value)
        except (SnowmintError, TypeError, ValueError) as error:
            raise ValidationError(
                self.error_messages["invalid"], code="invalid", params={"message": str(error)}
            ) from error

    def get_prep_value(self, value: Any) -> Any:
        """The value of a lookup or a save, as a column holds it. It raises what the class of the ID raises."""
        value = super().get_prep_value(value)
        return None if value is None else self.stored(self.read(value))

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        """The same for this database, which may have no UUIDs."""
        value = value if prepared else self.get_prep_value(value)
        if isinstance(value, UUID) and not connection.features.has_native_uuid_field:
            return value.hex
        return value

    def value_to_string(self, obj: Any) -> str:
        """The text in fixtures."""
        value = self.value_from_object(obj)
        return "" if value is None else str(value)

    def formfield(self, **options: Any) -> Any:
        """A field of text."""
        return super().formfield(**{"form_class": forms.CharField, **options})


class PrefixedIdField(_ObjectField):
    """An ID with a prefix: in Python an object of its class, in the database the bare value, a `bigint` or a UUID.

        class UserId(PrefixedId, prefix="user"): ...

        class User(models.Model):
            id = PrefixedIdField(UserId, primary_key=True)

    As a primary key it mints by itself: a `PrefixedId` by the process's generator, a `TypeID` by `uuid7`. It takes an
    object of the class, or what the class reads; another prefix is an `InvalidTextError`, which is a `ValueError`.
    """

    description = "ID with a prefix"

    def __init__(
        self,
        kind: type[PrefixedId] | type[TypeID],
        verbose_name: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> None:
        self.kind: Any = kind
        super().__init__(verbose_name, name, **options)

    def get_internal_type(self) -> str:
        """The field of Django with the same column."""
        return "UUIDField" if issubclass(self.kind, TypeID) else "BigIntegerField"

    def deconstruct(self) -> tuple[str, str, list[Any], dict[str, Any]]:
        """With the class of the IDs."""
        name, path, args, options = super().deconstruct()
        return name, path, [self.kind, *args], options

    def mint(self) -> Any:
        """A new ID."""
        return self.kind() if issubclass(self.kind, TypeID) else self.kind(next_id())

    def read(self, value: Any) -> Any:
        """An object of the class."""
        return self.kind(value)

    def stored(self, value: Any) -> Any:
        """A number or a UUID."""
        bare = value.value
        return bare if isinstance(bare, UUID) else _ids.for_bigint(bare)


class _TextField(_ObjectField):
    """A field whose column holds a text of fixed length."""

    length: int
    kind: Any

    def __init__(self, verbose_name: Any = None, name: str | None = None, **options: Any) -> None:
        options["max_length"] = self.length
        super().__init__(verbose_name, name, **options)

    def get_internal_type(self) -> str:
        """The field of Django with the same column."""
        return "CharField"

    def deconstruct(self) -> tuple[str, str, list[Any], dict[str, Any]]:
        """Without the length, which never changes."""
        name, path, args, options = super().deconstruct()
        del options["max_length"]
        return name, path, args, options

    def mint(self) -> Any:
        """A new ID."""
        return self.kind()

    def read(self, value: Any) -> Any:
        """An object of an object, its text, or its bytes."""
        return value if isinstance(value, self.kind) else self.kind(value)

    def stored(self, value: Any) -> str:
        """The text."""
        return str(value)

    def formfield(self, **options: Any) -> Any:
        """A field of text."""
        return super().formfield(**{"max_length": self.length, **options})


class ULIDField(_TextField):
    """A ULID in a column of its 26 characters, which sort as ULIDs do; a `snowmint.ULID` in Python."""

    # No column of UUIDs: MariaDB's type refuses 128 bits that are no UUID.
    description = "ULID"
    length = 26
    kind = ULID


class ObjectIdField(_TextField):
    """An `ObjectId` in a column of its 24 hexadecimal digits; a `snowmint.ObjectId` in Python."""

    description = "ObjectId"
    length = 24
    kind = ObjectId


class UUID7Field(_ObjectField):
    """A UUID of version 7; a `UUID` in Python. Another version is an `InvalidIdError`, which is a `ValueError`."""

    description = "UUID of version 7"

    def get_internal_type(self) -> str:
        """The field of Django with the same column."""
        return "UUIDField"

    def mint(self) -> UUID:
        """A new UUID."""
        return uuid7()

    def read(self, value: Any) -> UUID:
        """A UUID of a UUID or its text."""
        uuid = value if isinstance(value, UUID) else UUID(value)
        if uuid.version != 7:
            raise InvalidIdError(f"{uuid} is no UUID of version 7: mint it by snowmint.uuid7, or use UUIDField")
        return uuid

    def stored(self, value: Any) -> UUID:
        """The UUID."""
        uuid: UUID = value
        return uuid


def generator() -> Snowflake:
    """The process's generator, as the setting `SNOWMINT` describes it.

    Raises:
        ImproperlyConfigured: `SNOWMINT` is not a dict, or has an option that `Snowflake` does not have.
        SnowmintError: As `Snowflake`.
    """
    return _minter().generator


def next_id() -> int:
    """The next ID of the process's generator; raises what `generator` and `Snowflake.next_id` raise."""
    return _minter()()


_made: LazySnowflake | None = None


def _minter() -> LazySnowflake:
    global _made
    made = _made
    if made is None:
        options = getattr(settings, "SNOWMINT", {})
        if not isinstance(options, Mapping):
            raise ImproperlyConfigured(f"SNOWMINT is a dict of options of snowmint.Snowflake, not {options!r}")
        try:
            made = _made = LazySnowflake(**options)
        except (TypeError, SnowmintError) as error:
            raise ImproperlyConfigured(f"SNOWMINT is a dict of options of snowmint.Snowflake: {error}") from error
    return made


def _check_layout() -> None:
    """Refuses the layout of the settings at the import of a model, and not with the first row."""
    options = getattr(settings, "SNOWMINT", {}) if settings.configured else {}
    try:
        find_layout(options.get("layout") if isinstance(options, Mapping) else None)
    except (TypeError, SnowmintError) as error:
        raise ImproperlyConfigured(f"the layout of SNOWMINT is not valid: {error}") from error


def check_settings(**_: Any) -> list[checks.CheckMessage]:
    """Reports settings that `Snowflake` refuses, for `manage.py check`. It takes no lease."""
    try:
        _minter()
    except ImproperlyConfigured as error:
        hint = 'Write what Snowflake takes, by name: SNOWMINT = {"layout": "twitter", "namespace": "blog"}.'
        return [checks.Error(str(error), hint=hint, id="snowmint.E001")]
    return []


checks.register(check_settings, "snowmint")


def _forget(*, setting: str, **_: Any) -> None:
    """Heeds `override_settings` of tests."""
    global _made
    if setting == "SNOWMINT":
        _made = None


setting_changed.connect(_forget)
