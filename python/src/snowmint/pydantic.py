"""An ID as a type of pydantic 2, and so of FastAPI: `pip install snowmint[pydantic]`.

>>> from pydantic import BaseModel
>>> from snowmint.pydantic import SnowflakeID
>>> class Post(BaseModel):
...     id: SnowflakeID
>>> post = Post.model_validate_json('{"id": "1541815603606036480"}')
>>> post.id, post.model_dump_json()
(1541815603606036480, '{"id":"1541815603606036480"}')

An ID is an `int` in Python, also in `model_dump()`, and a string in JSON, because JavaScript misreads numbers above
2^53. It is validated from an `int` or a text of 1 to 20 decimal digits, 0 to 2^64-1; signs, blanks, underscores, floats
and bools are refused. Strict mode takes no text in Python, and both forms in JSON. The JSON schema asks for the string.

`ULID`, `ObjectId`, `KSUID`, `XID`, `TypeID`, and subclasses of `PrefixedId` and `TypeID` are types of fields as they
are: objects in Python, texts in JSON; strict mode takes objects alone in Python. `UUID7` is a UUID of version 7.

Where every reader of the JSON takes 64-bit numbers, a serializer behind it writes a number:
`Annotated[SnowflakeID, PlainSerializer(lambda id: id, return_type=int)]`.
"""

from typing import Annotated, Any, TypeAlias
from uuid import UUID

from snowmint import SnowmintError, _ids

try:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic.types import UuidVersion
    from pydantic_core import CoreSchema, PydanticCustomError, core_schema
except ImportError as error:
    raise ImportError("snowmint.pydantic needs pydantic 2: pip install 'snowmint[pydantic]'") from error

__all__ = ["SnowflakeID", "UUID7"]

UUID7: TypeAlias = Annotated[UUID, UuidVersion(7)]
"""A UUID of version 7: a `UUID` in Python, a string in JSON."""


def text_schema(cls: type[Any]) -> CoreSchema:
    """The schema of a class whose objects are texts in JSON. It takes an object, or a value that the class reads."""

    def read(value: Any) -> Any:
        if isinstance(value, cls):
            return value
        try:
            if value is None:
                # Without a value some of the classes mint.
                raise TypeError(f"{cls.__name__} is needed, not None")
            return cls(value)
        except (SnowmintError, TypeError) as error:
            raise PydanticCustomError("snowmint_id", "{message}", {"message": str(error)}) from error

    text = core_schema.str_schema(metadata={"pydantic_js_updates": {"title": cls.__name__}})
    return core_schema.json_or_python_schema(
        json_schema=core_schema.no_info_after_validator_function(read, text),
        python_schema=core_schema.lax_or_strict_schema(
            lax_schema=core_schema.no_info_plain_validator_function(read),
            strict_schema=core_schema.is_instance_schema(cls),
        ),
        serialization=core_schema.to_string_ser_schema(when_used="json"),
    )


class _Rule:
    """Reads an ID, and writes it as a string into JSON."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        lax = core_schema.no_info_plain_validator_function(_read)
        strict = core_schema.no_info_plain_validator_function(_read_int)
        return core_schema.json_or_python_schema(
            json_schema=lax,
            python_schema=core_schema.lax_or_strict_schema(lax_schema=lax, strict_schema=strict),
            serialization=core_schema.to_string_ser_schema(when_used="json"),
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        if handler.mode == "serialization":
            written = handler(schema)
            # A serializer that the user put behind this one writes something else.
            if written.get("type") != "string":
                return written
        return {"type": "string", "pattern": "^[0-9]{1,20}$", "examples": ["1541815603606036480"]}


def _read(value: Any) -> int:
    number = _ids.read(value)
    if number is None:
        raise PydanticCustomError("snowflake_id", "An ID is an integer from 0 to 2^64-1, or a string of its digits")
    return number


def _read_int(value: Any) -> int:
    if isinstance(value, str):
        raise PydanticCustomError("snowflake_id", "An ID is an integer from 0 to 2^64-1, and no string in strict mode")
    return _read(value)


SnowflakeID: TypeAlias = Annotated[int, _Rule()]
"""An ID: an `int` in Python, a string in JSON."""
