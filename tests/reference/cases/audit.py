"""audit.json: the causes of repeated IDs in lists of IDs."""

from collections import Counter

from cases import Case
from grammar import parse
from parts import decode

COMMENT = (
    "audit(ids, layout). ids: decimal strings, in their order. findings: kind, node (a decimal string, or null), ids, and "
    "repeated, the number of different IDs that occur more than once."
)

# Printed by a program that made a generator for each call: bwmarrin/snowflake#68, the first 45 of 50 lines.
NODES_1_TO_9 = """
1940233026332004352 1940233026336198656 1940233026336198656 1940233026340392960 1940233026340392960
1940233026344591360 1940233026344591360 1940233026348785664 1940233026348785664 1940233026352979968
1940233026352984064 1940233026357178368 1940233026357178368 1940233026361372672 1940233026361372672
1940233026365571072 1940233026365571072 1940233026369765376 1940233026369765376 1940233026373959680
1940233026378158080 1940233026378158080 1940233026382352384 1940233026382352384 1940233026386546688
1940233026386550784 1940233026390745088 1940233026390745088 1940233026394939392 1940233026394939392
1940233026399137792 1940233026399137792 1940233026403332096 1940233026403332096 1940233026407526400
1940233026407530496 1940233026411724800 1940233026411724800 1940233026415919104 1940233026415919104
1940233026420117504 1940233026420117504 1940233026424311808 1940233026424311808 1940233026428506112
"""

# As above: vipermind/flake-idgen#12, the first 46 of 50 lines.
NODE_0 = """
6901552045816283136 6901552045820477440 6901552045820477440 6901552045833060352 6901552045837254656
6901552045841448960 6901552045845643264 6901552045849837568 6901552045854031872 6901552045858226176
6901552045862420480 6901552045875003392 6901552045879197696 6901552045879197696 6901552045879197696
6901552045883392000 6901552045883392000 6901552045883392000 6901552045883392000 6901552045883392000
6901552045887586304 6901552045887586304 6901552045887586304 6901552045887586304 6901552045887586304
6901552045891780608 6901552045891780608 6901552045891780608 6901552045891780608 6901552045891780608
6901552045895974912 6901552045895974912 6901552045895974912 6901552045895974912 6901552045900169216
6901552045900169216 6901552045900169216 6901552045900169216 6901552045900169216 6901552045904363520
6901552045904363520 6901552045904363520 6901552045908557824 6901552045908557824 6901552045908557824
6901552045912752128
"""

FLAKE = "time:42,datacenter:5,worker:5,sequence:12;epoch=0"
TWEET = 1541815603606036480

# A generator for each call, or doubles: in either case all IDs of a tick and node are equal.
EITHER = ("truncated", "shared_node", "duplicates")
CALLS = ("shared_node", "duplicates")
DOUBLES = ("truncated", "duplicates")

# Name, layout, IDs, kinds of findings; `shared_node` for each node.
ROWS: tuple[tuple[str, str, list[int], tuple[str, ...]], ...] = (
    (
        "a generator for each call, printed in bwmarrin/snowflake#68",
        "twitter",
        [*map(int, NODES_1_TO_9.split())],
        EITHER,
    ),
    ("a generator for each call, printed in vipermind/flake-idgen#12", FLAKE, [*map(int, NODE_0.split())], EITHER),
    (
        "a double makes 129 IDs of a tick equal at 2^60",
        "twitter",
        [TWEET + (tick << 22) for tick in range(3) for _ in range(129)],
        EITHER,
    ),
    (
        "a double rounds the 130th ID of a tick up",
        "twitter",
        [TWEET + (tick << 22) for tick in range(3) for _ in range(130)],
        CALLS,
    ),
    (
        "doubles of 300 IDs in a tick",
        "twitter",
        [int(float(TWEET + (tick << 22) + sequence)) for tick in range(3) for sequence in range(300)],
        DOUBLES,
    ),
)


def cases() -> list[Case]:
    return [_case(*row) for row in ROWS]


def _case(name: str, text: str, ids: list[int], kinds: tuple[str, ...]) -> Case:
    layout = parse(text)
    parts = {id: decode(layout, id) for id in ids}
    assert all(float(id) == id for id in ids), f"{name}: an ID that is not a double"
    times = Counter(ids)
    repeated = [id for id, count in times.items() if count > 1]

    def finding(kind: str, node: int | None) -> Case:
        of_node = [id for id in ids if node in (None, parts[id].node)]
        again = [id for id in repeated if node in (None, parts[id].node)]
        count = len(again if kind == "duplicates" else of_node)
        return {"kind": kind, "node": None if node is None else str(node), "ids": count, "repeated": len(again)}

    nodes = sorted({part.node for part in parts.values()})
    found = [finding(kind, node) for kind in kinds for node in (nodes if kind == "shared_node" else [None])]
    return {"name": name, "layout": text, "ids": [str(id) for id in ids], "findings": found}
