"""IDs taken apart by SQL in real engines, whose results must equal those from `Layout.decode`.

The variable `SNOWMINT_SQL_ENGINES` names the engines. Without it the tests use the engines of `make test`; `make prove`
adds ClickHouse, whose package is large. No engine of CockroachDB and TiDB is there: only the texts for them are
compared.
"""

import importlib
import json
import os
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import duckdb
import psycopg
import pymysql
import pytest

import servers
from snowmint import InvalidIdError, InvalidLayoutError, InvalidTextError, Layout, layouts

VECTORS = Path(__file__).parents[2] / "tests" / "vectors" / "decode.json"
# Bit 63 is 1 since 2024-11.
NEGATIVE = Layout("time:41,shard:13,sequence:10;epoch=1990-01-01T00:00:00Z")
# Fields in an unusual order, a node in two pieces, an unusual tick, an epoch before 1970.
MIXED = Layout("high:3,time:38,random:9,sequence:10,low:4;epoch=1960-05-05T00:00:00Z;tick=10ms")
NASTY = [
    'a"b',
    "'; DROP TABLE ids; --",
    "$1 ?1 %s {x:Int8}",
    "back\\slash",
    "back`tick",
    "\\`",
    "line\nbreak",
    "ü ñ 号",
]

Rows = list[tuple[Any, ...]]


def unix_ms(year: int) -> int:
    return int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) * 1000


class Database:
    """A database with a table `ids` of one column."""

    kinds: ClassVar[dict[str, str]]
    """The dialects of the engine, with the types of the column."""
    quote = '"'
    years = (1, 9999)
    """The years whose instants the engine has, and Python too."""

    def run(self, statement: str) -> Rows:
        raise NotImplementedError

    def fill(self, dialect: str, ids: Sequence[int], column: str = "id") -> None:
        """Makes the table again with these IDs of 64 bits."""
        unsigned = "unsigned" in self.kinds[dialect].lower() or self.kinds[dialect].startswith("U")
        values = ", ".join(f"({id if unsigned else signed(id)})" for id in ids)
        name = self.quote + column.replace(self.quote, self.quote * 2) + self.quote
        self.run("DROP TABLE IF EXISTS ids")
        self.run(self.table(f"{name} {self.kinds[dialect]}"))
        self.run(f"INSERT INTO ids VALUES {values}")

    def table(self, column: str) -> str:
        return f"CREATE TABLE ids ({column})"


def signed(id: int) -> int:
    return id - 2**64 if id >= 2**63 else id


class Postgres(Database):
    kinds: ClassVar = {"postgres": "bigint"}

    def __init__(self) -> None:
        url = servers.shared("postgres").new_database().replace("+psycopg", "")
        self.connection = psycopg.connect(url, autocommit=True)

    def run(self, statement: str) -> Rows:
        cursor = self.connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


class Mariadb(Database):
    kinds: ClassVar = {"mariadb": "BIGINT UNSIGNED", "mariadb_signed": "BIGINT"}
    quote = "`"

    def __init__(self) -> None:
        server = servers.shared("mariadb")
        name = server.new_database().rpartition("/")[2]
        self.connection = pymysql.connect(
            host="127.0.0.1", port=server.port, user="root", database=name, autocommit=True
        )

    def run(self, statement: str) -> Rows:
        with self.connection.cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())


class Duckdb(Database):
    kinds: ClassVar = {"duckdb": "BIGINT", "duckdb_unsigned": "UBIGINT"}

    def __init__(self) -> None:
        self.connection = duckdb.connect(":memory:")

    def run(self, statement: str) -> Rows:
        return self.connection.execute(statement).fetchall()


class Sqlite(Database):
    kinds: ClassVar = {"sqlite": "INTEGER"}

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:")

    def run(self, statement: str) -> Rows:
        return self.connection.execute(statement).fetchall()


