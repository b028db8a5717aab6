"""The text form of a layout: `unused:1,time:41,node:10,sequence:12;epoch=1735689600000;tick=1ms`."""

import re

from civil import parse_rfc3339
from errors import Refused
from layout import Field, Layout
from presets import PRESETS

# Sixteen digits hold 2^53-1, the greatest epoch and tick there is; longer numbers need not be computed.
_FIELD = re.compile(r"([a-z][a-z0-9_]{0,22}):([1-9][0-9]?)")
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,15}")
_TICK = re.compile(r"([1-9][0-9]{0,15})(ms|s)")


def parse(text: str) -> Layout:
    """The layout of a preset name or of a layout text; INVALID_LAYOUT for anything else."""
    head, *options = PRESETS.get(text, text).split(";")
    if len(options) not in (1, 2):
        raise Refused("INVALID_LAYOUT")
    fields = tuple(_field(item) for item in head.split(","))
    epoch_ms = _epoch_ms(_value(options[0], "epoch="))
    tick_ms = _tick_ms(_value(options[1], "tick=")) if len(options) == 2 else 1
    return Layout(fields, epoch_ms, tick_ms)


def canonical(layout: Layout) -> str:
    """The one text of a layout: epoch in Unix ms, tick in whole seconds where it is one, both always printed."""
    fields = ",".join(f"{field.name}:{field.bits}" for field in layout.fields)
    seconds, rest = divmod(layout.tick_ms, 1000)
    tick = f"{layout.tick_ms}ms" if rest else f"{seconds}s"
    return f"{fields};epoch={layout.epoch_ms};tick={tick}"


def _field(item: str) -> Field:
    match = _FIELD.fullmatch(item)
    if match is None:
        raise Refused("INVALID_LAYOUT")
    return Field(match[1], int(match[2]))


def _value(option: str, key: str) -> str:
    if not option.startswith(key):
        raise Refused("INVALID_LAYOUT")
    return option.removeprefix(key)


def _epoch_ms(value: str) -> int:
    if _INTEGER.fullmatch(value):
        return int(value)
    try:
        return parse_rfc3339(value)
    except ValueError as error:
        raise Refused("INVALID_LAYOUT") from error


def _tick_ms(value: str) -> int:
    match = _TICK.fullmatch(value)
    if match is None:
        raise Refused("INVALID_LAYOUT")
    return int(match[1]) * (1000 if match[2] == "s" else 1)
