"""A store on an etcd cluster."""

import http.client
import json
import math
import re
import ssl
import time
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple, cast
from urllib.parse import unquote, urlsplit

from snowmint._errors import InvalidStoreError, StoreUnavailableError
from snowmint.stores._http import Peer, checked_timeout, trusted
from snowmint.stores._store import MAX_COUNT, full, prefixed, refuse_green_threads

_PAGE = 1000
"""The most records of an answer."""
_LONGEST = 8_000_000
"""The most bytes of an answer. A page of the longest records is 2,500,000 bytes."""
# A member without its cluster refuses at once instead of waiting.
_HEADERS = {"Content-Type": "application/json", "Grpc-Metadata-hasleader": "true"}
_AUTHENTICATE = "auth/authenticate"
# Codes of gRPC: INVALID_ARGUMENT, PERMISSION_DENIED, FAILED_PRECONDITION, UNAUTHENTICATED.
_WRONG_USER, _FORBIDDEN, _NO_USERS, _TOKEN_OVER = 3, 7, 9, 16
_OTHER_USERS = "etcdserver: revision of auth store is old"
"""The message about a token from before the users were changed."""

_URL = re.compile(r"(etcds?)://(?:((?:[^?%]|%[\da-fA-F]{2})*)@)?([^?@]*?)/?(?:\?prefix=([\w-][\w.-]{0,63}))?", re.ASCII)
_MEMBER = re.compile(r"(\[[\da-fA-F:.]+\]|[^\s:/#\[\]]+)(:\d{1,5})?", re.ASCII)


class _Pair(NamedTuple):
    """A key with its value, and the revision of the cluster that wrote it."""

    key: bytes
    value: bytes
    revision: int


# No key has this revision.
_NEVER = _Pair(b"", b"", MAX_COUNT)


