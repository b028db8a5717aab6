"""Requests over HTTP, for the stores that need no client package."""

import http.client
import math
import os
import ssl


class Peer:
    """A server, and a connection to it that is kept.

    The connection is opened again when it breaks, and each process has its own. Proxies that the environment names are
    not used.

    Args:
        host: Its name or address.
        port: Its port; the default port of the protocol if None.
        ssl_context: The TLS context; None for no encryption.
        longest: The most bytes of an answer.
    """

    def __init__(self, host: str, port: int | None, ssl_context: ssl.SSLContext | None, longest: int) -> None:
        self._host, self._port, self._ssl, self._longest = host, port, ssl_context, longest
        # At most one, with the process that opened it. Without a lock, which a forked child could find taken for ever.
        self._idle: list[tuple[int, http.client.HTTPConnection]] = []

    def ask(
        self,
        verb: str,
        path: str,
        body: bytes,
        headers: dict[str, str],
        timeout_s: float,
        *,
        fresh: bool = False,
        again: bool = True,
    ) -> tuple[int, bytes]:
        """Returns the status and the body of the answer.

        With `fresh` a new connection is opened. If a kept connection breaks, the request is sent again, unless `again`
        is False.
        """
        kept = None if fresh else self._kept()
        if kept is not None:
            try:
                return self._exchange(kept, verb, path, body, headers, timeout_s)
            except TimeoutError:
                raise
            except (OSError, http.client.HTTPException):
                # The server has closed the connection meanwhile, or another server has its address now.
                if not again:
                    raise
        return self._exchange(self._open(), verb, path, body, headers, timeout_s)

    def _exchange(
        self,
        connection: http.client.HTTPConnection,
        verb: str,
        path: str,
        body: bytes,
        headers: dict[str, str],
        timeout_s: float,
    ) -> tuple[int, bytes]:
        try:
            connection.timeout = timeout_s
            if connection.sock is not None:
                connection.sock.settimeout(timeout_s)
            connection.request(verb, path, body, headers)
            response = connection.getresponse()
            answer = response.read(self._longest)
            if not response.isclosed():
                raise http.client.IncompleteRead(answer)
        except BaseException:
            # The rest of this answer must not be taken for the next answer.
            connection.close()
            raise
        if response.will_close or self._idle:
            connection.close()
        else:
            self._idle.append((os.getpid(), connection))
        return response.status, answer

    def _open(self) -> http.client.HTTPConnection:
        if self._ssl is None:
            return http.client.HTTPConnection(self._host, self._port)
        return http.client.HTTPSConnection(self._host, self._port, context=self._ssl)

    def _kept(self) -> http.client.HTTPConnection | None:
        while self._idle:
            try:
                pid, connection = self._idle.pop()
            except IndexError:
                # Another thread was faster.
                break
            if pid == os.getpid():
                return connection
            # A forked child closes its copy, and the parent's stays open.
            connection.close()
        return None

    def __del__(self) -> None:
        for _, connection in getattr(self, "_idle", ()):
            connection.close()


def trusted(ssl_context: ssl.SSLContext | None, encrypted: bool, scheme: str) -> ssl.SSLContext | None:
    """Returns the TLS context of a store: by default one with the system's authorities, None without encryption."""
    if ssl_context is not None and not encrypted:
        raise ValueError(f"an ssl_context is for {scheme}:// alone")
    return ssl_context or (ssl.create_default_context() if encrypted else None)


def checked_timeout(timeout_s: float) -> float:
    """Returns a timeout in seconds, if it is one."""
    if not (math.isfinite(timeout_s) and timeout_s > 0):
        raise ValueError(f"timeout_s is a number of seconds above 0, not {timeout_s}")
    return timeout_s
