"""Leases and numbers from a service."""

import json
import ssl
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import quote, urlsplit

from snowmint._errors import (
    ExhaustedError,
    InvalidStoreError,
    NodesExhaustedError,
    SnowmintError,
    StoreUnavailableError,
)
from snowmint._snowmint import SERVICE_NOT_SNOWMINT, SERVICE_REFUSALS, SERVICE_TOKEN_REFUSED
from snowmint.stores._http import Peer, checked_timeout, trusted
from snowmint.stores._service import Service
from snowmint.stores._store import LessorGrant, Renewal, refuse_green_threads

_CLASSES: dict[Any, type[SnowmintError]] = {
    kind.code: kind for kind in SnowmintError.__subclasses__() if kind.code in SERVICE_REFUSALS
}
_LONGEST = 65_536
"""The most bytes of an answer. A thousand numbers are 24,000 bytes."""


class HttpStore:
    """Leases and numbers from a running `snowmint serve`.

    It is for machines that reach no database or have no clock to trust.

        store = HttpStore("https://ids.example:8080", token)
        Snowflake(store=store, namespace="orders")
        Sequences(store).next("invoices")

    Windows are of the service's time, and generators go by that: by what its answers say, and this machine's clock
    since boot in between. A wrong wall clock, or a clock that is set, makes no difference; `status().skew_ms` is its
    error in ms. The service may cut `window_ms`. A connection is kept, opened again when it breaks, and each process
    has its own. Proxies that the environment names are not used.

    The service takes numbers from its own stores: `Segments` of a tag that exists there, `Sequences`, `Formatted`,
    `Tickets` of this store alone, and `users` without the options of an allocator.

    Args:
        url: `http://HOST:PORT` or `https://HOST:PORT`, perhaps with a path that the service's begin with.
        token: The service's, if it wants one.
        timeout_s: How long to wait for a connection and for each answer.
        ssl_context: Whom to trust, for `https`: the default is `ssl.create_default_context()`;
            `ssl.create_default_context(cafile=PATH)` trusts the certificates of a file.

    Raises:
        ValueError: The URL has another form, or the token has a character that tokens cannot have.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout_s: float = 5,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        if not isinstance(url, str) or not isinstance(token, str | None):
            raise TypeError('HttpStore needs a URL such as "http://ids:8080" and a token, each as a str')
        self._timeout_s = checked_timeout(timeout_s)
        refuse_green_threads("HttpStore")
        encrypted, host, port, self._path, place = _place_of(url)
        self.url: str = place
        self._peer = Peer(host, port, trusted(ssl_context, encrypted, "https"), _LONGEST)
        self._headers = {"Content-Type": "application/json"}
        if token is not None:
            if not token or not all("!" <= letter <= "~" for letter in token):
                raise ValueError("a token is of visible ASCII characters alone")
            self._headers["Authorization"] = f"Bearer {token}"

    def claim(
        self,
        namespace: str,
        nonce: str,
        layout: str,
        label: str,
        window_ms: int,
        max_ahead_ms: int,
        *exclude: int,
        node: int | None = None,
        nodes: str | None = None,
    ) -> LessorGrant:
        """As `Lessor.claim`."""
        lease = self._ask(
            "POST",
            namespace,
            "",
            nonce=nonce,
            layout=layout,
            label=label,
            window_ms=window_ms,
            max_ahead_ms=max_ahead_ms,
            exclude=exclude,
            node=node,
            nodes=nodes,
        )
        try:
            window = lease["window"]
            return LessorGrant(
                lease["node"], window["start"], window["end"], lease["window_ms"], lease["server_time_ms"]
            )
        except (KeyError, TypeError):
            raise self._odd("no lease") from None

    def renew(
        self, namespace: str, nonce: str, node: int, unused_from_ms: int, window_ms: int, max_ahead_ms: int
    ) -> Renewal:
        """As `Lessor.renew`."""
        renewed = self._ask(
            "PUT",
            namespace,
            f"/{node}",
            nonce=nonce,
            unused_from_ms=unused_from_ms,
            window_ms=window_ms,
            max_ahead_ms=max_ahead_ms,
        )
        try:
            return Renewal(renewed["window"]["start"], renewed["window"]["end"], renewed["server_time_ms"])
        except (KeyError, TypeError):
            raise self._odd("no window") from None

    def release(self, namespace: str, nonce: str, node: int, unused_from_ms: int) -> None:
        """As `Lessor.release`."""
        self._ask("DELETE", namespace, f"/{node}", nonce=nonce, unused_from_ms=unused_from_ms)

    def check(self, namespace: str) -> None:
        """Checks that the service answers for a namespace, and accepts the token. Claims nothing.

        Raises:
            StoreUnavailableError: It does not answer.
            InvalidStoreError: It refuses the token.
        """
        self._ask("GET", namespace, "")

    def clock_ms(self) -> int:
        """As `Store.clock_ms`: the service's clock."""
        now_ms = self._send("GET", "status")[1].get("server_time_ms")
        if not isinstance(now_ms, int):
            raise self._odd("no time")
        return now_ms

    @property
    def number_service(self) -> Service:
        """Numbers that the service takes."""
        return Service(self._send, self._odd)

    def _ask(self, verb: str, namespace: str, place: str, /, **wanted: Any) -> dict[str, Any]:
        return self._send(verb, f"namespaces/{quote(namespace, safe='')}/leases{place}", wanted)[1]

    def _send(
        self,
        verb: str,
        path: str,
        wanted: Mapping[str, Any] | None = None,
        /,
        *,
        once: bool = False,
        may_miss: bool = False,
    ) -> tuple[int, dict[str, Any]]:
        body = json.dumps(wanted).encode() if wanted else b""
        path = f"{self._path}/v1/{path}"
        # Others can be made twice: a nonce identifies them, or their numbers are skipped.
        status, answer = self._peer.ask(verb, path, body, self._headers, self._timeout_s, fresh=once)
        try:
            read: Any = json.loads(answer)
        except ValueError:
            read = None
        found = cast("dict[str, Any]", read) if isinstance(read, dict) else {}
        code = found.get("code")
        if 200 <= status < 300 or (status == 409 and code == "CONFLICT"):
            return status, found
        if may_miss and status == 404 and code == "NOT_FOUND":
            return status, found
        raise self._refusal(status, found)

    def _refusal(self, status: int, found: dict[str, Any]) -> SnowmintError:
        if status == 401:
            return InvalidStoreError(f"{self}: {SERVICE_TOKEN_REFUSED}")
        try:
            # A retry does not help a token that may not do this.
            unknown = InvalidStoreError if status == 403 else StoreUnavailableError
            refusal = _CLASSES.get(found["code"], unknown)(f"{self}: {found['detail']}")
            if isinstance(refusal, ExhaustedError | NodesExhaustedError):
                refusal.retry_after_ms = found.get("retry_after_ms")
        except (KeyError, TypeError):
            return self._odd(f"status {status}")
        return refusal

    def _odd(self, answer: str) -> StoreUnavailableError:
        return StoreUnavailableError(f"{self}: {SERVICE_NOT_SNOWMINT.replace('{answer}', answer)}")

    def __str__(self) -> str:
        return f"the service at {self.url}"

    def __repr__(self) -> str:
        return f"HttpStore({self.url!r})"


def _place_of(url: str) -> tuple[bool, str, int | None, str, str]:
    """Whether it is encrypted, host, port, path, and all as a URL. The wrong value is not shown: it may be a secret."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError("the URL of an HttpStore is not valid: it is http://HOST:PORT or https://HOST:PORT") from None
    if parts.scheme not in ("http", "https") or not host:
        raise ValueError("the URL of an HttpStore is http://HOST:PORT or https://HOST:PORT")
    if "@" in parts.netloc:
        raise ValueError("the URL of an HttpStore has no user and password: pass the token")
    if "?" in url or "#" in url or not all("!" <= letter <= "~" for letter in parts.path):
        raise ValueError("the URL of an HttpStore has no ? or #, and a path of visible ASCII characters if any")
    path = parts.path.rstrip("/")
    return parts.scheme == "https", host, port, path, f"{parts.scheme}://{parts.netloc}{path}"
