"""The fate of an answer: two decisions on one question, compared by hashes of what they say and where."""

from __future__ import annotations

from typing import Any

from builders import contradicted, measurements
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.decision.decide import decide
from rag_core.records import DELETED
from rag_core.records.changes import Change, Seen, Shown, seen, shown, told

SAYS = "Employees have 25 days of vacation."
REFUSED = {"is_refusal": True, "language": "en", "answer": "", "value": None, "citations": [], "conflicts": []}


def answer(
    says: str = SAYS,
    value: str = "",
    *,
    page: int = 4,
    document: str = "handbook.pdf",
    language: str = "en",
    against: tuple[str, ...] = (),
) -> dict[str, Any]:
    """A decision's JSON: a sentence with a value in it, on a page whose text begins 100 characters before."""
    start = 100 + says.index(value)
    cited = {"id": 1, "document": document, "page": page, "excerpt": says, "spans": [{"page": page, "start": 100}]}
    found = {"text": value, "citation": 1, "page": page, "start": start, "end": start + len(value)} if value else None
    return {
        "is_refusal": False,
        "language": language,
        "answer": f"{says} [1]",
        "value": found,
        "citations": [cited],
        "conflicts": [{"values": list(against)}] if against else [],
    }


def became(before: dict[str, Any], now: dict[str, Any]) -> Change:
    return seen(before).change(seen(now))


@each(
    ("before", "now", "wanted"),
    [
        (answer(), answer(), Change.SAME),
        (REFUSED, REFUSED, Change.SAME),
        (answer(), REFUSED, Change.LOST),
        (REFUSED, answer(), Change.GAINED),
        (answer(), answer("Employees  have 25\ndays of vacation."), Change.SAME),
        (answer(), answer(page=5), Change.MOVED),
        (answer(), answer(document="rules.pdf"), Change.MOVED),
        (answer(), answer("Employees have 30 days of vacation."), Change.CHANGED),
        (answer(value="25"), answer(value="25", page=5), Change.MOVED),
        (answer(value="25"), answer("Employees have 30 days of vacation.", "30"), Change.CHANGED),
        # the reader points at the figure alone, and its unit decides
        (answer(value="25"), answer("Employees have 25 weeks of vacation.", "25"), Change.CHANGED),
        (answer(value="25"), answer("Employees have 25 working days of vacation.", "25"), Change.CHANGED),
        (answer(value="25"), answer("Vacation: 25 days.", "25 days"), Change.REWORDED),
        (answer(value="25"), answer("All have twenty-five days off.", "twenty-five"), Change.REWORDED),
        (answer(value="25"), answer("Employees do not have 25 days of vacation.", "25"), Change.CHANGED),
        (answer(value="25"), answer("Employees have at most 25 days of vacation.", "25"), Change.CHANGED),
        (answer(value="25"), answer(), Change.SAME),  # a value that one of them lacks is not compared
        (answer(value="25"), answer("Vacation: 25 days."), Change.CHANGED),
        (answer(value="25"), answer(value="25", against=("25 days", "30 days")), Change.CHANGED),
        (answer("It costs EUR 1,250.", "1,250"), answer("The price is 1250 EUR.", "1250"), Change.REWORDED),
        (answer("It costs EUR 1,250.", "1,250"), answer("It costs USD 1,250.", "1,250"), Change.CHANGED),
        (answer("Due on 3 May 2024.", "3 May 2024"), answer("Due: 2024-05-03.", "2024-05-03"), Change.REWORDED),
        (answer("Due on 3 May 2024.", "3 May 2024"), answer("Due on 4 May 2024.", "4 May 2024"), Change.CHANGED),
        (answer("Opens at 8:30.", "8:30"), answer("Open from 8.30 a.m.", "8.30 a.m."), Change.REWORDED),
        (answer("In Prague.", "Prague"), answer("It is in Brno.", "Brno"), Change.CHANGED),
        (answer("In Prague.", "Prague"), answer("It is in PRAGUE.", "PRAGUE"), Change.REWORDED),
        (
            answer("Gebühr: 1.250,50 EUR.", "1.250,50", language="de"),
            answer("Gebühr: 1250,50 EUR.", "1250,50", language="de"),
            Change.REWORDED,
        ),
    ],
)
def test_given_two_decisions_then_their_change(before: dict[str, Any], now: dict[str, Any], wanted: Change) -> None:
    assert became(before, now) is wanted


PARTS = st.sampled_from(["", "a", "b"])
SEEN = st.builds(Seen, PARTS, PARTS, PARTS)
TURNED = {Change.LOST: Change.GAINED, Change.GAINED: Change.LOST}


@given(SEEN, SEEN)
def test_given_any_two_then_the_way_back_is_the_same_change_but_for_lost_and_gained(one: Seen, other: Seen) -> None:
    assert other.change(one) is TURNED.get(one.change(other), one.change(other))
    assert one.change(one) is Change.SAME


@given(SEEN, SEEN)
def test_given_another_value_or_an_answer_that_is_gone_then_it_is_never_called_the_same(one: Seen, other: Seen) -> None:
    differs = bool(one.words) != bool(other.words) or (
        one.words and one.value != other.value and one.value and other.value
    )
    if differs:
        assert one.change(other) in (Change.LOST, Change.GAINED, Change.CHANGED)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.sampled_from(["days", "EUR", "%", "widgets"]))
def test_given_two_figures_then_they_are_the_same_only_where_they_are_equal(one: int, other: int, unit: str) -> None:
    rows = [answer(f"The limit is {figure} {unit} a year.", str(figure)) for figure in (one, other)]

    assert (became(*rows) is Change.SAME) == (one == other)


def test_given_decisions_of_the_product_then_they_are_compared_as_they_are_written() -> None:
    """A contradiction that came is a change, and the text of a document that is gone is not shown."""
    alone, both = (decide(one).to_json() for one in (measurements(0.9), contradicted()))

    assert became(alone, alone) is Change.SAME
    assert became(alone, both) is Change.CHANGED
    assert shown(alone) == Shown("The notice period is 30 days. [1]", "contract.pdf", 1)
    disagreeing = shown(answer(value="25", against=("25 days", "30 days")))
    assert disagreeing == Shown("25 days (sources disagree: 25 days, 30 days)", "handbook.pdf", 4)
    alone["answer"] = f"{DELETED} [1]"
    assert shown(alone) == Shown()


@each(
    ("change", "before", "now", "wanted"),
    [
        (Change.CHANGED, "25 days", Shown("30 days", "a.pdf", 4), "25 days became 30 days, page 4 of a.pdf"),
        (Change.CHANGED, "", Shown("30 days", "a.pdf", 4), "changed: 30 days, page 4 of a.pdf"),
        (Change.CHANGED, "25 days", Shown("25 days"), "25 days became the same in another sense"),
        (Change.LOST, "25 days", Shown(), "lost: 25 days"),
        (Change.LOST, "", Shown(), "lost, because its document was deleted"),
        (Change.MOVED, "25 days", Shown("25 days", "a.pdf", 5), "moved: 25 days, page 5 of a.pdf"),
        (Change.GAINED, "", Shown("30 days", "a.pdf", 4), "gained: 30 days, page 4 of a.pdf"),
        (Change.SAME, "", Shown(), "same"),
    ],
)
def test_given_a_change_when_told_then_it_is_one_line(change: Change, before: str, now: Shown, wanted: str) -> None:
    assert told(change, before, now) == wanted
