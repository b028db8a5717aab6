"""Text forms of an ID."""

from typing import Any

import pytest

from snowmint import InvalidIdError, InvalidTextError, text

WIDTHS = {"decimal": 20, "hex": 16, "base32": 13, "base36": 13, "base58": 11, "base62": 11}


def test_the_forms_are_these() -> None:
    assert text.FORMS == tuple(WIDTHS)


@pytest.mark.parametrize("form", text.FORMS)
def test_every_id_has_a_text_of_the_width_of_the_form_and_text_order_is_number_order(form: str) -> None:
    ids = [0, 1, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1]
    texts = [text.encode(id, form) for id in ids]
    assert {len(t) for t in texts} == {WIDTHS[form]}
    assert texts == sorted(texts)
    assert [text.decode(t, form) for t in texts] == ids


def test_a_negative_id_is_the_signed_form_of_the_same_bits() -> None:
    assert text.encode(-1, "hex") == "f" * 16
    assert text.encode(-(2**63), "hex") == "8" + "0" * 15


@pytest.mark.parametrize("id", [2**64, -(2**63) - 1, 10**40, -(10**40)])
def test_an_integer_beyond_64_bits_has_no_text(id: int) -> None:
    with pytest.raises(InvalidIdError):
        text.encode(id, "hex")


@pytest.mark.parametrize("form", ["", "base64", "HEX", "hex\0", "\ud800"])
def test_an_unknown_form_is_refused(form: str) -> None:
    with pytest.raises(InvalidTextError):
        text.encode(1, form)
    with pytest.raises(InvalidTextError):
        text.decode("0" * 16, form)


@pytest.mark.parametrize("form", text.FORMS)
@pytest.mark.parametrize("bad", ["", "\ud800", "\0", "é", "０", " ", "+", "x" * 1000])
def test_a_malformed_text_is_refused(form: str, bad: str) -> None:
    with pytest.raises(InvalidTextError):
        text.decode(bad, form)
    with pytest.raises(InvalidTextError):
        text.decode(text.encode(7, form)[1:] + bad, form)


@pytest.mark.parametrize("arguments", [(b"0" * 16, "hex"), (7, "hex"), (None, "hex"), ("0" * 16, None), ("0" * 16, 16)])
def test_other_types_are_type_errors(arguments: tuple[Any, Any]) -> None:
    with pytest.raises(TypeError):
        text.decode(*arguments)


@pytest.mark.parametrize("id", [True, 1.0, "1", None])
def test_what_is_no_int_has_no_text(id: Any) -> None:
    with pytest.raises(TypeError):
        text.encode(id, "hex")
