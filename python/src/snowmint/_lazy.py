"""A generator that is made when its first ID is asked for."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypedDict, Unpack

from snowmint import Layout, Snowflake, SnowmintError, WindowClosedError
from snowmint._snowmint import find_layout
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


class LazySnowflake:
    """Mints with one `Snowflake`, which is made at the first call.

    To import a module that holds one takes no lease. Pickles and copies hold the options, and make a generator of their
    own. A generator whose lease was lost is replaced by a new one.

    Raises:
        TypeError: `Snowflake` has no such option.
        InvalidLayoutError: The layout is not valid.
        InvalidNodeError: The layout has no such node. Anything else that is wrong shows at the first call.
    """

    def __init__(self, **options: Unpack[Options]) -> None:
        inspect.signature(Snowflake).bind(**options)
        layout, node = find_layout(options.get("layout")), options.get("node")
        if node is not None:
            layout.encode(timestamp_ms=layout.epoch_ms, node=node, sequence=0)
        self._options = options
        self._generator: Snowflake | None = None

    @property
    def generator(self) -> Snowflake:
        """The generator; making it may raise what `Snowflake` raises."""
        generator = self._generator
        if generator is None or generator.status()["lost"] is not None:
            # Threads that come here together share one lease or one node. That saves a lock, which a forked child
            # could inherit locked.
            generator = self._generator = Snowflake(**self._options)
        return generator

    def __call__(self) -> int:
        """The next ID, as `Snowflake.next_id`."""
        generator = self._generator or self.generator
        try:
            return generator.next_id()
        except WindowClosedError:
            new = self.generator
            if new is generator:
                raise
            return new.next_id()

    def __getstate__(self) -> dict[str, Any]:
        return {"_options": self._options, "_generator": None}
