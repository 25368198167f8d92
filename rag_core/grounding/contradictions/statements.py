"""The statement of a sentence or of a table's cell: its values, and its other words; and how two of them differ.

Of tables rather silent than wrong: a row whose cells cannot be told to stand below those of the header states nothing,
nor does a bare number without a header; a list of contents has them. `subject` says whether two statements are about
the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import cache, cached_property, lru_cache
from itertools import pairwise

import regex

from rag_core.domain.rows import CELL, NEXT_ROW
from rag_core.facts.differences.values import values
from rag_core.facts.sentence.lexicon import exact_units, lexicon, value_words
from rag_core.facts.sentence.names import canonical_code
from rag_core.facts.sentence.numbers import Quantity
from rag_core.grounding.contradictions.word_lists import Telling, either, parted, telling, word_lists
from rag_core.language import LANGUAGES, ComparedWords, Date, Day, ascii_digits, fold, words

_YEAR = regex.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_TO_NOUN = regex.compile(r"[^\S\n]*-?[^\S\n]*")  # between a number and what it counts; "3. Employees" counts nothing
_RATE = regex.compile(r"\s?/\s?\p{L}+[²³]?")
_NOUN_WORDS = 3  # words that are shown of what a number counts
_NEAR = 2  # words beside a number in which it is said to be about right
_DIGIT = regex.compile(r"\d")
_MAX_WORDS = 8  # words of a cell that states a value; a longer one tells something, and is no cell of figures
_HALF_DAY = 720  # minutes
_MIN_SAID = 2  # words beside the value: "Page 3" and "Total: 5" say too little to be contradicted


@dataclass(frozen=True, slots=True)
class Value:
    """A value where it stands in a statement's text; those of equal `kind` could replace each other."""

    kind: tuple[str, ...]
    amount: object  # in the smallest unit that converts exactly
    start: int
    end: int
    shown: str = ""  # with its unit or what it counts; empty where it states nothing that could be contradicted
    counted: frozenset[str] = frozenset()  # terms; "25 vacation days" and "25 days of annual leave" count the same
    step: Decimal = Decimal(0)  # what its last digit is worth, 0 where it is exact
    unit: tuple[int, int] = (0, 0)  # from where to where its unit stands


