"""IDs with a prefix as classes, in pydantic and SQLAlchemy; and masks beyond the vectors."""

import copy
import json
import os
import pickle
import random
from typing import Any
from uuid import UUID, uuid4

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError
from sqlalchemy import create_engine, inspect, select
from sqlalchemy.exc import StatementError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

import snowmint
from snowmint import (
    KSUID,
    ULID,
    XID,
    InvalidIdError,
    InvalidTextError,
    Mask,
    ObjectId,
    PrefixedId,
    TypeID,
    UuidMask,
    prefix,
    uuid7,
)
from snowmint.pydantic import UUID7
from snowmint.sqlalchemy import ObjectIdType, PrefixedIdType, ULIDType, UUID7Type

KEY = "000102030405060708090a0b0c0d0e0f"
# How many random IDs to mask: a million in `make prove`.
TRIES = int(os.environ.get("SNOWMINT_TRIES", "2000"))


class UserId(PrefixedId, prefix="user"):
    """A 64-bit ID."""


class OrderId(TypeID, prefix="order"):
    """A TypeID."""


def test_an_id_is_its_class_its_value_and_its_text() -> None:
    id = UserId(1541815603606036480)
    assert (str(id), repr(id), id.value, int(id)) == (
        "user_1asd13xh1f800",
        "UserId('user_1asd13xh1f800')",
        1541815603606036480,
        1541815603606036480,
    )
    assert UserId(str(id)) == UserId(id) == id
    assert len({id, UserId(str(id)), UserId(5)}) == 2
    assert UserId(5) < UserId(6) <= UserId(6)
    assert UserId(-1).value == 2**64 - 1
    assert pickle.loads(pickle.dumps(id)) == copy.deepcopy(id) == id
    assert OrderId().uuid.version == 7
    assert OrderId() < OrderId()
    assert TypeID(str(OrderId())).prefix == "order"
    assert TypeID.of("order", UUID(int=5)) == TypeID("order_00000000000000000000000005")
    assert pickle.loads(pickle.dumps(TypeID("user_01h455vb4pex5vsknk084sn02q"))).prefix == "user"


def test_ids_of_two_classes_are_never_the_same() -> None:
    class AdminId(PrefixedId, prefix="user"): ...

    other: object = AdminId(5)
    assert other != UserId(5)
    with pytest.raises(TypeError):
        _ = UserId(5) < other  # type: ignore[operator]
    with pytest.raises(TypeError, match="UserId takes no AdminId"):
        UserId(other)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="OrderId takes a str or a UUID, not UserId"):
        OrderId(UserId(5))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["value", "_value", "other"])
def test_an_id_is_immutable(name: str) -> None:
    with pytest.raises(AttributeError, match="UserId is immutable"):
        setattr(UserId(5), name, 6)


def test_another_prefix_is_refused_with_both_names() -> None:
    with pytest.raises(InvalidTextError, match='the prefix of the ID is "order", and "user" is needed'):
        UserId("order_1asd13xh1f800")
    with pytest.raises(InvalidTextError, match="13 characters are needed after the prefix, not 26"):
        UserId("user_01h455vb4pex5vsknk084sn02q")
    with pytest.raises(InvalidTextError, match='is "user", and "order" is needed'):
        OrderId("user_01h455vb4pex5vsknk084sn02q")
    with pytest.raises(InvalidTextError, match="character 13 after the prefix"):
        prefix.decode("user", "user_000000000000l")


@pytest.mark.parametrize("bad", ["User", "user_", "a" * 64, "us er"])
def test_a_class_with_a_bad_prefix_is_not_made(bad: str) -> None:
    for base in (PrefixedId, TypeID):
        with pytest.raises(InvalidTextError, match="a prefix has at most 63 characters"):
            type("Bad", (base,), {}, prefix=bad)


@pytest.mark.parametrize("value", [None, 1.5, b"user_1asd13xh1f800", True, [1]])
def test_what_is_no_id_is_a_type_error(value: Any) -> None:
    with pytest.raises(TypeError):
        UserId(value)
    if value is not None:
        with pytest.raises(TypeError):
            OrderId(value)


