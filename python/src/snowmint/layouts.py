"""Presets: the layouts of well-known systems, and two of snowmint."""

from typing import Final

from snowmint._snowmint import Layout, presets

SNOWMINT: Final = Layout.preset("snowmint")
"""Ours, the default: 41 bits of ms since 2025, 1,024 nodes, 4,096 IDs a ms; until 2094, never negative."""
TWITTER: Final = Layout.preset("twitter")
"""Twitter's Snowflake of 2010."""
DISCORD: Final = Layout.preset("discord")
"""Discord."""
INSTAGRAM: Final = Layout.preset("instagram")
"""Instagram. Negative in a signed column from 2046."""
SONYFLAKE: Final = Layout.preset("sonyflake")
"""Sonyflake v1. Ticks of 10 ms, the sequence above the machine."""
SONYFLAKE2: Final = Layout.preset("sonyflake2")
"""Sonyflake v2 with its default settings."""
LEAF: Final = Layout.preset("leaf")
"""Leaf's snowflake mode. The numbers of Twitter."""
BAIDU: Final = Layout.preset("baidu")
"""Baidu's uid-generator with its default settings. Over since 2024-11-20."""
COSID: Final = Layout.preset("cosid")
"""CosId's millisecond layout."""
MASTODON: Final = Layout.preset("mastodon")
"""Mastodon's status IDs. Without a node."""
YITTER: Final = Layout.preset("yitter")
"""yitter's drift generator with its default settings."""
GOSNOWFLAKE: Final = Layout.preset("gosnowflake")
"""goSnowFlake. Negative in a signed column from 2086."""
CALLICODER: Final = Layout.preset("callicoder")
"""CalliCoder's SequenceGenerator."""
ITEYE: Final = Layout.preset("iteye")
"""A Java class published on ITeye: 16 workers, 1,024 IDs a ms."""
SAFE53: Final = Layout.preset("safe53")
"""Ours for JavaScript numbers: 53 bits."""


def all() -> dict[str, Layout]:
    """Every preset by name, in the order of the documentation.

    >>> from snowmint import layouts
    >>> layouts.all()["twitter"] == layouts.TWITTER
    True
    """
    return presets()
