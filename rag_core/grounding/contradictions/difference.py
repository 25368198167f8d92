"""Whether two statements say the same thing with another value; `subject` says whether they are about the same."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from rag_core.grounding.contradictions.statements import Statement, Value
from rag_core.language import Day

_HALF_DAY = 720  # minutes
_MIN_SAID = 2  # words beside the value: "Page 3" and "Total: 5" say too little to be contradicted


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
