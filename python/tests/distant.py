"""A distant server: a proxy that delays and loses answers, counts round trips, and lets a test act before a request."""

import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Self


class Distant:
    """A proxy on loopback in front of a server.

    Args:
        port: The port of the server.
        round_trip_s: How long each answer is held back.
        ssl_context: The certificate of the proxy, if clients encrypt.
    """

    def __init__(self, port: int, round_trip_s: float = 0.0, ssl_context: ssl.SSLContext | None = None) -> None:
        self._server, self._round_trip_s = port, round_trip_s
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        if ssl_context is not None:
            self._listener = ssl_context.wrap_socket(self._listener, server_side=True)
        self.round_trips = 0
        """How many times a client sent something and waited for the answer. To connect is one."""
        self._before: tuple[bytes, Callable[[], object]] | None = None
        self._loses = False
        threading.Thread(target=self._accept, daemon=True).start()

    def before(self, marker: bytes, act: Callable[[], object]) -> None:
        """Calls `act` once, before the next request with `marker` passes."""
        self._before = (marker, act)

    def lose(self, marker: bytes) -> None:
        """Breaks the connection instead of passing on the answer to the next request with `marker`."""

        def act() -> None:
            self._loses = True

        self.before(marker, act)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._server))
                for each in (client, server):
                    each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.round_trips += 1
                # Whether the server has had the last word.
                answered = threading.Event()
                answered.set()
                for work, *arguments in ((self._requests, client, server), (self._answers, server, client)):
                    threading.Thread(target=work, args=(*arguments, answered), daemon=True).start()

    def _requests(self, client: socket.socket, server: socket.socket, answered: threading.Event) -> None:
        with suppress(OSError), client, server:
            while request := client.recv(1 << 16):
                if answered.is_set():
                    answered.clear()
                    self.round_trips += 1
                if self._before is not None and self._before[0] in request:
                    (_, act), self._before = self._before, None
                    act()
                server.sendall(request)

    def _answers(self, server: socket.socket, client: socket.socket, answered: threading.Event) -> None:
        with suppress(OSError), client, server:
            while answer := server.recv(1 << 16):
                if self._loses:
                    self._loses = False
                    client.shutdown(socket.SHUT_RDWR)
                    return
                time.sleep(self._round_trip_s)
                answered.set()
                client.sendall(answer)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
