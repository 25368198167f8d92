"""The characters that answer: which they are, on which page, and that they are those of a quote that the answer
cites.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from builders import SENTENCE, claim, draft, measured_again, measurements, passage
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.decision.decide import decide
from rag_core.domain.claims import Claim, Evidence
from rag_core.domain.decision import Decision
from rag_core.domain.documents import Span

AT = SENTENCE.index("30 days")
VALUE = Span(1, AT, AT + len("30 days"))
places = st.builds(
    lambda page, start, length: Span(page, start, start + length),
    st.integers(1, 2),
    st.integers(0, 9),
    st.integers(1, 9),
)


def valued(text: str = SENTENCE, number: int = 1, value: Span | None = VALUE, sure: float = 0.8) -> Claim:
    return replace(claim(passage(number, text)), value=value, value_probability=sure)


def decided(*claims: Claim) -> Decision:
    return decide(measurements(0.9, draft=draft(claims)))


def test_given_a_claim_with_a_value_then_it_is_the_text_of_the_page_there_and_of_the_evidence_that_holds_it() -> None:
    one = valued()

    assert (one.value_text, one.value_evidence) == ("30 days", one.evidence[0])
    assert (valued(value=None).value_text, valued(value=None).value_evidence) == ("", None)


def test_given_a_value_over_two_rows_of_a_page_then_its_text_is_in_one_line() -> None:
    quote = "The price is 30\n  crowns."

    assert valued(quote, value=Span(1, 13, len(quote) - 1)).value_text == "30 crowns"


@each(
    ("page", "said"),
    [
        ("twenty-\none days", "twenty-one days"),
        ("ninety-\n  five", "ninety-five"),
        ("a per-\nmit of the\nboard", "a permit of the board"),
        ("https://a.example/per-\nmits", "https://a.example/permits"),
        ("Soll-Tem\u00ad\nperatur", "Soll-Temperatur"),
        ("30\ncrowns", "30 crowns"),
        ("gone-\nfrom it", "gone- from it"),  # the claim has other words
    ],
)
def test_given_a_value_that_is_broken_at_the_end_of_a_row_then_it_is_as_whole_as_in_the_claim(
    page: str, said: str
) -> None:
    text = "something else" if page.startswith("gone") else f"It is {said}."
    one = Claim(
        text, (Evidence("p", "d", f"It is {page}.", (Span(1, 0, len(page) + 7),)),), value=Span(1, 6, 6 + len(page))
    )

    assert one.value_text == said


def test_given_a_quote_over_two_pages_then_the_value_is_read_on_its_own() -> None:
    first, second = (
        Evidence("p", "d", "The period is", (Span(1, 90, 103),)),
        Evidence("p", "d", "30 days.", (Span(2, 0, 8),)),
    )
    one = Claim("The period is 30 days.", (first, second), value=Span(2, 0, 7))

    assert (one.value_evidence, one.value_text) == (second, "30 days")


@each("value", [Span(2, AT, AT + 2), Span(1, AT, len(SENTENCE) + 1), Span(1, len(SENTENCE), len(SENTENCE) + 4)])
def test_given_a_value_that_is_in_no_quote_of_the_claim_then_there_is_none(value: Span) -> None:
    one = valued(value=value)

    assert (one.value_text, one.value_evidence, decided(one).value) == ("", None, None)


@each("sure", [-0.1, 1.1, float("nan")])
def test_given_no_probability_then_no_claim_has_it(sure: float) -> None:
    with pytest.raises(ValueError, match="value_probability"):
        valued(sure=sure)


@given(places, places)
def test_given_two_stretches_then_one_holds_the_other_where_all_is_its_own(one: Span, other: Span) -> None:
    characters = [{(span.page, at) for at in range(span.start, span.end)} for span in (one, other)]

    assert one.holds(other) is (characters[1] <= characters[0])
    assert one.holds(one)


def test_given_an_answer_then_the_value_of_its_surest_claim_is_told_with_its_citation_and_its_place() -> None:
    first, surest, none = (
        valued(sure=0.5),
        valued("It is 40 crowns.", 2, Span(1, 6, 15), 0.75),
        valued("Goods are checked.", 3, None, 0.0),
    )

    decision = decided(first, surest, none)

    assert decision.value == {"text": "40 crowns", "citation": 2, "page": 1, "start": 6, "end": 15, "probability": 0.75}
    assert json.loads(json.dumps(decision.to_json()))["value"] == decision.value
    assert decision.citations[1].excerpt[6:15] == "40 crowns"


def test_given_an_answer_without_a_value_or_no_answer_then_none_is_told() -> None:
    assert decided(valued(value=None)).value is None
    assert decide(measurements(0.9, draft=draft([]))).value is None
    assert decide(measurements()).to_json()["value"] is None


def test_given_a_claim_that_was_told_another_value_then_its_measurements_are_no_longer_its_own() -> None:
    made = decided(valued())
    good = made.outcome
    other = replace(made.claims[0], value=Span(1, 0, 3))

    with pytest.raises(ValueError, match="refuse instead"):
        replace(good, claims=(other,))
    assert measured_again(draft(made.claims), (other,)).measured[0].of == other
