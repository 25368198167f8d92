"""What a sentence states, so far that two can be held against each other: its values, and every word that says something.

Knows nothing of documents: whether two statements are about the same thing is for `rag_core.draft.conflicts` to say.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property

import regex

from rag_core.audit.facts import changed_facts
from rag_core.audit.facts.dates import Date, dates
from rag_core.audit.facts.lexicon import lexicon
from rag_core.audit.facts.names import canonical_code, codes
from rag_core.audit.facts.numbers import Quantity, ascii_digits, quantities
from rag_core.language import LANGUAGES, fold, term, words
from rag_core.settings import DATA

_YEAR = regex.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_TO_NOUN = regex.compile(r"[^\S\n]*-?[^\S\n]*")  # between a number and what it counts; "3. Employees" counts nothing
_NOUN_WORDS = 3  # of what a number counts, shown with it
_LEAST_SAID = 2  # words beside the value: "Page 3" and "Total: 5" say too little to be contradicted


@dataclass(frozen=True, slots=True)
class WordLists:
    """One language's row of `data/contradictions.json`, folded; what each list means stands there."""

    light: frozenset[str]
    figures: frozenset[str]
    own: frozenset[str]
    labels: frozenset[str]
    headings: frozenset[str]


@cache
def word_lists() -> Mapping[str, WordLists]:
    """The word lists by language; a language without them is not compared."""
    rows = json.loads((DATA / "contradictions.json").read_text(encoding="utf-8"))
    return {
        code: WordLists(**{name: frozenset(map(fold, line.split())) for name, line in row.items()})
        for code, row in rows.items()
        if code != "note"
    }


@dataclass(frozen=True, slots=True)
class Value:
    """A value where it stands in a statement's text. Values of equal `kind` (unit and bound, or date) could replace each other.

    `shown` is the value as a reader needs it, with its unit or what it counts; empty where it states nothing that could be contradicted.
    """

    kind: tuple[str, ...]
    amount: object
    start: int
    end: int
    shown: str = ""


@dataclass(frozen=True)
class Statement:
    """One sentence in its reading form, and its language, one of `word_lists`."""

    source: str
    language: str

    @cached_property
    def text(self) -> str:
        """With ASCII digits; offsets as in `source`."""
        return ascii_digits(self.source)

    @cached_property
    def outline(self) -> frozenset[str]:
        """Terms of the words that say something and can be no part of a value. Equal for any two statements that differ in a value only."""
        left_out = _left_out(self.language)
        kept = [word.text for word in words(self.text) if fold(word.text) not in left_out]
        return frozenset(term(word, self.language) for word in kept if not any(char.isdigit() for char in word))

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """Dates, codes and numbers, in order."""
        days = dates(self.text, self.language)
        found = [Value(("date",), day.readings, day.start, day.end, self._yearless(day)) for day in days]
        taken = [(value.start, value.end) for value in found]
        for code in codes(self.text):
            if not any(code.start < end and start < code.end for start, end in taken):
                found.append(Value(("code", canonical_code(code.text)), code.text, code.start, code.end))
        taken = [(value.start, value.end) for value in found]
        found += [self._number(number) for number in quantities(self.text, self.language, taken)]
        return tuple(sorted(found, key=lambda value: value.start))

    @cached_property
    def said(self) -> frozenset[str]:
        """Terms of all words outside the values, but for those that may differ."""
        light = word_lists()[self.language].light
        outside = [word.text for word in words(self.text) if not any(v.start < word.end and word.start < v.end for v in self.values)]
        return frozenset(term(word, self.language) for word in outside if fold(word) not in light)

    @property
    def is_whole(self) -> bool:
        """Whether it may state something by itself: no question, and no part of a sentence that goes on."""
        return not self.text.rstrip().endswith(("?", ",", ";", ":"))

    @property
    def is_figure(self) -> bool:
        """Whether it tells what was in some period, or counts in millions, as against a rule that holds."""
        lists, scales = word_lists()[self.language], lexicon(self.language).scales
        return any(fold(word.text) in lists.figures or fold(word.text) in scales for word in words(self.text))

    @property
    def speaks_of_own(self) -> bool:
        """Whether it speaks of its document's own parties: "we", "the tenant"."""
        return any(fold(word.text) in word_lists()[self.language].own for word in words(self.text))

    @property
    def names_year(self) -> bool:
        """Whether it says itself which year it is about."""
        return bool(_YEAR.search(self.text))

    def _yearless(self, day: Date) -> str:
        return "" if any(reading.year for reading in day.readings) else self.source[day.start : day.end].strip(" .,")

    def _number(self, number: Quantity) -> Value:
        kind = ("number", number.unit, number.bound)
        if number.is_year or number.parts:
            return Value(("year" if number.is_year else "numbers",), number.value, number.start, number.end)
        shown = self.source[number.start : number.end] if number.unit else self._counted(number)
        return Value(kind, number.value, number.start, number.end, shown.strip(" ."))

    def _counted(self, number: Quantity) -> str:
        """A number without a unit, with the words for what it counts; empty where it counts nothing: "Section 5", "3. Employees"."""
        lists, info = word_lists()[self.language], LANGUAGES[self.language]
        before = [word for word in words(self.text) if word.end <= number.start]
        after = [word for word in words(self.text) if word.start >= number.end]
        if not before or fold(before[-1].text) in lists.labels:
            return ""
        end = number.end
        for word in after[:_NOUN_WORDS]:
            plain = word.text.lower() not in info.function_words and not any(char.isdigit() for char in word.text)
            if not plain or not _TO_NOUN.fullmatch(self.text[end : word.start]):
                break
            end = word.end
        return self.source[number.start : end] if end > number.end else ""


def difference(one: Statement, other: Statement) -> tuple[Value, Value] | None:
    """The one value in which two statements of the same language differ; None unless they agree in all else.

    All else: every word but the light ones, every other value, names, negations and operators. Unit and bound ("at least") must be the
    same, a number without a unit must count the same thing. A date must state no year: with one it is a day of some event or period.
    """
    if one.outline != other.outline or len(one.values) != len(other.values) or not (one.is_whole and other.is_whole):
        return None
    apart = [
        (mine, theirs)
        for mine, theirs in zip(one.values, other.values, strict=True)
        if (mine.kind, mine.amount) != (theirs.kind, theirs.amount)
    ]
    if len(apart) != 1 or one.said != other.said or len([word for word in one.said if len(word) > 1]) < _LEAST_SAID:
        return None
    mine, theirs = apart[0]
    if mine.kind != theirs.kind or not mine.shown or not theirs.shown:
        return None
    if mine.kind[0] == "number" and not mine.kind[1] and _noun(one, mine) != _noun(other, theirs):
        return None
    levelled = other.text[: theirs.start] + one.text[mine.start : mine.end] + other.text[theirs.end :]
    if changed_facts(one.text, levelled, one.language) or changed_facts(levelled, one.text, one.language):
        return None
    return mine, theirs


def _noun(statement: Statement, value: Value) -> str:
    return term(words(statement.text[value.end :])[0].text, statement.language)


@cache
def _left_out(language: str) -> frozenset[str]:
    """Folded words that may differ, and those that may be part of a value."""
    lex = lexicon(language)
    return word_lists()[language].light.union(lex.numbers, lex.scales, lex.units, lex.months)
