"""Finds what a value is attached to: "30 days after signature" is not "30 days after delivery", though both say 30 days.

In a sentence that stands in the evidence nearly word for word, a value in the place of another is in a wrong role, wherever else the
evidence has it. Nothing is said of values whose surroundings differ too much to be compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rag_core.facts.align import Aligned, Gap, Sentence
from rag_core.facts.dates import Date, Time, Weekday
from rag_core.facts.laws import Law
from rag_core.facts.lexicon import dimension, value_words
from rag_core.facts.names import Name, canonical_code
from rag_core.facts.numbers import Quantity
from rag_core.facts.values import Values

Value = Date | Law | Time | Name | Quantity | Weekday


def substituted_values(aligned: Aligned, mine: Values, theirs: Values, lang: str) -> Iterator[tuple[str, str]]:
    """The values of a claim that stand in the place of others, as (kind, text): role, unit, law or code.

    Args:
        aligned: a sentence of the claim beside its nearest one of the evidence.
        mine: the values of the whole claim.
        theirs: those of the whole evidence.
        lang: of both.
    """
    apart = [gap for gap in aligned.gaps if not gap.is_long]
    here = [_in(all_values(mine), aligned.mine, gap.i, gap.j) for gap in apart]
    there = [_in(all_values(theirs), aligned.theirs, gap.k, gap.m) for gap in apart]
    claimed = [value for row in here for value in row]
    inner = [gap for gap in aligned.gaps if gap.i < gap.j or 0 < gap.i < len(aligned.mine.tokens)]
    stated = [value for gap in inner for value in _in(all_values(theirs), aligned.theirs, gap.k, gap.m)]
    stated += [day for gap in aligned.gaps for day in _in(theirs.dates, aligned.theirs, gap.k, gap.m)]  # no day is said twice by chance
    for gap, row, others in zip(apart, here, there, strict=True):
        left = [other for other in others if not any(equal_values(value, other) for value in row)]
        for value in row:
            # a value that has only changed its place is none in the place of another, unless both have changed places
            moved = any(equal_values(value, other) for other in stated)
            wrong = [other for other in left if replaces(value, other) and (not moved or any(equal_values(one, other) for one in claimed))]
            if wrong and not any(equal_values(value, other) for other in others):
                yield _kind(value, wrong[0]), value.text
        if not row:
            yield from _replaced_units(aligned, gap, any(isinstance(other, Quantity) and other.unit for other in others), lang)


def all_values(values: Values) -> list[Value]:
    """All that a text states in values, by sort."""
    return [*values.dates, *values.laws, *values.times, *values.codes, *values.quantities, *values.weekdays]


def _in(values: Sequence[Value], sentence: Sentence, start: int, end: int) -> list[Value]:
    """The values of which a word stands between two places of a sentence."""
    if start == end:
        return []
    first, last = sentence.tokens[start].start, sentence.tokens[end - 1].end
    return [value for value in values if value.start < last and first < value.end]


def equal_values(one: Value, other: Value) -> bool:
    """Whether two values agree, as far as both are stated."""
    match one, other:
        case Quantity(), Quantity():
            named = one.value in (other.value, *other.parts) and one.unit in ("", other.unit)
            return named or one.exact == other.exact or (other.is_year and one.has_year(other.value))
        case Date(), Date():
            return any(day.within(reading) or reading.within(day) for day in one.readings for reading in other.readings)
        case Time(), Time():
            return one.agrees(other)
        case Law(), Law():
            return one.family == other.family and all(part == also for part, also in zip(one.parts, other.parts, strict=False))
        case Weekday(), Weekday():
            return one.day == other.day
        case Name(), Name():
            return canonical_code(one.text) == canonical_code(other.text)
    return False


def replaces(one: Value, other: Value) -> bool:
    """Whether a value may stand for another one: both of a kind, numbers of one dimension or of one amount."""
    if isinstance(one, Quantity) and isinstance(other, Quantity):
        alike = one.is_year == other.is_year and one.ordinal == other.ordinal
        return alike and (one.value == other.value or dimension(one.unit) == dimension(other.unit))
    return type(one) is type(other)


def _kind(value: Value, other: Value) -> str:
    if isinstance(value, Quantity) and isinstance(other, Quantity) and value.value == other.value:
        return "unit"
    return {Law: "law", Name: "code"}.get(type(value), "role")


def _replaced_units(aligned: Aligned, gap: Gap, of_number: bool, lang: str) -> Iterator[tuple[str, str]]:
    """Units in the place of others: apart from their number ("20 vacation days"), and unknown words for a unit (`of_number`) behind it."""
    units, mine, theirs = value_words(lang).units, aligned.mine.tokens[gap.i : gap.j], aligned.theirs.tokens[gap.k : gap.m]
    named = {token.folded: units[token.folded] for token in mine if token.folded in units}
    others = {units[token.folded] for token in theirs if token.folded in units}
    yield from (("unit", word) for word, unit in named.items() if others and unit not in others)
    behind = of_number and bool(mine) and gap.i > 0 and aligned.mine.tokens[gap.i - 1].text[0].isdecimal()
    if behind and not named and theirs and theirs[0].folded in units and mine[0].folded[0] != theirs[0].folded[0] and not mine[0].light:
        yield "unit", mine[0].text  # "Std." may be short for "Stunden"