@dataclass(frozen=True)
class Statement:
    """One sentence in its reading form, or one cell of a table with the words that say what it is of.

    `language` is one of `word_lists`. `cell` are the offsets of the cell, the only part to be contradicted, in
    `source`; empty for a sentence.
    """

    source: str
    language: str
    cell: tuple[int, int] = (0, 0)

    @cached_property
    def text(self) -> str:
        """With ASCII digits; offsets as in `source`."""
        return ascii_digits(self.source)

    @cached_property
    def telling(self) -> tuple[Telling, ...]:
        """The words that say something, in order."""
        return telling(self.text, self.language)

    @cached_property
    def outline(self) -> frozenset[str]:
        """Terms of telling words that are no part of a value: equal for statements that differ in one."""
        return frozenset(word.term for word in self.telling if self._no_value(word))

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """Dates, times, codes and numbers, in order."""
        read = values(self.text, self.language)
        found = [self._date(day) for day in read.dates]
        found += [Value(("time",), time.minutes, time.start, time.end, time.text.strip(" .")) for time in read.times]
        found += [Value(("code", canonical_code(code.text)), code.text, code.start, code.end) for code in read.codes]
        found += [self._number(number) for number in read.quantities]
        return tuple(self._settled(sorted(found, key=lambda value: value.start)))

    @cached_property
    def said(self) -> tuple[str, ...]:
        """Terms of all words that are no part of a value: "Urlaub" of "28 Urlaubstage" says what is counted."""
        taken = [(value.start, value.end) for value in self.values] + [value.unit for value in self.values]
        return tuple(
            word.term
            for word in self.telling
            if not any(start < word.end and word.start < end for start, end in taken) or self._is_counted(word)
        )

    def _no_value(self, word: Telling) -> bool:
        return word.word not in _parts_of_values(self.language) and not any(map(str.isdigit, word.word))

    def _is_counted(self, word: Telling) -> bool:
        inside = any(
            value.kind[0] == "number" and value.start <= word.start and word.end <= value.end for value in self.values
        )
        return inside and self._no_value(word)

    @property
    def is_whole(self) -> bool:
        """Whether it may state something by itself: no question, no part of a sentence that goes on, no example."""
        return not self.text.rstrip().endswith(("?", ",", ";", ":")) and not self.holds(self.lists.examples)

    @cached_property
    def is_figure(self) -> bool:
        """Whether it tells what was in some period, or counts in millions, as against a rule that holds."""
        marks = self.lists.figures | (self.lists.accounts if self.cell[1] else frozenset())
        return self.holds(marks.union(lexicon(self.language).scales))

    @property
    def lists(self) -> ComparedWords:
        return word_lists()[self.language]

    def holds(self, listed: Collection[str]) -> bool:
        return any(fold(word.text) in listed for word in words(self.text))

    def _date(self, day: Date) -> Value:
        """A day without a year, or a deadline, can be contradicted; else it is a day of some event or period."""
        years = {reading.year for reading in day.readings}
        deadline = self.holds(self.lists.deadlines) and not self.is_figure and len(years) == 1
        shown = self.source[day.start : day.end].strip(" .,") if years == {0} or deadline else ""
        return Value(("date", *map(str, years)), day.readings, day.start, day.end, shown)

    def _number(self, number: Quantity) -> Value:
        amount, step = _decimal(number)
        if number.is_year or number.ordinal or amount is None:
            return Value(("year" if number.is_year else "numbers",), number.value, number.start, number.end)
        noun, unit, place = self._noun(number)
        base, factor = exact_units().get(unit, (unit, Decimal(1)))
        counted = frozenset(word.term for word in noun if place[1] <= word.start or word.end <= place[0])
        end = max(number.end, place[1]) if unit else max((word.end for word in noun), default=number.end)
        if rate := _RATE.match(self.source, end):
            end = rate.end()
        return Value(
            kind=("number", base, "" if unit or not noun else noun[0].term),
            amount=amount * factor,
            start=number.start,
            end=number.end,
            shown=self.source[number.start : end].strip(" .") if unit or self._counts(number, end) else "",
            counted=counted if unit else frozenset(),
            step=step,
            unit=place,
        )

    def _noun(self, number: Quantity) -> tuple[list[Telling], str, tuple[int, int]]:
        """The noun that a number counts: at most so many words, its unit, and where that stands."""
        units, plain = value_words(self.language).units, LANGUAGES[self.language].function_words
        end, unit, place = number.end, number.unit, (number.end, number.end)
        linked, taken = False, 0
        for word in (word for word in parted(self.text, self.language) if word.start >= number.end):
            if (
                taken == _NOUN_WORDS
                or not _TO_NOUN.fullmatch(self.text[end : word.start])
                or any(map(str.isdigit, word.text))
            ):
                break
            folded = fold(word.text)
            if folded in self.lists.links and unit and not linked:
                linked = True
            elif not unit and len(folded) > 2 and folded in units:
                unit, place = units[folded], (word.start, word.end)
            elif word.text.lower() in plain or folded in units:
                break
            end, taken = word.end, taken + 1
        here = [one for one in self.telling if number.start <= one.start and one.end <= end]
        return [one for one in here if one.start >= number.end or self._no_value(one)], unit, place

    def _counts(self, number: Quantity, end: int) -> bool:
        """Whether a number counts what follows it, unlike "Section 5" and "3. Employees"; a cell may be alone."""
        before = [word for word in words(self.text) if self.cell[0] <= word.start and word.end <= number.start]
        named = bool(before) and fold(before[-1].text) in self.lists.labels
        return not named and (bool(self.cell[1]) or (bool(before) and end > number.end))

    def _settled(self, found: Sequence[Value]) -> Iterator[Value]:
        """The values, those shown that can be contradicted: no part of a range, nor about so much."""
        ranges = {
            place
            for n, (one, other) in enumerate(pairwise(found))
            if one.kind[0] == other.kind[0] and either().fullmatch(self.text[max(one.end, one.unit[1]) : other.start])
            for place in (n, n + 1)
        }
        for n, value in enumerate(found):
            outside = self.cell[1] and not self.cell[0] <= value.start < self.cell[1]
            yield replace(value, shown="") if n in ranges or outside or self._is_loose(value) else value

    def _is_loose(self, value: Value) -> bool:
        """Whether it is only about so much, or a figure's period: "the first six months of 2023"."""
        before = [word for word in words(self.text) if word.end <= value.start][-_NEAR:]
        periods = self.lists.periods if _YEAR.search(self.text) or self.is_figure else frozenset()
        return any(fold(word.text) in self.lists.about | periods for word in before)


@lru_cache(maxsize=1 << 11)
def statement(source: str, language: str, cell: tuple[int, int] = (0, 0)) -> Statement:
    """The statement of a text; one that was looked at for another question is not read again."""
    return Statement(source, language, cell)


def _decimal(number: Quantity) -> tuple[Decimal | None, Decimal]:
    """The value and what its last digit is worth; None where it is no plain number."""
    try:
        amount, base = Decimal(number.value), Decimal(number.base)
    except InvalidOperation:
        return None, Decimal(0)
    exponent = base.as_tuple().exponent
    return amount, Decimal(number.scale) * Decimal(10) ** min(0, exponent if isinstance(exponent, int) else 0)


@cache
def _parts_of_values(language: str) -> frozenset[str]:
    lex, words_of_values = lexicon(language), value_words(language)
    return frozenset().union(words_of_values.numbers, words_of_values.scales, words_of_values.units, lex.months)