class EtcdStore:
    """Records and counters on an etcd cluster, by its JSON gateway and without a client package.

        Snowflake(store=EtcdStore("etcd://etcd1,etcd2,etcd3"), namespace="orders")

    Members are asked one after the other, beginning with the one that answered last. Reads are linearizable, and each
    write compares the record that it replaces. A connection to each member is kept, and each process has its own.
    Proxies that the environment names are not used. Members must not run with `--unsafe-no-fsync`, which can lose
    confirmed writes and which a client cannot see, nor with `--enable-grpc-gateway=false`. A user needs the right to
    read and write the keys that begin with `snowmint/`, or with another prefix and a slash.

    The store has no clock.

    Args:
        url: `etcd://USER:PASSWORD@HOST:PORT,HOST:PORT`, or `etcds://` for TLS; the port is 2379 if missing. Write
            special characters in the user and the password as %XX. Keys begin with `snowmint/`, or with the name in
            `?prefix=NAME`.
        timeout_s: How long a call may take, over all members.
        ssl_context: Whom to trust, for `etcds`: the default is `ssl.create_default_context()`.

    Raises:
        ValueError: The URL has another form.
    """

    def __init__(self, url: str, *, timeout_s: float = 5, ssl_context: ssl.SSLContext | None = None) -> None:
        if not isinstance(url, str):
            raise TypeError('EtcdStore needs a URL such as "etcd://etcd1,etcd2,etcd3" as a str')
        self._timeout_s = checked_timeout(timeout_s)
        refuse_green_threads("EtcdStore")
        encrypted, self._user, self._members, self._prefix = _parts_of(url)
        trust = trusted(ssl_context, encrypted, "etcds")
        places = [urlsplit(f"//{member}") for member in self._members]
        self._peers = [Peer(place.hostname or "", place.port, trust, _LONGEST) for place in places]
        self._name = f"etcd at {','.join(self._members)}{prefixed(self._prefix)}"
        # The member that answered last.
        self._first = 0
        self._token: str | None = None

    def read(self, key: str) -> tuple[bytes, int] | None:
        """As `Store.read`."""
        found = self._get(self._key("records", key), self._deadline())
        return None if found is None else (found.value, _version(found))

    def write(self, key: str, value: bytes, expected_version: int) -> int | None:
        """As `Store.write`."""
        place, deadline = self._key("records", key), self._deadline()
        found = self._get(place, deadline)
        if found is not None and _version(found) != expected_version:
            return None
        if found is None and expected_version:
            # Still sends the request, because it shows whether the members accept writes.
            found = _NEVER
        revision = self._put(place, found, value, deadline)
        return None if revision is None else _version(_Pair(place, value, revision))

    def list(self, prefix: str) -> Sequence[tuple[str, bytes, int]]:
        """As `Store.list`."""
        directory, deadline = self._key("records", prefix), self._deadline()
        # The prefix ends in a slash, after which comes a 0.
        question: dict[str, Any] = {"range_end": _text(directory[:-1] + b"0"), "limit": _PAGE}
        listed: list[tuple[str, bytes, int]] = []
        start = directory
        while True:
            answer = self._ask("kv/range", {**question, "key": _text(start)}, deadline)
            page = _pairs(answer)
            for pair in page:
                name = pair.key[len(directory) :].decode()
                if "/" not in name:
                    listed.append((name, pair.value, _version(pair)))
            if not answer.get("more"):
                return listed
            # All pages show one revision.
            question.setdefault("revision", answer["header"]["revision"])
            start = page[-1].key + b"\0"

    def add(self, counter: str, delta: int, start: int) -> int:
        """As `Store.add`."""
        place, deadline = self._key("counters", counter), self._deadline()
        while True:
            found = self._get(place, deadline)
            if found is not None and not found.value.isdigit():
                raise StoreUnavailableError(f"{self}: the value at {place.decode()} is not a number")
            count = (start if found is None else int(found.value)) + delta
            if count > MAX_COUNT:
                raise full(self, counter)
            if self._put(place, found, b"%d" % count, deadline) is not None:
                return count
            # Another client was faster.

    def lower(self, counter: str, end: int, start: int) -> bool:
        """Sets a counter from `end` back to `start`; False if it is not at `end`."""
        place, deadline = self._key("counters", counter), self._deadline()
        found = self._get(place, deadline)
        # A second copy of the request would change nothing, as it compares the revision of the key too.
        return (
            found is not None
            and found.value == b"%d" % end
            and self._put(place, found, b"%d" % start, deadline) is not None
        )

    def clock_ms(self) -> int | None:
        """It has none."""
        return None

    def _key(self, kind: str, name: str) -> bytes:
        return f"{self._prefix}/{kind}/{name}".encode()

    def _deadline(self) -> float:
        return time.monotonic() + self._timeout_s

    def _get(self, key: bytes, deadline: float) -> _Pair | None:
        pairs = _pairs(self._ask("kv/range", {"key": _text(key)}, deadline))
        return pairs[0] if pairs else None

    def _put(self, key: bytes, found: _Pair | None, value: bytes, deadline: float) -> int | None:
        """Replaces the pair that was found. Returns the new revision, or None if the key has another pair by now.

        Sends the request once, to the member that has just answered: if the answer is lost, the write may be done.
        """
        compared = {"key": _text(key), "result": "EQUAL"}
        unchanged = [{**compared, "target": "MOD", "mod_revision": str(found.revision if found else 0)}]
        if found:
            # A restored backup may count to the same revision.
            unchanged.append({**compared, "target": "VALUE", "value": _text(found.value)})
        step = {"compare": unchanged, "success": [{"request_put": {"key": _text(key), "value": _text(value)}}]}
        answer = self._ask_member(self._first, "kv/txn", step, deadline, again=False)
        return int(answer["header"]["revision"]) if answer.get("succeeded") else None

    def _ask(self, path: str, question: Mapping[str, Any], deadline: float) -> dict[str, Any]:
        """Asks the members one after the other. Only for requests that may be repeated."""
        member, left = self._first, len(self._members)
        while True:
            now = time.monotonic()
            try:
                answer = self._ask_member(member, path, question, now + (deadline - now) / left)
            except StoreUnavailableError:
                left -= 1
                if not left:
                    raise
                member = (member + 1) % len(self._members)
            else:
                self._first = member
                return answer

    def _ask_member(
        self, member: int, path: str, question: Mapping[str, Any], deadline: float, *, again: bool = True
    ) -> dict[str, Any]:
        token = self._token
        if self._user and token is None:
            token = self._authenticate(member, deadline)
        code, answer = self._send(member, path, question, deadline, token, again)
        if self._user and (code == _TOKEN_OVER or answer.get("message") == _OTHER_USERS):
            # Nothing was changed.
            token = self._authenticate(member, deadline)
            code, answer = self._send(member, path, question, deadline, token, again)
        return self._checked(member, code, answer, (_WRONG_USER, _FORBIDDEN))

    def _authenticate(self, member: int, deadline: float) -> str:
        code, answer = self._send(member, _AUTHENTICATE, self._user, deadline)
        token: str = self._checked(member, code, answer, (_WRONG_USER, _FORBIDDEN, _NO_USERS))["token"]
        self._token = token
        return token

    def _checked(self, member: int, code: int, answer: dict[str, Any], invalid: Sequence[int]) -> dict[str, Any]:
        if code:
            kind = InvalidStoreError if code in invalid else StoreUnavailableError
            raise kind(f"{self}: {self._members[member]}: {answer.get('message')}")
        return answer

    def _send(
        self,
        member: int,
        path: str,
        question: Mapping[str, Any] | None,
        deadline: float,
        token: str | None = None,
        again: bool = True,
    ) -> tuple[int, dict[str, Any]]:
        """Returns the code of gRPC, 0 for success, and the answer."""
        headers = _HEADERS if token is None else {**_HEADERS, "Authorization": token}
        body = json.dumps(question).encode()
        left_s = deadline - time.monotonic()
        try:
            if left_s <= 0:
                raise TimeoutError
            status, text = self._peers[member].ask("POST", f"/v3/{path}", body, headers, left_s, again=again)
        except (OSError, http.client.HTTPException) as error:
            late = f"no answer within {max(math.ceil(left_s * 1000), 0)} ms"
            why = late if isinstance(error, TimeoutError) else f"{type(error).__name__}: {error}"
            raise StoreUnavailableError(f"{self}: {self._members[member]}: {why}") from error
        try:
            read: Any = json.loads(text)
        except ValueError:
            read = None
        found = cast("dict[str, Any]", read) if isinstance(read, dict) else {}
        if status == 200 and found:
            return 0, found
        return found.get("code", -1), {"message": f"status {status}", **found}

    def __str__(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"EtcdStore({self._name})"


def _text(data: bytes) -> str:
    return b64encode(data).decode()


def _pairs(answer: Mapping[str, Any]) -> list[_Pair]:
    """Returns the keys in an answer, which leaves out empty fields."""
    return [
        _Pair(b64decode(each["key"]), b64decode(each.get("value", "")), int(each["mod_revision"]))
        for each in answer.get("kvs", [])
    ]


def _version(pair: _Pair) -> int:
    """Returns a hash of revision and value, 1 to 2^53-1: a restored backup counts the same revisions again."""
    digest = sha256(b"%d:%s" % (pair.revision, pair.value)).digest()
    return int.from_bytes(digest[:8]) % (2**53 - 1) + 1


def _parts_of(url: str) -> tuple[bool, dict[str, str] | None, list[str], str]:
    """Returns whether it is encrypted, the user, each member with its port, and the prefix."""
    parts = _URL.fullmatch(url)
    members = [_MEMBER.fullmatch(member) for member in parts[3].split(",")] if parts else []
    if parts is None or None in members:
        # The message shows no part of the URL, as it may be of the password.
        raise ValueError(
            "the URL of an EtcdStore is etcd://USER:PASSWORD@HOST:PORT,HOST:PORT?prefix=NAME, or etcds:// for TLS: "
            "write what is special in user and password as %XX, and a name with a-z A-Z 0-9 . _ -"
        )
    name, _, password = (parts[2] or "").partition(":")
    user = {"name": unquote(name), "password": unquote(password)} if parts[2] else None
    places = [f"{member[1]}{member[2] or ':2379'}" for member in members if member]
    return parts[1] == "etcds", user, places, parts[4] or "snowmint"