def test_the_bases_have_no_prefix() -> None:
    with pytest.raises(TypeError, match="class UserId"):
        PrefixedId(5)
    with pytest.raises(TypeError, match="TypeID takes a str"):
        TypeID(uuid7())
    with pytest.raises(InvalidIdError):
        UserId(2**64)


class Model(BaseModel):
    user: UserId
    order: OrderId
    any: TypeID
    ulid: ULID
    mongo: ObjectId
    ksuid: KSUID
    xid: XID
    trace: UUID7


TEXTS = {
    "user": "user_1asd13xh1f800",
    "order": "order_01h455vb4pex5vsknk084sn02q",
    "any": "any_thing_01h455vb4pex5vsknk084sn02q",
    "ulid": "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "mongo": "507f1f77bcf86cd799439011",
    "ksuid": "0ujtsYcgvSTl8PAuAdqWYSMnLOv",
    "xid": "9m4e2mr0ui3e8a215n4g",
    "trace": "017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
}


def test_ids_are_objects_in_python_and_texts_in_json() -> None:
    model = Model.model_validate(TEXTS)
    assert (type(model.user), type(model.order), type(model.ulid)) == (UserId, OrderId, ULID)
    assert json.loads(model.model_dump_json()) == model.model_dump(mode="json") == TEXTS
    assert Model.model_validate_json(model.model_dump_json()) == model
    assert Model(**dict(model)) == model
    assert model.model_dump()["user"] == UserId("user_1asd13xh1f800")


def test_the_json_schema_asks_for_strings() -> None:
    for mode in ("validation", "serialization"):
        schema = Model.model_json_schema(mode=mode)
        assert {field["type"] for field in schema["properties"].values()} == {"string"}


@pytest.mark.parametrize("field", TEXTS)
def test_what_is_no_id_is_a_validation_error(field: str) -> None:
    # None too, although some of the classes mint without a value.
    for bad in ("order_1asd13xh1f800", "", None, 1.5, str(uuid4())):
        with pytest.raises(ValidationError) as caught:
            Model.model_validate({**TEXTS, field: bad})
        assert [error["loc"] for error in caught.value.errors()] == [(field,)]
    if field == "user":
        with pytest.raises(ValidationError, match='the prefix of the ID is "order", and "user" is needed'):
            TypeAdapter(UserId).validate_json('"order_1asd13xh1f800"')


class Base(DeclarativeBase):
    """The tables."""


class Row(Base):
    """One with every type."""

    __tablename__ = "rows"
    id: Mapped[OrderId] = mapped_column(PrefixedIdType(OrderId), primary_key=True, default=OrderId)
    user: Mapped[UserId | None] = mapped_column(PrefixedIdType(UserId))
    ulid: Mapped[ULID | None] = mapped_column(ULIDType, default=snowmint.ulid)
    mongo: Mapped[ObjectId | None] = mapped_column(ObjectIdType, default=snowmint.object_id)
    trace: Mapped[UUID | None] = mapped_column(UUID7Type, default=snowmint.uuid7)


class User(Base):
    """A key of 64 bits."""

    __tablename__ = "users"
    id: Mapped[UserId] = mapped_column(PrefixedIdType(UserId), primary_key=True)


def test_columns_hold_bare_values_and_give_objects() -> None:
    engine = create_engine("sqlite://")
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        rows = [Row(user=UserId(5)), Row(user=None)]
        session.add_all([*rows, User(id=UserId(2**63 - 1)), User(id=UserId(7))])
        session.commit()
        first, second = session.scalars(select(Row).order_by(Row.id))
        assert first.user == UserId(5)
        assert second.user is None
        assert first.ulid is not None
        assert second.ulid is not None
        assert first.ulid < second.ulid
        assert isinstance(first.mongo, ObjectId)
        assert first.trace is not None
        assert first.trace.version == 7
        assert session.scalars(select(Row).where(Row.user == "user_0000000000005")).one() is first
        assert session.scalars(select(Row).where(Row.id.in_([second.id, str(first.id)]))).all() == [first, second]
        assert session.scalars(select(Row).where(Row.ulid == str(first.ulid))).one() is first
        assert session.scalars(select(User.id).order_by(User.id)).all() == [UserId(7), UserId(2**63 - 1)]
        stored = session.connection().exec_driver_sql("SELECT id, user FROM rows ORDER BY id").first()
        assert stored == (first.id.uuid.hex, 5)