class Clickhouse(Database):
    kinds: ClassVar = {"clickhouse": "UInt64", "clickhouse_signed": "Int64"}
    years = (1900, 2299)

    def __init__(self) -> None:
        # Only `make prove` has it.
        self.session = importlib.import_module("chdb.session").Session()
        self.run("CREATE DATABASE IF NOT EXISTS app")
        self.run("USE app")

    def run(self, statement: str) -> Rows:
        found = str(self.session.query(statement, "JSONCompactEachRow"))
        return [tuple(json.loads(line)) for line in found.splitlines()]

    def fill(self, dialect: str, ids: Sequence[int], column: str = "id") -> None:
        super().fill(dialect, ids, column.replace("\\", "\\\\"))

    def table(self, column: str) -> str:
        return super().table(column) + " ENGINE = Memory"


ENGINES: dict[str, type[Database]] = {
    "postgres": Postgres,
    "mariadb": Mariadb,
    "duckdb": Duckdb,
    "sqlite": Sqlite,
    "clickhouse": Clickhouse,
}
CHOSEN = os.environ.get("SNOWMINT_SQL_ENGINES", "postgres,mariadb,duckdb,sqlite").split(",")


@pytest.fixture(scope="module", params=CHOSEN)
def database(request: pytest.FixtureRequest) -> Iterator[Database]:
    yield ENGINES[request.param]()


def instant(value: Any) -> datetime | None:
    """An instant, as an engine's driver returns it."""
    if value is None:
        return None
    found = datetime.fromisoformat(value) if isinstance(value, str) else value
    assert isinstance(found, datetime)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def assert_decoded(database: Database, layout: Layout, ids: Sequence[int]) -> None:
    """Compares everything that SQL says about IDs with `decode`."""
    from_ms, until_ms = (unix_ms(year) for year in database.years)
    known = [id for id in ids if from_ms <= layout.decode(id).timestamp_ms < until_ms]
    for dialect in database.kinds:
        named: Any = dialect
        sql = layout.decode_sql(named, "id")
        for some, times in ((ids, []), (known, [sql.timestamp])):
            if not some:
                continue
            database.fill(dialect, some)
            parts = [sql.timestamp_ms, sql.tick, sql.node, sql.sequence, *sql.fields.values(), *times]
            rows = database.run(f"SELECT id, {', '.join(parts)} FROM ids")
            assert len(rows) == len(some)
            for row in rows:
                id, timestamp_ms, tick, node, sequence, *rest = (
                    value if position == len(parts) and times else int(value) for position, value in enumerate(row)
                )
                wanted = layout.decode(id)
                told = (timestamp_ms, tick, node, sequence)
                assert told == (wanted.timestamp_ms, wanted.tick, wanted.node, wanted.sequence)
                if times:
                    assert instant(rest.pop()) == wanted.timestamp
                assert rest == list(wanted.fields.values())


def test_every_vector_is_decoded_by_every_engine(database: Database) -> None:
    ids = defaultdict(list)
    for case in json.loads(VECTORS.read_text())["cases"]:
        # An expression refuses no ID, where `decode` does.
        if "error" not in case:
            ids[case["layout"]].append(int(case["id"]) % 2**64)
    assert sum(map(len, ids.values())) > 40
    for text, group in ids.items():
        layout = Layout.preset(text) if ":" not in text else Layout(text)
        if layout.tick_us % 1000:
            with pytest.raises(InvalidLayoutError, match="SQL reads layouts whose ticks are whole ms"):
                layout.decode_sql("postgres", "id")
        else:
            assert_decoded(database, layout, group)


@pytest.mark.parametrize("layout", [*layouts.all().values(), NEGATIVE, MIXED], ids=str)
def test_every_layout_is_taken_apart_at_its_bounds(database: Database, layout: Layout) -> None:
    until_ms = min(layout.ends_at_ms, unix_ms(9999))
    ids = {
        layout.encode(timestamp_ms=ms, node=node, sequence=sequence)
        for ms in (layout.epoch_ms, 1_772_323_200_123, until_ms, layout.ends_at_ms)
        if layout.epoch_ms <= ms
        for node in (0, layout.nodes - 1)
        for sequence in (0, layout.ids_per_tick - 1)
        if layout.epoch_ms <= ms <= layout.ends_at_ms
    }
    assert_decoded(database, layout, sorted(ids))


