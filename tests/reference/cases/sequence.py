"""sequence.json: sessions on sequences, with the answers that the tests of PostgreSQL, MariaDB and TiDB state.

The answers come from the named test files; the reference computes no answer.
"""

from cases import Case

COMMENT = (
    "source: the public test that states the answers. dialect, and the options of the definition (integers as decimal "
    "strings). steps: [statement, answer], one session on a new sequence; an answer is a decimal string, null for SQL's "
    "NULL, or the code of an error. setval takes the value, then is_called, then the round. error: the code of a "
    "definition that is refused."
)

POSTGRES = "postgres/postgres, src/test/regress/expected/sequence.out"
MARIADB_NEXT = "MariaDB/server, mysql-test/suite/sql_sequence/next.result"
MARIADB_SETVAL = "MariaDB/server, mysql-test/suite/sql_sequence/setval.result"
MARIADB_RUN = "MariaDB 10.11.19, run"
TIDB_SOURCE = "pingcap/tidb, ddl/sequence.go, handleSequenceOptions"
TIDB = "pingcap/tidb, ddl/sequence_test.go"

# Name, source, dialect, definition, and a statement with its answer after `->`. A number alone is an answer of nextval;
# `~` stands for an answer that the source does not print.
SESSIONS: list[tuple[str, str, str, str, str]] = [
    (
        "setval with is_called and without",
        POSTGRES,
        "pg",
        "",
        "1 2 currval->2 setval(32)->32 33 setval(99,false)->99 99 setval(32)->32 33 setval(99,false)->99 99",
    ),
    (
        "a cycle begins anew at the minimum",
        POSTGRES,
        "pg",
        "start=24 increment=4 min=5 max=36 cycle",
        "24 28 32 36 5",
    ),
    ("currval follows a setval", POSTGRES, "pg", "", "1 currval->1 setval(99)->99 currval->99"),
    ("currval before the first nextval", POSTGRES, "pg", "", "currval->INVALID_ID"),
    (
        "a cycle upwards with a cache of 2",
        MARIADB_NEXT,
        "mariadb",
        "start=1 min=1 max=10 cache=2 cycle",
        "1 2 3 4 5 6 7 8 9 10 1 2 3 4 5 6 7 8 9 10 1",
    ),
    (
        "a cycle downwards with a cache of 2",
        MARIADB_NEXT,
        "mariadb",
        "min=1 max=10 increment=-1 cache=2 cycle",
        "10 9 8 7 6 5 4 3 2 1 10 9",
    ),
    (
        "lastval is NULL once the sequence has run out",
        MARIADB_NEXT,
        "mariadb",
        "start=8 min=1 max=10 cache=2",
        "8 9 10 lastval->10 nextval->EXHAUSTED lastval->null nextval->EXHAUSTED",
    ),
    ("a maximum and a cache of 2", MARIADB_NEXT, "mariadb", "max=5 cache=2", "1 2 3 4 5 nextval->EXHAUSTED"),
    (
        "lastval before the first nextval and over a cycle",
        MARIADB_NEXT,
        "mariadb",
        "start=1 min=1 max=10 cache=5 cycle",
        "lastval->null 1 lastval->1 2 lastval->2 3 4 5 6 7 8 9 10 lastval->10 1 lastval->1",
    ),
    ("without a cache", MARIADB_NEXT, "mariadb", "cache=1", "1 2"),
    (
        "a start far from the minimum",
        MARIADB_NEXT,
        "mariadb",
        "min=1 max=9999999999 start=3984356 cache=20 cycle",
        "3984356 3984357 3984358",
    ),
    ("a descent below zero", MARIADB_NEXT, "mariadb", "start=1 min=-1000 max=1000 increment=-1", "1 0"),
    (
        "setval never goes down",
        MARIADB_SETVAL,
        "mariadb",
        "cache=10",
        (
            "setval(10)->~ 11 setval(12,true)->~ 13 setval(15,false)->~ 15 setval(16,false)->16 16 setval(1000,false)->~ 1000 "
            "setval(2000,false)->~ 2000 setval(1000,false)->null 2001 setval(1000,true)->null 2002 setval(2002,false)->null "
            "2003 setval(2010,false)->2010 2010"
        ),
    ),
    (
        "setval reaches the round of the cycle",
        MARIADB_SETVAL,
        "mariadb",
        "cache=10 max=100 cycle",
        (
            "setval(100,false)->100 100 setval(100,false)->null 1 2 setval(100,false,1)->100 100 setval(100,true,2)->100 1 "
            "setval(100,false,3)->100 100"
        ),
    ),
    (
        "setval above the maximum uses the sequence up",
        MARIADB_SETVAL,
        "mariadb",
        "cache=10 max=100",
        "setval(200)->200 nextval->EXHAUSTED",
    ),
    (
        "setval above the maximum ends the round",
        MARIADB_SETVAL,
        "mariadb",
        "cache=10 max=100 cycle",
        "setval(200)->200 1",
    ),
    (
        "setval on the way down",
        MARIADB_SETVAL,
        "mariadb",
        "cache=10 max=0 increment=-10",
        "setval(-10)->-10 -20 setval(-15)->null -30 setval(-500,false)->-500 -500 -510 setval(-525,false)->-525 -525 -535",
    ),
    (
        "setval to the next value on the way down",
        MARIADB_SETVAL,
        "mariadb",
        "cache=10 max=0 increment=-10",
        "setval(-10,false)->-10 -10",
    ),
    (
        "three setvals in a row",
        MARIADB_SETVAL,
        "mariadb",
        "",
        "setval(10,false)->10 setval(15,true)->15 setval(5,true)->null 16",
    ),
    (
        "lastval stays after a setval and is NULL after the end",
        MARIADB_RUN,
        "mariadb",
        "max=5 cache=1",
        "1 setval(5)->5 lastval->1 nextval->EXHAUSTED lastval->null setval(200,true,0)->200 lastval->null",
    ),
    (
        "setval just below the minimum leads to the minimum",
        MARIADB_RUN,
        "mariadb",
        "min=10 max=20 cycle",
        "setval(9,false,0)->null setval(9,true,0)->9 10",
    ),
    (
        "setval in a later round just below the minimum",
        MARIADB_RUN,
        "mariadb",
        "min=10 max=20 increment=3 cycle",
        "setval(9,true,1)->9 12",
    ),
    ("four values", TIDB, "tidb", "", "1 2 3 4 5 6"),
    ("without a cache, as TiDB counts", TIDB, "tidb", "cache=1", "1 2 3"),
    ("increment 5", TIDB, "tidb", "increment=5", "1 6 11"),
    ("increment 5 from 3", TIDB, "tidb", "increment=5 start=3", "3 8 13"),
    ("a negative minimum and start", TIDB, "tidb", "min=-5 start=-2 increment=5", "-2 3 8"),
    ("a minimum of 0 starts at 1", TIDB, "tidb", "min=0", "1 2"),
    ("a maximum above 0 starts at -1 on the way down", TIDB_SOURCE, "tidb", "increment=-2 min=-10 max=10", "-1 -3"),
    ("a minimum above 1 starts at the minimum", TIDB_SOURCE, "tidb", "min=7", "7 8"),
    ("a cycle from 3", TIDB, "tidb", "increment=5 start=3 max=12 cycle", "3 8 1 6 11 1"),
    ("a cycle from 2", TIDB, "tidb", "increment=4 start=2 max=10 cycle", "2 6 10 1 5 9 1"),
    ("the end between two values", TIDB, "tidb", "increment=5 start=3 max=12", "3 8 nextval->EXHAUSTED"),
    ("the end at a value", TIDB, "tidb", "increment=3 start=3 max=9", "3 6 9 nextval->EXHAUSTED"),
    ("a cycle downwards", TIDB, "tidb", "increment=-2 start=3 min=-5 max=12 cycle", "3 1 -1 -3 -5 12 10"),
    ("a cycle downwards by 3", TIDB, "tidb", "increment=-3 start=2 min=-6 max=11 cycle", "2 -1 -4 11 8"),
    (
        "the end downwards at a value",
        TIDB,
        "tidb",
        "increment=-4 start=6 min=-6 max=11",
        "6 2 -2 -6 nextval->EXHAUSTED",
    ),
    (
        "the end downwards between two values",
        TIDB,
        "tidb",
        "increment=-3 start=2 min=-2 max=10",
        "2 -1 nextval->EXHAUSTED",
    ),
    ("setval to a used value", TIDB, "tidb", "", "1 2 setval(2)->null 3 setval(5)->5 6"),
    (
        "setval keeps the progression",
        TIDB,
        "tidb",
        "increment=3 max=11",
        (
            "1 4 setval(3)->null setval(4)->null setval(5)->5 7 setval(8)->8 10 nextval->EXHAUSTED setval(11)->11 "
            "nextval->EXHAUSTED setval(100)->100 nextval->EXHAUSTED"
        ),
    ),
    (
        "setval in the first and the second round",
        TIDB,
        "tidb",
        "increment=10 start=5 max=100 cache=10 cycle",
        "5 15 setval(20)->20 25 setval(95)->95 1 setval(15)->15 21 31",
    ),
    (
        "setval beyond both bounds of an unused sequence",
        TIDB,
        "tidb",
        "increment=2 start=0 max=10 min=-10 cache=3 cycle",
        "setval(-20)->null setval(20)->20 -10",
    ),
    (
        "setval downwards over two caches and a round",
        TIDB,
        "tidb",
        "increment=-3 start=5 max=10 min=-10 cache=3 cycle",
        "5 setval(-2)->-2 -4 setval(-10)->-10 10 7 4 setval(0)->0 -2",
    ),
    (
        "setval beyond both bounds downwards",
        TIDB,
        "tidb",
        "increment=-2 start=0 max=10 min=-10 cache=3 cycle",
        "setval(20)->null setval(-20)->-20 10",
    ),
    (
        "setval leaves lastval alone",
        TIDB,
        "tidb",
        "",
        "lastval->null 1 lastval->1 2 lastval->2 setval(-1)->null lastval->2 setval(5)->5 lastval->2 6 7",
    ),
    (
        "lastval over caches and a round",
        TIDB,
        "tidb",
        "increment=3 start=3 max=14 cache=3 cycle",
        "lastval->null 3 setval(10)->10 lastval->3 12 setval(13)->13 lastval->12 1 lastval->1",
    ),
    (
        "lastval downwards over caches and a round",
        TIDB,
        "tidb",
        "increment=-3 start=-2 max=10 min=-10 cache=3 cycle",
        "lastval->null -2 setval(-8)->-8 lastval->-2 10 lastval->10",
    ),
    (
        "setval downwards beyond the cache",
        TIDB,
        "tidb",
        "increment=-1 start=1 max=10 min=-10 cache=3 cycle",
        "1 setval(-8)->-8 -9",
    ),
    (
        "the progression over all 64 bits",
        TIDB,
        "tidb",
        "increment=2 start=-9223372036854775807 max=9223372036854775806 min=-9223372036854775807 cache=2 cycle",
        "-9223372036854775807 setval(9223372036854775800)->9223372036854775800 9223372036854775801",
    ),
    (
        "the progression down over all 64 bits",
        TIDB,
        "tidb",
        "increment=-2 start=9223372036854775806 max=9223372036854775806 min=-9223372036854775807 cache=2 cycle",
        "9223372036854775806 setval(-9223372036854775800)->-9223372036854775800 -9223372036854775802",
    ),
    ("a lower setval on an unused sequence", TIDB, "tidb", "", "setval(10)->10 setval(5)->null"),
    ("a higher setval on a descending sequence", TIDB, "tidb", "increment=-1", "setval(-10)->-10 setval(-5)->null"),
    (
        "setval to 2^63-1 uses the sequence up",
        TIDB,
        "tidb",
        "",
        "setval(9223372036854775807)->9223372036854775807 nextval->EXHAUSTED",
    ),
]

