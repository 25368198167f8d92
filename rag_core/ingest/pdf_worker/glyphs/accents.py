"""Accents that a file draws over a letter as signs of their own, as TeX does with its old fonts: one letter again."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..words import Run, Word, lines_of

# what stands in a file, and the combining sign of it
COMBINING = dict(
    zip("`´ˆ˜¯˘˙¨˚˝ˇ¸", "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327", strict=True)
)
DOTLESS = {"ı": "i", "ȷ": "j"}
OVER = 0.5  # part of the narrower one by which an accent lies over its letter, and no quotation mark before it; chosen


def composed(runs: list[Run], letters: Callable[[], Sequence[dict[str, Any]]]) -> list[Run]:
    """The runs with each accent and the letter below it as one.

    `letters` gives MuPDF's blocks with each letter's box; asked only where a word has an accent before a letter.
    """
    if not any(sign in word.text[:-1] for run in runs for word in run.words for sign in COMBINING):
        return runs
    lines = {
        place: [letter for span in line["spans"] for letter in span["chars"] if not letter["c"].isspace()]
        for place, line in lines_of(letters()).items()
    }
    return [run._replace(words=_with_letters(run.words, lines.get(run.place, ()))) for run in runs]


def _with_letters(words: list[Word], letters: Sequence[Mapping[str, Any]]) -> list[Word]:
    said = "".join(word.text for word in words)
    if len(said) != len(letters):
        return words
    found, start = [], 0
    for word in words:
        text = ""
        for at, sign in enumerate(word.text, start):
            whole = at > start and _one(said[at - 1], sign)
            text = text[:-1] + whole if whole and _lies_over(letters[at - 1], letters[at]) else text + sign
        start += len(word.text)
        found.append(word._replace(text=text))
    return found


def _one(accent: str, letter: str) -> str:
    whole = unicodedata.normalize("NFC", DOTLESS.get(letter, letter) + COMBINING.get(accent, ""))
    return whole if accent in COMBINING and len(whole) == 1 else ""


def _lies_over(accent: Mapping[str, Any], letter: Mapping[str, Any]) -> bool:
    (x0, _, x1, _), (left, _, right, _) = accent["bbox"], letter["bbox"]
    return bool(min(x1, right) - max(x0, left) > OVER * min(x1 - x0, right - left))
