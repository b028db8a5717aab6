"""Teaches Schemathesis to write texts of layouts and names, which the document cannot describe."""

import unicodedata

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
