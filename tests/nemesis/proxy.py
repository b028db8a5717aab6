"""A proxy between a process and its server, which cuts connections, and delays, loses and refuses."""

import asyncio
import contextlib
from asyncio import StreamReader, StreamWriter


class Proxy:
    """Carries the connections of one process to a port of the loopback.

    Args:
        target: The server's port.
    """

    def __init__(self, target: int) -> None:
        self.target = target
        self.port = 0
        """The proxy's own port, once it listens."""
        self.delay_s = 0.0
        """How long each piece of a request and of an answer waits."""
        self.refuses = False
        """Whether new connections are closed at once."""
        self.loses = False
        """Whether answers are dropped, while requests reach the server."""
        self._server: asyncio.Server | None = None
        self._open: set[StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def listen(self) -> None:
        """Listens on a free port."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = int(self._server.sockets[0].getsockname()[1])

    def cut(self) -> None:
        """Resets all connections, in the middle of whatever they carry."""
        for writer in list(self._open):
            writer.transport.abort()

    def heal(self) -> None:
        """Ends all faults. Connections that lost an answer are cut, because the next answer would be taken for it."""
        if self.loses:
            self.cut()
        self.loses = self.refuses = False
        self.delay_s = 0.0

    async def close(self) -> None:
        """Stops listening, and ends all connections."""
        if self._server is not None:
            self._server.close()
        self.cut()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self._open.add(writer)
        there: StreamWriter | None = None
        try:
            if self.refuses:
                return
            # A task that ends as cancelled would be reported as a failure by asyncio.
            with contextlib.suppress(OSError, asyncio.CancelledError):
                answers, there = await asyncio.open_connection("127.0.0.1", self.target)
                self._open.add(there)
                await asyncio.gather(self._carry(reader, there, False), self._carry(answers, writer, True))
        finally:
            for each in (writer, there):
                if each is not None:
                    self._open.discard(each)
                    each.transport.abort()

    async def _carry(self, source: StreamReader, sink: StreamWriter, answers: bool) -> None:
        with contextlib.suppress(OSError):
            while piece := await source.read(65_536):
                if self.delay_s:
                    await asyncio.sleep(self.delay_s)
                if answers and self.loses:
                    continue
                sink.write(piece)
                await sink.drain()
        # A connection ends as a whole: no client of a store reads on after it has closed its side.
        sink.close()
