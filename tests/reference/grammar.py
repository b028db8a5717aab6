"""The text form of a layout: `unused:1,version:5=16,time:32,sequence:12;epoch=1735689600000;tick=1ms`."""

import re

from civil import parse_rfc3339
from errors import Refused
from layout import MAX_SAFE_INTEGER, Field, Layout
from presets import PRESETS

# Sixteen digits hold 2^53-1, the greatest epoch and tick there is; longer numbers need not be computed.
_FIELD = re.compile(r"([a-z][a-z0-9_]{0,22}):([1-9][0-9]?)(?:=(0|[1-9][0-9]{0,19}))?")
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,15}")
_TICK = re.compile(r"([1-9][0-9]{0,15})(us|ms|s)")
_UNITS_US = {"us": 1, "ms": 1000, "s": 1_000_000}


def parse(text: str) -> Layout:
    """The layout of a preset name or of a layout text; INVALID_LAYOUT for anything else."""
    head, *options = PRESETS.get(text, text).split(";")
    if len(options) not in (1, 2):
        raise Refused("INVALID_LAYOUT")
    fields = tuple(_field(item) for item in head.split(","))
    epoch_ms = _epoch_ms(_value(options[0], "epoch="))
    tick_us = _tick_us(_value(options[1], "tick=")) if len(options) == 2 else 1000
    return Layout(fields, epoch_ms, tick_us)


def canonical(layout: Layout) -> str:
    """The one text of a layout: epoch in Unix ms, tick in the largest unit of which it is a multiple."""
    fields = ",".join(_field_text(field) for field in layout.fields)
    unit = next(name for name, length in reversed(_UNITS_US.items()) if layout.tick_us % length == 0)
    return f"{fields};epoch={layout.epoch_ms};tick={layout.tick_us // _UNITS_US[unit]}{unit}"


def _field_text(field: Field) -> str:
    return f"{field.name}:{field.bits}" + ("" if field.fixed is None else f"={field.fixed}")


def _field(item: str) -> Field:
    match = _FIELD.fullmatch(item)
    if match is None:
        raise Refused("INVALID_LAYOUT")
    return Field(match[1], int(match[2]), None if match[3] is None else int(match[3]))


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


def _tick_us(value: str) -> int:
    match = _TICK.fullmatch(value)
    # A number of each unit is a safe integer.
    if match is None or int(match[1]) > MAX_SAFE_INTEGER:
        raise Refused("INVALID_LAYOUT")
    return int(match[1]) * _UNITS_US[match[2]]
