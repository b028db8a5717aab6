"""A generator that is made when its first ID is asked for."""

import inspect
from typing import Any, Unpack

from snowmint import Snowflake, WindowClosedError
from snowmint._options import Options
from snowmint._snowmint import find_layout


class LazySnowflake:
    """Mints with one `Snowflake`, which is made at the first call.

    The import of a module with a lazy generator takes no lease. Pickles and copies contain the options, and make a
    separate generator. A generator whose lease was lost is replaced by a new one.

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
        if generator is None or generator.status().lost is not None:
            # Threads that come here together share one lease or one node. That saves a lock, which a forked child
            # could inherit locked.
            generator = self._generator = Snowflake(**self._options)
        return generator

    def close(self) -> None:
        """Closes the generator, if it was made, and so frees its node: call it after the last row.

        The next call makes a new generator.
        """
        generator, self._generator = self._generator, None
        if generator is not None:
            generator.close()

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
