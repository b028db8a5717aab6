"""Teaches Schemathesis what the document cannot describe: texts of layouts and names, and integers without a decimal point."""

import unicodedata
from typing import Any

import schemathesis
from hypothesis import strategies as st

# Presets whose time is not over.
PRESETS = ["snowmint", "twitter", "discord", "instagram", "leaf", "mastodon", "gosnowflake", "callicoder", "safe53"]


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Draws the text of a layout: at most 64 bits, a time that lasts decades, a tick of 1 or 10 ms."""
    time = draw(st.integers(38, 42))
    node = draw(st.integers(1, 10))
    fields = [f"time:{time}", f"node:{node}", f"sequence:{draw(st.integers(1, 63 - time - node))}"]
    order = draw(st.permutations(fields))
    epoch = draw(st.sampled_from(["2025-01-01T00:00:00Z", "1735689600000"]))
    tick = draw(st.sampled_from(["", ";tick=1ms", ";tick=10ms"]))
    return f"{','.join(order)};epoch={epoch}{tick}"


schemathesis.openapi.format("snowmint-layout", st.sampled_from(PRESETS) | texts())

# A character that is not assigned here may have a composed form for the service, which knows a later Unicode.
letters = st.characters(exclude_categories=("Cc", "Cf", "Cn", "Cs", "Zl", "Zp"))
names = st.text(letters, min_size=1, max_size=30).filter(lambda name: unicodedata.is_normalized("NFC", name))
schemathesis.openapi.format("snowmint-name", names)

# With every part of a date, for every period.
schemathesis.openapi.format(
    "snowmint-pattern",
    st.sampled_from(["INV-{yyyy}{MM}{dd}-{000000}", "{dd}.{MM}.{yy}/{0}{luhn}", "{yyyy}{MM}{dd}{HH}{000}{mod97}"]),
)


def has_whole_float(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(has_whole_float, value.values()))
    return any(map(has_whole_float, value)) if isinstance(value, list) else isinstance(value, float) and value % 1 == 0


@schemathesis.hook
def filter_body(_context: schemathesis.HookContext, body: Any) -> bool:
    """Leaves out bodies with a number such as 5.0, which JSON Schema calls an integer and the service refuses."""
    return not has_whole_float(body)
