"""The words that limit a statement, by language: conditions, bounds, modals.

What each row is stands in `rag_core.language.statement_words.LimitRows`.
"""

from __future__ import annotations

from collections import Counter
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
    """One language's words as whole phrases: anywhere, or right before (`_before`) or behind (`_behind`) a place."""

    conditions: regex.Pattern[str]
    behind: regex.Pattern[str]
    kept: regex.Pattern[str]
    bounded: regex.Pattern[str]
    bounds_before: regex.Pattern[str]
    bounds_behind: regex.Pattern[str]
    restricts_before: regex.Pattern[str]
    within_before: regex.Pattern[str]
    within_behind: regex.Pattern[str]
    points_before: regex.Pattern[str]
    points_behind: regex.Pattern[str]
    points: regex.Pattern[str]
    bounds: regex.Pattern[str]
    eras: regex.Pattern[str]
    then: frozenset[str]
    joins: frozenset[str]
    relative: frozenset[str]
    modals: frozenset[str]
    modal: regex.Pattern[str]
    who: frozenset[str]
    all: frozenset[str]
    on: frozenset[str]
    of: frozenset[str]
    states: frozenset[str]
    openers: regex.Pattern[str]
    titles: regex.Pattern[str]
    see: frozenset[str]
    places: frozenset[str]
    refers: regex.Pattern[str]
    bears: regex.Pattern[str]
    besides: regex.Pattern[str]
    besides_behind: regex.Pattern[str]
    rates: regex.Pattern[str]
    rates_of_unit: regex.Pattern[str]
    rate_words: regex.Pattern[str]
    no_rates: regex.Pattern[str]
    exclusive: regex.Pattern[str]
    together: regex.Pattern[str]
    each: regex.Pattern[str]
    coming: regex.Pattern[str]
    past: regex.Pattern[str]
    reporting: regex.Pattern[str]
    source: regex.Pattern[str]
    source_behind: regex.Pattern[str]
    binding: regex.Pattern[str]
    modal_before_verb: bool

    def said(self, text: str) -> Counter[str]:
        """How often a text has each phrase, in small letters, by which a condition or exception is said."""
        patterns = (self.conditions, self.behind, self.kept, self.besides, self.besides_behind)
        return Counter(match.group().casefold() for pattern in patterns for match in pattern.finditer(text))


@cache
def limit_words(lang: str) -> LimitWords | None:
    """The words of a language; None where there is no list."""
    row = LANGUAGES[lang].limits if lang in LANGUAGES else None
    if row is None:
        return None
    bounds = row.bounds
    return LimitWords(
        conditions=_phrases(row.conditions),
        behind=_phrases(row.behind),
        kept=_phrases(row.kept),
        bounded=_phrases(row.bounded),
        bounds_before=_phrases(bounds, before=True),
        bounds_behind=_phrases(row.bounds_after, behind=True),
        restricts_before=_restricting((*bounds, *row.restricts), row.joining),
        within_before=_phrases(row.within, before=True),
        within_behind=_phrases(row.within, behind=True),
        points_before=_phrases(row.points, before=True),
        points_behind=_phrases(row.points_after, behind=True),
        points=_phrases((*row.points, *row.points_after, *row.points_kept)),
        bounds=_phrases((*bounds, *row.bounds_after)),
        eras=_phrases(row.eras),
        then=_folded(row.then),
        joins=_folded(row.joins),
        relative=_folded(row.relative),
        modal=_phrases(row.modal),
        who=_folded(row.who),
        modals=_folded(row.modals),
        all=_folded(row.all),
        on=_folded(row.on),
        of=_folded(row.of),
        states=frozenset(map(str.casefold, row.states)),
        openers=_phrases(row.openers),
        titles=_phrases(row.titles),
        see=_folded(row.see),
        places=_folded(row.places),
        refers=_phrases(row.refers),
        bears=_phrases(row.bears),
        besides=_phrases(row.besides),
        besides_behind=_phrases(row.besides_behind),
        rates=_phrases(row.rates),
        rates_of_unit=_phrases(row.rates_of_unit),
        rate_words=_phrases(row.rate_words),
        no_rates=_phrases(row.no_rates),
        exclusive=_phrases(row.exclusive),
        together=_phrases(row.together),
        each=_phrases(row.each),
        coming=_phrases(row.coming),
        past=_phrases(row.past),
        reporting=_phrases(row.reporting),
        source=_phrases(row.source),
        source_behind=_phrases(row.source_behind),
        binding=_phrases(row.binding),
        modal_before_verb=row.modal_before_verb,
    )


def _folded(row: Sequence[str]) -> frozenset[str]:
    return frozenset(map(fold, row))


def _alternatives(row: Sequence[str]) -> str:
    """The phrases of a row as alternatives, the longest first; empty for none."""
    phrases = sorted(dict.fromkeys(row), key=len, reverse=True)
    return "|".join((_STOP if phrase[0] == "," else "") + _GAP.join(map(_word, phrase.replace(",", "").split())) for phrase in phrases)


def _word(word: str) -> str:
    """A word in which a star stands for some letters, before it for at least one."""
    beginning, star, end = word.partition("*")
    letters = rf"[\p{{L}}\p{{M}}]{{{0 if beginning else 1},40}}" if star else ""
    return f"{regex.escape(beginning)}{letters}{regex.escape(end)}"


def _phrases(row: Sequence[str], *, before: bool = False, behind: bool = False) -> regex.Pattern[str]:
    found = _alternatives(row)
    start, end = (r"\s*+" if behind else _START), (r"\s*$" if before else _END)
    return regex.compile(f"{start}(?:{found}){end}", regex.IGNORECASE) if found else _NEVER


def _restricting(bounds: Sequence[str], joining: Sequence[str]) -> regex.Pattern[str]:
    """Right before a value: a bound with what joins it to the noun that it restricts ("of more than")."""
    found, joined = _alternatives(bounds), _alternatives(joining)
    return regex.compile(rf"{_START}(?:(?:{joined}){_GAP})?(?:{found})\s*$", regex.IGNORECASE) if joined else _NEVER
