"""The words that limit a statement or may be left out of one, by language.

What each row is stands in `rag_core.language.statement_words.LimitRows`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import regex

from rag_core.language import LANGUAGES, fold

_NEVER = regex.compile(r"(?!)")
_START, _END = r"(?<![\p{L}\p{M}\p{N}])", r"(?![\p{L}\p{M}\p{N}])"
_STOP = r"(?<=^|[,;:.(]\s)"  # before a phrase
_GAP = r"[\s,]{1,3}+"  # between two words of a phrase


@dataclass(frozen=True, slots=True)
class LimitWords:
    """One language's words: whole phrases that stand anywhere in a text, and single folded words."""

    conditions: regex.Pattern[str]
    behind: regex.Pattern[str]
    kept: regex.Pattern[str]
    bounded: regex.Pattern[str]
    openers: regex.Pattern[str]
    titles: regex.Pattern[str]
    refers: regex.Pattern[str]
    bears: regex.Pattern[str]
    joins: frozenset[str]
    see: frozenset[str]
    places: frozenset[str]
    states: frozenset[str]


@cache
def limit_words(lang: str) -> LimitWords | None:
    """The words of a language; None where there is no list."""
    row = LANGUAGES[lang].limits if lang in LANGUAGES else None
    if row is None:
        return None
    return LimitWords(
        conditions=_phrases(row.conditions),
        behind=_phrases(row.behind),
        kept=_phrases(row.kept),
        bounded=_phrases(row.bounded),
        openers=_phrases(row.openers),
        titles=_phrases(row.titles),
        refers=_phrases(row.refers),
        bears=_phrases(row.bears),
        joins=_folded(row.joins),
        see=_folded(row.see),
        places=_folded(row.places),
        states=frozenset(map(str.casefold, row.states)),
    )


def _folded(row: Sequence[str]) -> frozenset[str]:
    return frozenset(map(fold, row))


def _phrases(row: Sequence[str]) -> regex.Pattern[str]:
    """Any phrase of a row, the longest first; nothing where there is none."""
    phrases = sorted(dict.fromkeys(row), key=len, reverse=True)
    found = "|".join((_STOP if phrase[0] == "," else "") + _GAP.join(map(_word, phrase.replace(",", "").split())) for phrase in phrases)
    return regex.compile(f"{_START}(?:{found}){_END}", regex.IGNORECASE) if found else _NEVER


def _word(word: str) -> str:
    """A word in which a star stands for some letters, before it for at least one."""
    beginning, star, end = word.partition("*")
    letters = rf"[\p{{L}}\p{{M}}]{{{0 if beginning else 1},40}}" if star else ""
    return f"{regex.escape(beginning)}{letters}{regex.escape(end)}"
