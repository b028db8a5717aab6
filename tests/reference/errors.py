"""The error kinds, each known by the same upper-case code in every language."""

CODES: dict[str, str] = {
    "EXHAUSTED": "the numbers within reach of the clock are used up",
    "CLOCK_BACKWARDS": "the clock stands too far behind the last issued tick",
    "WINDOW_CLOSED": "the granted window has ended or was given back",
    "TIME_OVERFLOW": "the time lies beyond the last tick of the layout",
    "BEFORE_EPOCH": "the time lies before the epoch of the layout",
    "INVALID_LAYOUT": "the layout breaks a rule, or cannot do what was asked",
    "INVALID_NODE": "the node is out of range, incomplete or unknown",
    "INVALID_ID": "the ID, or a number that would go into one, is out of range",
    "INVALID_TEXT": "the text is not the fixed-width form of an ID",
    "NODES_EXHAUSTED": "every node of the namespace is taken",
    "STORE_UNAVAILABLE": "the store does not answer, or cannot be used at the moment",
    "INVALID_STORE": "the store cannot work as it is configured",
    "UNSAFE_STORE": "the settings of the store could lose acknowledged writes",
    "FORKED": "a forked child used the generator of its parent",
}


class Refused(Exception):
    """A typed refusal: a code. Two codes carry a number of ms as well (`retry_after_ms`, `by_ms`)."""

    def __init__(self, code: str, **detail: int) -> None:
        assert code in CODES, code
        super().__init__(f"{code} {detail}" if detail else code)
        self.code = code
        self.detail = detail