def cell_statements(row: str, header: str, language: str) -> tuple[Statement, ...]:
    """One statement for each cell with a value, of bar-parted `row` under `header` rows by semicolons."""
    cells = row.split(CELL)
    named = regex.search(r"\p{L}", cells[0])
    label = " ".join(cell for n, cell in enumerate(cells) if not _DIGIT.search(cell) or (named and n == 0))
    if len(cells) < 2 or not cells[0] or not words(label):
        return ()
    columns, caption = _columns(header, len(cells), language)
    if columns is None and (header or len(cells) > 2):
        return ()
    found = []
    for n, cell in enumerate(cells):
        column = columns[n] if columns else ""
        if n and _DIGIT.search(cell) and len(words(cell)) <= _MAX_WORDS and _states(cell, column, language):
            before = " ".join(filter(None, (label, column, caption))) + ": "
            found.append(statement(before + cell, language, (len(before), len(before) + len(cell))))
    return tuple(found)


def _columns(header: str, count: int, language: str) -> tuple[Sequence[str] | None, str]:
    """The telling words above each cell, and above all, also of captions and units; None where they do not fit."""
    rows = [row.split(CELL) for row in header.split(NEXT_ROW) if row]
    caption = " ".join(row[0] for row in rows if len(row) == 1)
    over = [row if len(row) == count else ["", *row] for row in rows if len(row) in (count, count - 1) and len(row) > 1]
    first = next((n for n, row in enumerate(rows) if len(row) > 1), 0)
    below = [row[0] for row in rows[first:] if len(row) == 1]
    if (
        not over
        or len(over) + sum(len(row) == 1 for row in rows) < len(rows)
        or not all(text.startswith("(") for text in below)
    ):
        return None, caption
    plain = word_lists()[language].columns
    return [
        " ".join(word.text for row in over for word in words(row[n]) if fold(word.text) not in plain)
        for n in range(count)
    ], caption


def _states(cell: str, column: str, language: str) -> bool:
    """Whether a cell can be contradicted: a number with a column or a unit, of no page, step or line."""
    labels = word_lists()[language].labels
    return not any(fold(word.text) in labels for word in words(column)) and bool(
        column or regex.search(r"[\p{L}\p{Sc}%°]", cell)
    )


def difference(one: Statement, other: Statement) -> tuple[Value, Value] | None:
    """The one value in which two statements of the same language differ; None unless they agree in all else.

    All else: every word but the light ones, wordings of one thing as equal, and every other value. The unit must be the
    same; a number without one must count the same thing. A date must state no year or be a deadline: else it is a day
    of some event or period.
    """
    if one.outline != other.outline or not (one.is_whole and other.is_whole):
        return None
    apart = _apart(one.values, other.values)
    if apart is None or set(one.said) != set(other.said):
        return None
    mine, theirs = apart
    # two values of one kind must count the same thing, as far as both say
    apart_counts = mine.counted and theirs.counted and mine.counted.isdisjoint(theirs.counted)
    if not (mine.shown and theirs.shown) or apart_counts or _agree(mine, theirs, one.is_figure or other.is_figure):
        return None
    told = {term for term in (*one.said, *one.outline) if len(term) > 1 and not term.isdecimal()}
    return (mine, theirs) if len(told) >= _MIN_SAID else None


def _apart(mine: Sequence[Value], theirs: Sequence[Value]) -> tuple[Value, Value] | None:
    """The one value that differs, in order; out of order only where no other value could be meant."""
    if len(mine) != len(theirs):
        return None
    in_order = [pair for pair in zip(mine, theirs, strict=True) if _key(pair[0]) != _key(pair[1])]
    if len(in_order) == 1:
        return in_order[0] if in_order[0][0].kind == in_order[0][1].kind else None
    left, right = (
        [value for value in some if _key(value) not in [*map(_key, others)]]
        for some, others in ((mine, theirs), (theirs, mine))
    )
    if len(left) != 1 or len(right) != 1 or left[0].kind != right[0].kind:
        return None
    alone = all([value.kind for value in side].count(left[0].kind) == 1 for side in (mine, theirs))
    return (left[0], right[0]) if alone else None


def _key(value: Value) -> tuple[object, ...]:
    return value.kind, value.amount


def _agree(mine: Value, theirs: Value, figures: bool) -> bool:
    """Whether one value is the other less exactly: "June" and "30 June", of figures "5.2 million" and "5,234,000"."""
    if isinstance(mine.amount, frozenset) and isinstance(theirs.amount, frozenset):
        if mine.kind[0] == "time":
            hours, others = ({minute % _HALF_DAY for minute in amount} for amount in (mine.amount, theirs.amount))
            return not hours.isdisjoint(others)
        days: list[tuple[Day, Day]] = [(a, b) for a in mine.amount for b in theirs.amount]
        return any(a.within(b) or b.within(a) for a, b in days)
    if figures and isinstance(mine.amount, Decimal) and isinstance(theirs.amount, Decimal):
        return abs(mine.amount - theirs.amount) <= max(mine.step, theirs.step) / 2
    return False
