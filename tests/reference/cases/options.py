"""options.json: the options of a generator."""

from cases import Case, result_of
from errors import Refused

COMMENT = (
    "An option of a generator and a value: a decimal string for a length of time in ms, a name for sequence_start. "
    "taken: the value that the generator has. error: the code, where it must fail."
)

LENGTHS = ("max_ahead_ms", "max_wait_ms")
STARTS = ("zero", "random", "carry")

TAKEN = {"0": 0, "1000": 1000, "2^53": 2**53, "2^63": 2**63}
REFUSED = {"-1": -1, "-10^40": -(10**40), "2^64": 2**64, "10^40": 10**40}
NO_STARTS = ("", "ZERO", "one", "0", "zero ", "carry\u0000", "z\u00e9ro")


def cases() -> list[Case]:
    lengths = [
        _case(f"{option} {name}", option, str(value), "INVALID_ID" if name in REFUSED else None)
        for option in LENGTHS
        for name, value in {**TAKEN, **REFUSED}.items()
    ]
    starts = [_case(f"sequence_start {name}", "sequence_start", name, None) for name in STARTS]
    refused = [_case(f"sequence_start {name!r}", "sequence_start", name, "INVALID_TEXT") for name in NO_STARTS]
    return [*lengths, *starts, *refused]


def _case(name: str, option: str, value: str, error: str | None) -> Case:
    def ask() -> Case:
        if option in LENGTHS and not 0 <= int(value) < 2**64:
            raise Refused("INVALID_ID")
        if option not in LENGTHS and value not in STARTS:
            raise Refused("INVALID_TEXT")
        return {"taken": value}

    return {"name": name, "option": option, "value": value, **result_of(name, ask, error)}
