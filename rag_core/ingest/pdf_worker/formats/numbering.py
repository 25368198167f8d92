"""The numbers that Word prints before paragraphs and keeps apart from their text: "2.2", "(b)", "IV."."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable

from .office import ON

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
MAX_LEVEL = 9  # levels of a list, as in Word
MAX_NUMBER = 100_000  # no list is longer
_PLACE = re.compile(r"%([1-9])")
_ROMAN = dict(  # what each sign counts
    zip("m cm d cd c xc l xl x ix v iv i".split(), (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1), strict=True)
)

# a level: its format, its text with %1 for the number of the first level, and where it starts
Kind = tuple[str, str, int]


class Numbering:
    """Counts the numbered paragraphs of one document, which are asked about in their order."""

    def __init__(self, numbering: ET.Element | None, based: Callable[[str], Iterable[ET.Element]]) -> None:
        self._based = based  # a style and those that it is based on
        lists = {_own(one, "abstractNumId"): _levels(one) for one in _all(numbering, "abstractNum")}
        self._lists: dict[str, tuple[str, dict[int, Kind]]] = {}
        self._restarts: dict[str, dict[int, int]] = {}
        for one in _all(numbering, "num"):
            of, own = value(one, "abstractNumId"), _own(one, "numId")
            self._lists[own] = of, lists.get(of, {})
            starts = {_int(_own(level, "ilvl")): value(level, "startOverride") for level in _all(one, "lvlOverride")}
            self._restarts[own] = {level: _int(start, MAX_NUMBER) for level, start in starts.items() if start}
        self._counts: dict[str, list[int | None]] = {}

    def label(self, paragraph: ET.Element) -> str | None:
        """The number that is printed before a paragraph; "" in a list without numbers, None outside any list."""
        own, level = self._list_of(paragraph.find(f"{WORD}pPr"))
        if own not in self._lists:
            return "" if own not in ("", "0") else None
        of, levels = self._lists[own]
        counts = self._counts.setdefault(of, [None] * MAX_LEVEL)
        for at, start in self._restarts.pop(own, {}).items():
            counts[at] = start - 1
        starts = [levels.get(at, ("decimal", "", 1))[2] for at in range(MAX_LEVEL)]
        counts[level] = min(MAX_NUMBER, (starts[level] - 1 if (before := counts[level]) is None else before) + 1)
        counts[level + 1 :] = [None] * (MAX_LEVEL - level - 1)
        format, text, _ = levels.get(level, ("bullet", "", 1))
        if format in ("bullet", "none"):
            return ""
        numbers = [start if count is None else count for count, start in zip(counts, starts, strict=True)]
        return _PLACE.sub(
            lambda place: _written(numbers[int(place[1]) - 1], levels.get(int(place[1]) - 1, ("decimal", "", 1))[0]),
            text,
        )

    def _list_of(self, properties: ET.Element | None) -> tuple[str, int]:
        """The list that a paragraph belongs to, by itself or by its style, and its level; "" for none."""
        own, level = "", ""
        for one in (properties, *(row.find(f"{WORD}pPr") for row in self._based(value(properties, "pStyle")))):
            found = one.find(f"{WORD}numPr") if one is not None and not own else None
            own, level = own or value(found, "numId"), level or value(found, "ilvl")
        return own, _int(level)


def _levels(of: ET.Element) -> dict[int, Kind]:
    return {
        _int(_own(one, "ilvl")): (
            value(one, "numFmt") or "decimal",
            value(one, "lvlText"),
            _int(value(one, "start") or "1", MAX_NUMBER),
        )
        for one in _all(of, "lvl")
    }


def _written(number: int, format: str) -> str:
    if "Letter" in format and number > 0:
        letter = chr(ord("a") + (number - 1) % 26) * min((number - 1) // 26 + 1, 10)
        return letter.upper() if format == "upperLetter" else letter
    if "Roman" in format and 0 < number < 4000:
        said = ""
        for sign, value in _ROMAN.items():
            said += sign * (number // value)
            number %= value
        return said.upper() if format == "upperRoman" else said
    return f"{number:02}" if format == "decimalZero" else str(number)


def _all(parent: ET.Element | None, name: str) -> list[ET.Element]:
    return [] if parent is None else parent.findall(f"{WORD}{name}")


def _own(element: ET.Element, name: str) -> str:
    return element.get(f"{WORD}{name}", "")


def value(properties: ET.Element | None, name: str) -> str:
    found = properties.find(f"{WORD}{name}") if properties is not None else None
    return "" if found is None else _own(found, "val")


def is_on(properties: ET.Element | None, *names: str) -> bool | None:
    """Whether any of these marks is switched on; None where none is there."""
    found = [properties.find(f"{WORD}{name}") for name in names] if properties is not None else []
    marks = [mark for mark in found if mark is not None]
    return any(mark.get(f"{WORD}val", "true") in ON for mark in marks) if marks else None


def _int(text: str, most: int = MAX_LEVEL - 1) -> int:
    return min(most, int(text)) if re.fullmatch(r"[0-9]{1,6}", text) else 0