def test_alembic_writes_the_column_alone() -> None:
    assert repr(PrefixedIdType(UserId)) == "SnowflakeID()"
    assert repr(PrefixedIdType(OrderId)) == "Uuid()"
    assert eval("snowmint.sqlalchemy.Uuid()", {"snowmint": __import__("snowmint.sqlalchemy")})
    engine = create_engine("sqlite://")
    Base.metadata.create_all(engine)
    columns = {column["name"]: str(column["type"]) for column in inspect(engine).get_columns("rows")}
    assert columns == {
        "id": "CHAR(32)",
        "user": "INTEGER",
        "ulid": "CHAR(26)",
        "mongo": "CHAR(24)",
        "trace": "CHAR(32)",
    }


@pytest.mark.parametrize(
    ("column", "value", "kind"),
    [
        (Row.user, "order_1asd13xh1f800", InvalidTextError),
        (Row.user, UserId(2**63), InvalidIdError),
        (Row.user, OrderId("order_01m8832rt9e82bbxap0pb9z25w"), TypeError),
        (Row.id, UserId(5), TypeError),
        (Row.ulid, "no ULID", InvalidTextError),
        (Row.mongo, b"11 bytes...", InvalidIdError),
        (Row.trace, UUID("36a9bf12-202d-4b28-acb5-36f9aed95514"), InvalidIdError),
    ],
    ids=str,
)
def test_what_a_column_does_not_take_is_refused_before_it_is_sent(
    column: Any, value: Any, kind: type[Exception]
) -> None:
    engine = create_engine("sqlite://")
    Base.metadata.create_all(engine)
    with Session(engine) as session, pytest.raises(StatementError) as caught:
        session.scalars(select(Row).where(column == value)).all()
    assert isinstance(caught.value.orig, kind)


def test_random_ids_and_those_at_borders_come_back_from_their_masks() -> None:
    mask, digits, uuids = Mask(KEY), Mask(KEY, digits=18), UuidMask(KEY)
    borders = [n for bit in range(63) for n in (2**bit - 1, 2**bit, 2**63 - 1 - 2**bit)]
    for id in (*borders, *(random.getrandbits(63) for _ in range(TRIES))):
        masked = mask.encode(id)
        assert 0 <= masked < 2**63
        assert mask.decode(masked) == id
        assert digits.decode(digits.encode(id % 10**18)) == id % 10**18
        uuid = uuid7(id >> 16)
        assert uuids.decode(uuids.encode(uuid)) == uuid


def test_a_mask_shows_no_key_and_refuses_bad_ones() -> None:
    assert repr(Mask(KEY)) == "Mask(...)"
    for bad in (b"15 bytes long..", bytes(17), "00" * 15, "g" * 32, ""):
        for kind in (Mask, UuidMask):
            with pytest.raises(InvalidTextError, match="^a mask key has") as caught:
                kind(bad)
            assert not bad or str(bad) not in str(caught.value)
    with pytest.raises(TypeError, match="a mask key is bytes or a str, not int"):
        Mask(5)  # type: ignore[arg-type]
    with pytest.raises(InvalidTextError, match="a tweak has at most 64 bytes, not 66"):
        Mask(KEY, tweak="\u00e9" * 33)
    assert Mask(KEY, tweak="a").encode(5) == Mask(bytes.fromhex(KEY), tweak=b"a").encode(5) != Mask(KEY).encode(5)


def test_ids_of_an_instant_are_of_its_time() -> None:
    ms = 1645557742000
    lowest, highest = snowmint.uuid7_range(ms, ms)
    minted = {uuid7(ms) for _ in range(1000)}
    assert len(minted) == 1000
    assert all(lowest < uuid < highest for uuid in minted)
    assert uuid7().version == 7
    assert len({snowmint.ksuid() for _ in range(1000)} | {snowmint.xid() for _ in range(1000)}) == 2000
