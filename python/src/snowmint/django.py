"""A model field for Django: `pip install snowmint[django]`.

    from snowmint.django import SnowflakeField

    class Post(models.Model):
        id = SnowflakeField(primary_key=True)

The IDs are minted in Python when an object is made, so it has its ID before it is saved: `obj._state.adding` is true
for a new object. One generator a process serves all models. It is made when the first ID is asked for, so commands like
`migrate` take no lease. The settings hold the options of its `snowmint.Snowflake`; without options it leases a slot of
this machine.

    SNOWMINT = {"layout": "twitter", "namespace": "blog"}

`manage.py check` reports settings that `Snowflake` refuses (`snowmint.E001`). A layout that is not valid is refused as
soon as a model with such a key is imported.
"""

from collections.abc import Mapping
from typing import Any

from snowmint import Snowflake, SnowmintError, _ids
from snowmint._lazy import LazySnowflake
from snowmint._snowmint import find_layout

try:
    from django.conf import settings
    from django.core import checks
    from django.core.exceptions import ImproperlyConfigured, ValidationError
    from django.core.signals import setting_changed
    from django.core.validators import MaxValueValidator, MinValueValidator
    from django.db import models
except ImportError as error:
    raise ImportError("snowmint.django needs Django: pip install snowmint[django]") from error

__all__ = ["SnowflakeField", "generator", "next_id"]


class SnowflakeField(models.BigIntegerField):  # type: ignore[misc]  # Django has no types of its own.
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
        """The arguments in a migration: nothing of a generator, and no default but one of the user's own."""
        name, path, args, options = super().deconstruct()
        if self.primary_key:
            if self.default is next_id:
                del options["default"]
            # Django leaves out True, which here is not what goes without saying.
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
