"""The plan of faults: a function of seed, engine and length of a run."""

import random
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "stop", "kill", "close", "clock", "fork", "cut", "delay", "lose", "refuse", "crash", "hang", "restart", "full"
]

FAULTS: dict[Kind, str] = {
    "stop": "a process stands still (SIGSTOP), also beyond its window",
    "kill": "a process dies (SIGKILL), and starts again",
    "close": "a process ends by SIGTERM, and starts again",
    "clock": "the clock of a process is set, and later set right",
    "fork": "a worker forks, and its child mints too",
    "cut": "all connections of a process are reset",
    "delay": "requests and answers of a process arrive late",
    "lose": "the requests of a process arrive, and the answers are lost",
    "refuse": "a process cannot connect",
    "crash": "all processes of the store's server die (SIGKILL), and it recovers",
    "hang": "all processes of the store's server stand still",
    "restart": "the store's server ends cleanly, and starts again",
    "full": "the disk is full",
}

OF_PROCESSES: dict[Kind, int] = {"stop": 10, "kill": 10, "close": 3, "clock": 8, "fork": 5}
OF_NETWORK: dict[Kind, int] = {"cut": 5, "delay": 4, "lose": 6, "refuse": 3}
OF_SERVER: dict[Kind, int] = {"crash": 5, "hang": 3, "restart": 2}
OF_DISK: dict[Kind, int] = {"full": 4}

CALM_S = 1.5
"""How long a run lasts before its first fault, and after the last one begins."""


@dataclass(frozen=True)
class Fault:
    """A fault.

    Attributes:
        at_s: When it begins, from the start of the run.
        kind: The kind of the fault, a key of `FAULTS`.
        target: Chooses the process: this number modulo the number of processes that it can hit.
        lasts_s: How long it lasts.
        amount: By how many seconds a clock is set, or requests and answers are delayed.
    """

    at_s: float
    kind: Kind
    target: int
    lasts_s: float
    amount: float


def plan(seed: int, engine: str, seconds: float, gap_s: float) -> list[Fault]:
    """Returns the faults of a run.

    Args:
        seed: The seed.
        engine: The engine, by its name.
        seconds: The length of the run.
        gap_s: The mean time between two faults.
    """
    weights = dict(OF_PROCESSES)
    if engine in ("file", "sqlite"):
        weights |= OF_DISK
    else:
        weights |= OF_NETWORK | OF_SERVER
    if engine == "file":
        # The client of services is all that has a connection there.
        weights |= {"cut": 1, "lose": 1}
    kinds = list(weights)
    chance = random.Random(f"{seed} {engine}")
    faults: list[Fault] = []
    at_s = CALM_S
    while True:
        at_s += chance.expovariate(1 / gap_s)
        kind = chance.choices(kinds, [weights[kind] for kind in kinds])[0]
        target = chance.randrange(2**16)
        lasts_s, amount = _measure(kind, chance)
        if at_s > seconds - CALM_S:
            return faults
        faults.append(Fault(round(at_s, 3), kind, target, round(lasts_s, 3), round(amount, 3)))


def _measure(kind: Kind, chance: random.Random) -> tuple[float, float]:
    """Returns how long a fault lasts, and its amount."""
    amount = 0.0
    if kind == "stop":
        # Windows last one second: the process wakes before the renewal, around the end, or long after it.
        lasts_s = chance.choice([chance.uniform(0.05, 0.4), chance.uniform(0.7, 1.3), chance.uniform(1.8, 3.2)])
    elif kind == "clock":
        lasts_s = chance.uniform(0.5, 2.0)
        ahead, back = chance.uniform(0.05, 2.5), -chance.uniform(0.05, 3.0)
        amount = chance.choice([ahead, back, back, -chance.uniform(60, 3600)])
    elif kind == "delay":
        lasts_s, amount = chance.uniform(0.5, 1.5), chance.choice([0.02, 0.2, 0.7])
    elif kind == "hang":
        lasts_s = chance.choice([chance.uniform(0.1, 0.6), chance.uniform(1.2, 2.0)])
    elif kind in ("lose", "refuse", "full"):
        lasts_s = chance.uniform(0.2, 1.5)
    else:
        # The pause between the end of a process and its start.
        lasts_s = chance.uniform(0, 0.4)
    return lasts_s, amount
