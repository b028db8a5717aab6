"""The type for pydantic."""

import json
from enum import IntEnum
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, TypeAdapter, ValidationError, validate_call

from snowmint import ULID, PrefixedId, Snowflake, text
from snowmint.pydantic import SnowflakeID

ids: TypeAdapter[int] = TypeAdapter(SnowflakeID)
generator = Snowflake(node=5)

# Each as Python, as a string, and so in JSON: the bounds of 53, 63 and 64 bits.
EDGES = [0, 1, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1]
NO_IDS: list[Any] = [
    *(-1, 2**64, 2**2000, True, False, 1.0, float("nan"), None, b"1", [1]),
    *("", "-1", "+1", " 1", "1 ", "1\n", "1_0", "1.0", "1e3", "0x1", "٥", "１", "²", "\ud800", "18446744073709551616"),
    *("0" * 20 + "1", "9" * 5000),
]


class UserId(PrefixedId, prefix="user"): ...


class Post(BaseModel):
    id: SnowflakeID
    reply_to: SnowflakeID | None = None
    tags: list[SnowflakeID] = []
    likes: dict[SnowflakeID, int] = {}


@pytest.mark.parametrize("id", EDGES)
def test_an_id_is_an_int_in_python_and_a_string_in_json(id: int) -> None:
    for given in (id, str(id), text.encode(id, "decimal")):
        assert ids.validate_python(given) == id
        assert type(ids.validate_python(given)) is int
        assert ids.validate_json(json.dumps(given)) == id
    assert ids.dump_python(id) == id
    assert ids.dump_python(id, mode="json") == str(id)
    assert ids.dump_json(id) == f'"{id}"'.encode()


@pytest.mark.parametrize("given", NO_IDS, ids=lambda given: repr(given)[:20])
def test_what_is_no_id_is_a_validation_error_with_a_sentence(given: Any) -> None:
    with pytest.raises(ValidationError) as caught:
        ids.validate_python(given)
    (error,) = caught.value.errors()
    assert error["type"] == "snowflake_id"
    assert error["msg"] == "An ID is an integer from 0 to 2^64-1, or a string of its digits"


@pytest.mark.parametrize("given", ["-1", "18446744073709551616", "1.0", "1e3", "true", "null", '"1_0"', "[1]"])
def test_what_is_no_id_in_json_is_a_validation_error(given: str) -> None:
    with pytest.raises(ValidationError, match="An ID is an integer from 0 to 2\\^64-1"):
        ids.validate_json(given)


def test_a_subclass_of_int_becomes_an_int() -> None:
    class Known(IntEnum):
        FIRST = 7

    assert type(ids.validate_python(Known.FIRST)) is int


def test_strict_models_take_a_text_in_json_alone() -> None:
    class Strict(BaseModel):
        model_config = ConfigDict(strict=True)
        id: SnowflakeID
        ulid: ULID
        user: UserId

    ulid, user = ULID("01ARZ3NDEKTSV4RRFFQ69G5FAV"), UserId(7)
    kept = Strict(id=7, ulid=ulid, user=user)
    assert Strict.model_validate_json(kept.model_dump_json()) == kept
    assert Strict.model_validate_json(f'{{"id": 7, "ulid": "{ulid}", "user": "{user}"}}') == kept
    for name, given in [("id", "7"), ("ulid", str(ulid)), ("user", str(user))]:
        with pytest.raises(ValidationError) as caught:
            Strict.model_validate({**dict(kept), name: given})
        assert [error["loc"] for error in caught.value.errors()] == [(name,)]
    # A call may be stricter than its model.
    with pytest.raises(ValidationError, match="no string in strict mode"):
        ids.validate_python("7", strict=True)


def test_ids_stand_in_options_lists_and_keys() -> None:
    post = Post.model_validate_json('{"id": "1", "reply_to": 2, "tags": ["3"], "likes": {"4": 5}}')
    assert post.model_dump() == {"id": 1, "reply_to": 2, "tags": [3], "likes": {4: 5}}
    assert post.model_dump_json() == '{"id":"1","reply_to":"2","tags":["3"],"likes":{"4":5}}'
    assert Post.model_validate_json(post.model_dump_json()) == post
    assert json.loads(Post(id=1).model_dump_json())["reply_to"] is None


@pytest.mark.parametrize("mode", ["validation", "serialization"])
def test_the_json_schema_is_a_string_of_digits(mode: Any) -> None:
    schema = ids.json_schema(mode=mode)
    assert (schema["type"], schema["pattern"]) == ("string", "^[0-9]{1,20}$")
    properties = Post.model_json_schema(mode=mode)["properties"]
    assert properties["id"]["pattern"] == properties["tags"]["items"]["pattern"] == "^[0-9]{1,20}$"
    assert {each["type"] for each in properties["reply_to"]["anyOf"]} == {"string", "null"}


def test_a_serializer_behind_it_writes_a_number() -> None:
    class Internal(BaseModel):
        id: Annotated[SnowflakeID, PlainSerializer(lambda id: id, return_type=int)]

    assert Internal(id=2**64 - 1).model_dump_json() == '{"id":18446744073709551615}'
    assert Internal.model_json_schema(mode="serialization")["properties"]["id"]["type"] == "integer"
    assert Internal.model_json_schema(mode="validation")["properties"]["id"]["type"] == "string"


def test_a_generator_is_a_default_factory() -> None:
    class Event(BaseModel):
        id: SnowflakeID = Field(default_factory=generator.next_id)

    assert Event().id < Event().id


def test_arguments_of_a_function_are_read() -> None:
    @validate_call
    def double(id: SnowflakeID) -> int:
        return id * 2

    assert double("21") == 42  # type: ignore[arg-type]
