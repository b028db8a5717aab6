"""UUIDs: the standard library's, minted here."""

import copy
import pickle
import uuid
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

import processes
import snowmint
from snowmint import InvalidIdError, InvalidTextError, inspect

MINTS: dict[str, tuple[Callable[[], uuid.UUID], int]] = {
    "uuid1": (snowmint.uuid1, 1),
    "uuid3": (lambda: snowmint.uuid3(uuid.NAMESPACE_URL, "a"), 3),
    "uuid4": (snowmint.uuid4, 4),
    "uuid5": (lambda: snowmint.uuid5(uuid.NAMESPACE_URL, "a"), 5),
    "uuid6": (snowmint.uuid6, 6),
    "uuid7": (snowmint.uuid7, 7),
    "uuid8": (snowmint.uuid8, 8),
}


@pytest.mark.parametrize("name", MINTS)
def test_a_uuid_is_one_of_the_standard_library_like_any_other(name: str) -> None:
    mint, version = MINTS[name]
    minted = mint()
    assert type(minted) is uuid.UUID
    assert (minted.version, minted.variant, minted.is_safe) == (version, uuid.RFC_4122, uuid.SafeUUID.unknown)
    other = uuid.UUID(str(minted))
    assert (other, hash(other), other.int, repr(other)) == (minted, hash(minted), minted.int, repr(minted))
    assert minted in {other}
    for again in (pickle.loads(pickle.dumps(minted)), copy.copy(minted), copy.deepcopy(minted)):
        assert again == minted
        assert again.is_safe is minted.is_safe
    with pytest.raises(TypeError):
        minted.int = 5  # type: ignore[misc]
    assert inspect(str(minted))[0].kind == name


@pytest.mark.parametrize(("mint", "version"), [(snowmint.uuid4_str, 4), (snowmint.uuid7_str, 7)])
def test_a_text_is_that_of_a_uuid(mint: Callable[[], str], version: int) -> None:
    text = mint()
    assert str(uuid.UUID(text)) == text
    assert uuid.UUID(text).version == version


def test_the_time_of_those_that_have_one_is_the_present() -> None:
    for mint in (snowmint.uuid1, snowmint.uuid6, snowmint.uuid7):
        candidate = inspect(str(mint()))[0]
        assert candidate.timestamp is not None
        assert abs((candidate.timestamp - datetime.now(UTC)).total_seconds()) < 60


def test_versions_6_and_7_increase_in_every_form() -> None:
    for mint in (snowmint.uuid6, snowmint.uuid7):
        minted = [mint() for _ in range(10_000)]
        assert all(a < b for a, b in zip(minted, minted[1:], strict=False))
    first, second, third = snowmint.uuid7_str(), str(snowmint.uuid7()), snowmint.uuid7_str()
    assert first < second < third


def test_no_bit_of_a_version_4_is_always_the_same() -> None:
    ones, all_bits = 0, 2**128 - 1
    zeros = all_bits
    for _ in range(200):
        bits = snowmint.uuid4().int
        ones |= bits
        zeros &= bits
    fixed = 0xF << 76 | 3 << 62
    assert ones | fixed == all_bits
    assert zeros & ~fixed == 0


def test_the_node_is_random_and_its_own_of_a_process() -> None:
    node = snowmint.uuid1().node
    assert node == snowmint.uuid6().node
    assert node >> 40 & 1 == 1, "the multicast bit, which no network card has"
    assert node != int(processes.run("import snowmint; print(snowmint.uuid1().node)"))


@pytest.mark.parametrize("mint", [snowmint.uuid1, snowmint.uuid6])
def test_a_node_and_a_clock_sequence_can_be_given(mint: Callable[..., uuid.UUID]) -> None:
    minted = [mint(node=0x123456789ABC, clock_seq=0x1234) for _ in range(1000)]
    assert {(one.node, one.clock_seq) for one in minted} == {(0x123456789ABC, 0x1234)}
    assert len(set(minted)) == 1000
    assert mint(0).node == 0
    for wrong in ({"node": 2**48}, {"node": -1}, {"node": 2**70}, {"clock_seq": 2**14}, {"clock_seq": -1}):
        with pytest.raises(InvalidIdError, match=f"{next(iter(wrong))} does not fit: it takes 0 to "):
            mint(**wrong)
    with pytest.raises(TypeError):
        mint(node="02:00:00:00:00:00")


