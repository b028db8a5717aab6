"""The arguments of `Snowflake`, by name."""

from collections.abc import Callable, Iterable, Mapping
from typing import Literal, TypedDict

from snowmint._errors import SnowmintError
from snowmint._snowmint import Layout
from snowmint.stores import FileStore, Lessor, Store


class Options(TypedDict, total=False):
    """The arguments of `Snowflake`, by name."""

    layout: str | Layout | None
    node: int | Mapping[str, int] | str | None
    store: str | Store | Lessor | FileStore | None
    namespace: str | None
    max_ahead_ms: int | None
    max_wait_ms: int | None
    sequence_start: Literal["zero", "random", "carry"] | None
    clock: Callable[[], int] | None
    on_lost: Callable[[SnowmintError], object] | None
    exclude: Iterable[int | Mapping[str, int] | str] | None
    window_ms: int | None
    reserve: str | None
