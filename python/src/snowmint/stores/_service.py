"""Numbers of a service, over HTTP."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol
from urllib.parse import quote

from snowmint._errors import StoreUnavailableError

DIGITS = re.compile(r"-?[0-9]{1,20}", re.ASCII)


class Ask(Protocol):
    """Sends a request to a path of the service, and returns the status and the answer.

    With `once` it never sends the request again. Refusals are raised, except for a conflict, and with `may_miss` for a
    name that does not exist.
    """

    def __call__(
        self,
        verb: str,
        path: str,
        wanted: Mapping[str, Any] | None = None,
        /,
        *,
        once: bool = False,
        may_miss: bool = False,
    ) -> tuple[int, dict[str, Any]]: ...


class Service:
    """The requests for numbers, which have the names of the service's document.

    A request for numbers can be sent twice, as its numbers are skipped.

    Args:
        ask: Sends a request.
        odd: Makes the error about an answer that no service gives, of its place.
    """

    def __init__(self, ask: Ask, odd: Callable[[str], StoreUnavailableError]) -> None:
        self._ask, self._odd = ask, odd

    def create_sequence(self, name: str, definition: Mapping[str, Any]) -> bool:
        """Defines a sequence; False if it exists, as a second request would find."""
        wanted = {option: value for option, value in definition.items() if value is not None}
        return self._ask("POST", f"sequences/{quote(name, safe='')}", wanted, once=True)[0] == 201

    def cycles(self, name: str) -> bool | None:
        """Whether a sequence cycles; None if it does not exist."""
        status, found = self._ask("GET", f"sequences/{quote(name, safe='')}", may_miss=True)
        if status == 404:
            return None
        cycle = found.get("cycle")
        if not isinstance(cycle, bool):
            raise self._odd("no sequence")
        return cycle

    def next_of_sequence(self, name: str, count: int) -> list[int]:
        """The next values of a sequence."""
        path = f"sequences/{quote(name, safe='')}/next?count={count}"
        return self._several(self._ask("POST", path)[1], count)

    def set_sequence(self, name: str, value: int, called: bool | None, round: int | None) -> int | None:
        """Sets the value of a sequence; None if it stays unchanged. A second request could repeat values."""
        setting = {"value": str(value), "called": called, "round": round}
        wanted = {option: given for option, given in setting.items() if given is not None}
        status, found = self._ask("POST", f"sequences/{quote(name, safe='')}/set", wanted, once=True)
        return None if status == 409 else self._number(found.get("id"))

    def take_tickets(self, name: str, count: int) -> list[int]:
        """Tickets of a name."""
        return self._several(self._ask("GET", f"tickets/{quote(name, safe='')}?count={count}")[1], count)

    def take_segment(self, tag: str, count: int) -> int:
        """The end of `count` numbers of a tag."""
        found = self._ask("GET", f"segments/{quote(tag, safe='')}?count={count}")[1]
        end = self._number(found.get("end"))
        if end - self._number(found.get("start")) != count:
            raise self._odd("another count of numbers")
        return end

    def next_of_user(self, set: str, user: int) -> int:
        """The next number of a user of a set."""
        return self._number(self._ask("POST", f"users/{quote(set, safe='')}/{user}/next")[1].get("id"))

    def _several(self, found: dict[str, Any], count: int) -> list[int]:
        ids: list[Any] = found["ids"] if isinstance(found.get("ids"), list) else []
        if len(ids) != count:
            raise self._odd("another count of numbers")
        return [self._number(id) for id in ids]

    def _number(self, digits: Any) -> int:
        if not isinstance(digits, str) or not DIGITS.fullmatch(digits):
            raise self._odd("no number")
        return int(digits)
