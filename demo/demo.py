"""Mints five IDs of the node in the first argument, and decodes the public IDs: JSON, the same from every language."""

import json
import sys
from pathlib import Path

from snowmint import Layout, Snowflake

gen = Snowflake(layout="twitter", node=int(sys.argv[1]))
minted = [str(gen.next_id()) for _ in range(5)]

decoded = []
for public in json.loads(Path(__file__).with_name("public_ids.json").read_text()):
    parts = Layout.preset(public["layout"]).decode(int(public["id"]))
    assert parts.timestamp is not None
    timestamp = parts.timestamp.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    decoded.append(f"{timestamp} node {parts.node} sequence {parts.sequence}")

print(json.dumps({"language": "Python", "minted": minted, "decoded": decoded}))