# Cases in which we differ from the engine on purpose.
OURS: list[tuple[str, str, str, str, str]] = [
    (
        "setval in a later round below the minimum is refused, where MariaDB hands out values below it",
        MARIADB_RUN,
        "mariadb",
        "min=10 max=20 cycle",
        "setval(1,true,1)->null 10",
    ),
    (
        "setval in a later round above the maximum on the way down is refused, where MariaDB hands out values above it",
        MARIADB_RUN,
        "mariadb",
        "min=-20 max=-10 increment=-1 cycle",
        "setval(-5,true,1)->null -10",
    ),
]

# Name, source, dialect, definition. A `+` marks a definition that the source accepts.
DEFINITIONS: list[tuple[str, str, str, str]] = [
    ("increment 0", TIDB, "tidb", "increment=0"),
    ("a maximum below the minimum", TIDB, "tidb", "max=1 min=2"),
    ("a maximum that is the minimum", TIDB, "tidb", "max=1 min=1"),
    ("a maximum of 2^63-1", TIDB, "tidb", "max=9223372036854775807 min=1"),
    ("a start above the maximum", TIDB, "tidb", "max=1 start=2"),
    ("a cache that reaches too far", TIDB, "tidb", "increment=100000 cache=922337203685477"),
    ("a cache below 0", TIDB, "tidb", "cache=-1"),
    ("a cache of 0", TIDB, "tidb", "cache=0"),
    ("an increment without room for one cached value", TIDB, "tidb", "increment=-9223372036854775807 cache=1"),
    ("the default cache that reaches too far", MARIADB_RUN, "mariadb", "increment=9223372036854776"),
    ("a cache that reaches 2^63", MARIADB_RUN, "mariadb", "increment=10 cache=922337203685477579"),
    ("a cache that just reaches too far", MARIADB_RUN, "mariadb", "increment=9223372036854775 cache=999"),
    ("an increment of 2^62 without a cache", MARIADB_RUN, "mariadb", "increment=4611686018427387904 cache=1"),
    ("a cache of 2^63-2", MARIADB_RUN, "mariadb", "cache=9223372036854775806"),
]
ACCEPTED: list[tuple[str, str, str, str]] = [
    ("the greatest cache of increment 10", MARIADB_RUN, "mariadb", "increment=10 cache=922337203685477578"),
    ("the greatest cache of a descent", MARIADB_RUN, "mariadb", "increment=-9223372036854775 cache=998"),
    ("the greatest increment without a cache", MARIADB_RUN, "mariadb", "increment=4611686018427387903 cache=1"),
    ("an increment of a third of 2^63", MARIADB_RUN, "mariadb", "increment=3074457345618258602 cache=1"),
]


def cases() -> list[Case]:
    written = []
    for name, source, dialect, definition, steps in SESSIONS + OURS:
        written.append({**_definition(name, source, dialect, definition), "steps": _steps(steps)})
    for name, source, dialect, definition in DEFINITIONS:
        written.append({**_definition(name, source, dialect, definition), "error": "INVALID_ID"})
    for name, source, dialect, definition in ACCEPTED:
        written.append({**_definition(name, source, dialect, definition), "steps": []})
    return written


def _definition(name: str, source: str, dialect: str, definition: str) -> Case:
    options: dict[str, str | bool] = {}
    for word in definition.split():
        key, _, value = word.partition("=")
        options[key] = value or True
    return {"name": name, "source": source, "dialect": dialect, "options": options}


def _steps(text: str) -> list[list[str | None]]:
    steps: list[list[str | None]] = []
    for word in text.split():
        statement, arrow, answer = word.partition("->")
        if not arrow:
            statement, answer = "nextval", word
        if answer == "~":
            # MariaDB's DO prints nothing; the value of a setval that moves is the value itself.
            answer = statement[len("setval(") :].rstrip(")").split(",")[0]
        steps.append([statement, None if answer == "null" else answer])
    return steps
