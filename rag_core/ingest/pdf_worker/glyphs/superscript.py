"""Writes what is set raised, lowered or stacked as what it is: "10²³", "H₂O", "2½", "5 3/16".

A sign that Unicode has raised or lowered is written so. Anything else raised at a figure follows "^" ("10^0.5"). A
fraction is one sign where Unicode has it ("2½"), and two figures with a slash, a blank before them, where it has none
("5 3/16"). Endings of ordinals stay letters ("20th"), and a small "o" before C or F is "°". What cannot be read with
certainty is U+FFFD: no sentence with such a figure is an answer.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from enum import Enum

UNKNOWN = "\ufffd"


class Level(Enum):
    """How signs stand to the text that they are set at."""

    PLAIN = "plain"
    RAISED = "raised"
    LOWERED = "lowered"
    SMALL = "small"  # on the same line, much smaller
    STACKED = "stacked"  # a fraction over a bar, written "3/4"
    DOUBTFUL = "doubtful"  # a figure over another, and no bar between them


Part = tuple[str, Level]

_RAISED = dict(
    zip("0123456789+-−–=()abcdefghijklmnoprstuvwxyz", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ", strict=True)
)
_LOWERED = dict(zip("0123456789+-−–=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌₍₎", strict=True))
_FRACTIONS = {  # the code points of Unicode's vulgar fractions
    unicodedata.normalize("NFKC", sign).replace("\u2044", "/"): sign
    for sign in map(chr, (*range(0xBC, 0xBF), *range(0x2150, 0x215F), 0x2189))
}
_ENDINGS = frozenset("st nd rd th er re e ème es".split())  # ordinals have these, in English and French
# raised behind a figure: "5º" of ordinals and angles, and a nought for a degree
_INDICATORS = {"a": "ª", "o": "º", "0": "°"}
_FRACTION = re.compile(r"(\d{1,4})[/\u2044\u2215](\d{1,4})")
_POWER = re.compile(r"(?=.*[\dn])[-+−–\d()=a-z]+|[a-z]")
_MARKS = re.compile(r"\d{1,3}(?:[,;]\d{1,3})+")  # marks of several footnotes
_DEGREES = re.compile(r"[CF](?![a-z])")


def written(parts: Iterable[Part]) -> str:
    """The text of signs side by side; a fraction without a sign of its own has a blank between it and a figure."""
    rest = _merged(parts)
    text = ""
    for at, (signs, level) in enumerate(rest):
        following = rest[at + 1][0] if at + 1 < len(rest) else ""
        if level is Level.PLAIN:
            text += signs
        elif level is Level.DOUBTFUL:
            text += UNKNOWN
        elif level is Level.STACKED or (level is Level.SMALL and _FRACTION.fullmatch(signs) and text[-1:].isdigit()):
            text = _with_fraction(text, signs)
        elif level is Level.RAISED:
            text += _raised(signs, text, following)
        elif level is Level.LOWERED and any(map(str.isdigit, signs)) and all(sign in _LOWERED for sign in signs):
            text += "".join(_LOWERED[sign] for sign in signs)
        else:
            text += signs
    return text


def power(signs: str) -> str:
    """Signs that are raised for certain: "²", and "^(n/2)" where Unicode has not all of them raised."""
    return "".join(map(_RAISED.__getitem__, signs)) if all(sign in _RAISED for sign in signs) else _behind("^", signs)


def index(signs: str) -> str:
    """Signs that are lowered for certain: "₂", and "_max" where Unicode has not all of them lowered."""
    return "".join(map(_LOWERED.__getitem__, signs)) if all(sign in _LOWERED for sign in signs) else _behind("_", signs)


def _behind(mark: str, signs: str) -> str:
    return f"{mark}{signs}" if re.fullmatch(r"[-+−–]?[\d.,]+|\w+", signs) else f"{mark}({signs})"


def _merged(parts: Iterable[Part]) -> list[Part]:
    """The parts, neighbours of one level as one; a raised figure, a slash and a lowered or small one as a fraction."""
    found: list[Part] = []
    for signs, level in parts:
        if found and found[-1][1] is level and level in (Level.PLAIN, Level.RAISED, Level.LOWERED, Level.SMALL):
            found[-1] = found[-1][0] + signs, level
        elif signs:
            found.append((signs, level))
    at = 0
    while at < len(found):
        fraction, length = _sloping(found, at)
        if length:
            found[at : at + length] = fraction
        at += 1
    return found


def _sloping(parts: list[Part], at: int) -> tuple[list[Part], int]:
    """The fraction whose numerator is part `at`, and of how many parts it is made; 0 where none begins there."""
    if parts[at][1] is not Level.RAISED:
        return [], 0
    for length in (3, 2):
        own = parts[at : at + length]
        if len(own) < length or own[-1][1] not in (Level.LOWERED, Level.SMALL):
            continue
        first, joint, last = own[0][0], "".join(signs for signs, _ in own[1:-1]), own[-1][0]
        match = _FRACTION.fullmatch(first + joint + last)
        if match:
            return [(f"{match[1]}/{match[2]}", Level.STACKED)], length
    return [], 0


def _with_fraction(text: str, fraction: str) -> str:
    sign = _FRACTIONS.get(fraction.replace("\u2044", "/").replace("\u2215", "/"))
    if sign:
        return text + sign
    return f"{text} {fraction}" if text[-1:].isdigit() else text + fraction


def _raised(signs: str, before: str, following: str) -> str:
    """Raised signs between the text before and after them."""
    at_figure = before[-1:].isdigit()
    if signs in ("o", "0", "º", "°") and _DEGREES.match(following) and (at_figure or not before):
        return "°"
    if signs in _INDICATORS and at_figure and signs != "0":
        return _INDICATORS[signs]
    if signs in _ENDINGS or signs[:1] in (".", ","):
        return signs
    if _FRACTION.fullmatch(signs):
        return UNKNOWN if at_figure else power(signs) if before[-1:].isalpha() else _with_fraction("", signs)
    if _MARKS.fullmatch(signs):
        return "".join(_RAISED.get(sign, sign) for sign in signs)
    if _POWER.fullmatch(signs) and (at_figure or any(map(str.isdigit, signs)) or (len(signs) == 1 and before)):
        return power(signs)
    return power(signs) if at_figure and signs[:1] in "-+−–0123456789" else signs
