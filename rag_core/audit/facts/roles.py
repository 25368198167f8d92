"""What a value is attached to: "30 days after signature" is not "30 days after delivery", though both say 30 days.

In a sentence that stands in the evidence nearly word for word, a value in the place of another is in a wrong role, wherever else the
evidence has it. Nothing is said of values whose surroundings differ too much to be compared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from rag_core.audit.facts.align import Aligned, Gap, Sentence
from rag_core.audit.facts.dates import Date, Weekday
from rag_core.audit.facts.laws import Law
from rag_core.audit.facts.names import Name, canonical_code
from rag_core.audit.facts.numbers import Quantity
from rag_core.audit.facts.times import Time
from rag_core.audit.facts.value_words import dimension, value_words
from rag_core.audit.facts.values import Values

Value = Date | Law | Time | Name | Quantity | Weekday


def replaced_values(aligned: Aligned, mine: Values, theirs: Values, lang: str) -> Iterator[tuple[str, str]]:
    """The values of a claim that stand in the place of others, as (kind, text): role, unit, law or code.

    Args:
        aligned: a sentence of the claim beside its nearest one of the evidence.
        mine: the values of the whole claim.
        theirs: those of the whole evidence.
        lang: of both.
    """
    for gap in aligned.gaps:
        if gap.is_long:
            continue
        here = _in(_all(mine), aligned.mine, gap.i, gap.j)
        there = _in(_all(theirs), aligned.theirs, gap.k, gap.m)
        left = [value for value in there if not any(_equal(one, value) for one in here)]
        wrong = [
            (value, other) for value in here for other in left if not any(_equal(value, one) for one in there) if _replaces(value, other)
        ]
        yield from ((_kind(value, other), value.text) for value, other in wrong)
        if not here:
            yield from _replaced_units(aligned, gap, lang)


def _all(values: Values) -> list[Value]:
    return [*values.dates, *values.laws, *values.times, *values.codes, *values.quantities, *values.weekdays]


def _in(values: Sequence[Value], sentence: Sentence, start: int, end: int) -> list[Value]:
    """The values of which a word stands between two places of a sentence."""
    if start == end:
        return []
    first, last = sentence.tokens[start].start, sentence.tokens[end - 1].end
    return [value for value in values if value.start < last and first < value.end]


def _equal(one: Value, other: Value) -> bool:
    match one, other:
        case Quantity(), Quantity():
            return (one.value in (other.value, *other.parts) and one.unit in ("", other.unit)) or one.exact == other.exact
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


def _replaces(one: Value, other: Value) -> bool:
    """Whether a value may stand for another one: both of a kind, numbers of one dimension or of one amount."""
    if isinstance(one, Quantity) and isinstance(other, Quantity):
        return one.is_year == other.is_year and (one.value == other.value or dimension(one.unit) == dimension(other.unit))
    return type(one) is type(other)


def _kind(value: Value, other: Value) -> str:
    if isinstance(value, Quantity) and isinstance(other, Quantity) and value.value == other.value:
        return "unit"
    return {Law: "law", Name: "code"}.get(type(value), "role")


def _replaced_units(aligned: Aligned, gap: Gap, lang: str) -> Iterator[tuple[str, str]]:
    """Units in the place of others that stand apart from their number: "20 vacation days"."""
    units = value_words(lang).units
    mine = {token.folded: units[token.folded] for token in aligned.mine.tokens[gap.i : gap.j] if token.folded in units}
    theirs: Collection[str] = {units[token.folded] for token in aligned.theirs.tokens[gap.k : gap.m] if token.folded in units}
    yield from (("unit", word) for word, unit in mine.items() if theirs and unit not in theirs)