@pytest.mark.parametrize("layout", [layouts.SNOWMINT, layouts.DISCORD, layouts.MASTODON], ids=["41", "42", "48"])
def test_a_range_of_time_is_the_same_in_every_column(database: Database, layout: Layout) -> None:
    # Around the instant in which bit 63 becomes 1, where there is one.
    middle_ms = layout.signed_until_ms or 1_772_323_200_000
    ids = [layout.encode(timestamp_ms=middle_ms + ms, sequence=s) for ms in range(-3, 4) for s in (0, 7)]
    for dialect in database.kinds:
        named: Any = dialect
        database.fill(dialect, ids)
        for begin, end in ((-2, 2), (-3, -1), (0, 3), (1, 2), (-1, -1)):
            wanted = {id for id in ids if begin <= layout.decode(id).timestamp_ms - middle_ms <= end}
            predicate = layout.decode_sql(named, "ids.id").between(middle_ms + begin, middle_ms + end)
            assert {int(id) % 2**64 for (id,) in database.run(f"SELECT id FROM ids WHERE {predicate}")} == wanted
        with pytest.raises(InvalidIdError, match="swap them"):
            layout.decode_sql(named, "ids.id").between(middle_ms + 2, middle_ms + 1)


def test_columns_of_any_name_are_taken_apart(database: Database) -> None:
    id = 1541815603606036480
    for name in NASTY:
        for dialect in database.kinds:
            named: Any = dialect
            database.fill(dialect, [id], name)
            node = layouts.TWITTER.decode_sql(named, f"ids.{name}").node
            assert [(int(value),) for (value,) in database.run(f"SELECT {node} FROM ids")] == [(378,)]


def test_a_column_that_is_missing_is_an_error(database: Database) -> None:
    """In double quotes, SQLite would take it for a text, whose node is 0."""
    for dialect in database.kinds:
        named: Any = dialect
        database.fill(dialect, [5])
        with pytest.raises(Exception, match="idd"):
            database.run(f"SELECT {layouts.TWITTER.decode_sql(named, 'idd').node} FROM ids")


def test_an_instant_beyond_the_engine_is_null(database: Database) -> None:
    layout = Layout("time:48,sequence:16;epoch=0")
    beyond = {"clickhouse": [unix_ms(2300)], "mariadb": [2**48 - 1], "sqlite": [2**48 - 1]}
    for dialect in database.kinds:
        named: Any = dialect
        for ms in beyond.get(dialect.partition("_")[0], []):
            database.fill(dialect, [layout.encode(timestamp_ms=ms)])
            assert database.run(f"SELECT {layout.decode_sql(named, 'id').timestamp} FROM ids") == [(None,)]


def test_the_texts_for_cockroachdb_and_tidb() -> None:
    id = layouts.TWITTER.decode_sql("cockroach", "orders.id")
    ms = '((("orders"."id" >> 22) & 2199023255551) + 1288834974657)'
    assert id.timestamp_ms == ms
    assert id.timestamp == (
        f"((TIMESTAMP '1970-01-01 00:00:00' + {ms} // 86400000 * INTERVAL '1 day'"
        f" + {ms} % 86400000 * INTERVAL '1 millisecond') AT TIME ZONE 'UTC')"
    )
    middle_ms = layouts.DISCORD.signed_until_ms
    assert middle_ms is not None
    for ours, same in (("tidb", "mariadb"), ("tidb_signed", "mariadb_signed")):
        here: Any = ours
        there: Any = same
        one, other = (layouts.DISCORD.decode_sql(dialect, "orders.id") for dialect in (here, there))
        assert [one.timestamp, one.node] == [other.timestamp, other.node]
        assert one.between(middle_ms - 1, middle_ms) == other.between(middle_ms - 1, middle_ms)


def test_a_dialect_that_is_none_is_refused_with_the_list() -> None:
    dialect: Any = "oracle"
    with pytest.raises(InvalidTextError, match="choose postgres, .* clickhouse, .* sqlite, cockroach, tidb"):
        layouts.SNOWMINT.decode_sql(dialect, "id")