@given(st.uuids(), st.text(st.characters(exclude_categories=["Cs"])))
def test_names_are_hashed_as_the_standard_library_does(namespace: uuid.UUID, name: str) -> None:
    assert snowmint.uuid3(namespace, name) == uuid.uuid3(namespace, name)
    assert snowmint.uuid5(namespace, name) == uuid.uuid5(namespace, name)
    assert snowmint.uuid5(str(namespace), name.encode()) == uuid.uuid5(namespace, name)


def test_what_is_no_name_and_no_namespace_is_refused() -> None:
    # Lossy, it would be the UUID of another name.
    with pytest.raises(UnicodeEncodeError):
        snowmint.uuid5(uuid.NAMESPACE_DNS, "\ud800")
    with pytest.raises(TypeError, match="name is a str or bytes"):
        snowmint.uuid3(uuid.NAMESPACE_DNS, 5)  # type: ignore[arg-type]
    with pytest.raises(InvalidTextError, match="a UUID has 32 hexadecimal digits"):
        snowmint.uuid3("dns", "a")
    with pytest.raises(TypeError, match="16 bytes, or an object with an attribute bytes, are needed, not int"):
        snowmint.uuid3(5, "a")  # type: ignore[arg-type]


@given(st.integers(0, 2**48 - 1), st.integers(0, 2**12 - 1), st.integers(0, 2**62 - 1))
def test_a_version_8_holds_what_is_given(a: int, b: int, c: int) -> None:
    bits = snowmint.uuid8(a, b, c).int
    assert (bits >> 80, bits >> 64 & 0xFFF, bits & (2**62 - 1)) == (a, b, c)
    assert snowmint.uuid8(b=b).int >> 64 & 0xFFF == b


def test_what_is_not_given_of_a_version_8_is_random() -> None:
    minted = {snowmint.uuid8() for _ in range(1000)}
    assert len({one.int >> 80 for one in minted}) == len({one.int % 2**62 for one in minted}) == 1000
    assert len({one.int >> 64 & 0xFFF for one in minted}) > 500


@given(st.uuids())
def test_what_mysql_stores_is_read_back(one: uuid.UUID) -> None:
    low, middle, high = one.hex[:8], one.hex[8:12], one.hex[12:16]
    assert snowmint.uuid_to_bin(one, swap=True).hex() == high + middle + low + one.hex[16:]
    assert snowmint.uuid_from_bin(snowmint.uuid_to_bin(one, swap=True), swap=True) == one
    assert snowmint.uuid_to_bin(one) == one.bytes
    assert snowmint.uuid_from_bin(one.bytes) == one
    assert snowmint.uuid_to_bin(one.hex) == snowmint.uuid_to_bin(str(one)) == snowmint.uuid_to_bin(one)


def test_bytes_of_another_length_are_refused() -> None:
    with pytest.raises(InvalidIdError, match="16 bytes are needed, not 15"):
        snowmint.uuid_from_bin(bytes(15))


def test_nil_and_max_have_all_bits_alike() -> None:
    assert str(snowmint.UUID_NIL) == "00000000-0000-0000-0000-000000000000"
    assert str(snowmint.UUID_MAX) == "ffffffff-ffff-ffff-ffff-ffffffffffff"


def test_a_class_without_those_slots_is_made_by_its_constructor() -> None:
    program = """
        import uuid
        Standard = uuid.UUID
        class Other(Standard):
            __slots__ = ()
            int = property(lambda self: Standard.int.__get__(self))
            def __init__(self, hex=None, bytes=None, bytes_le=None, fields=None, int=None):
                Standard.int.__set__(self, int)
        uuid.UUID = Other
        import snowmint
        first, second = snowmint.uuid7(), snowmint.uuid7()
        assert type(first) is Other and first.int < second.int and first.int >> 76 & 15 == 7
    """
    processes.run(program)
