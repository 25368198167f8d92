"""Where the reader of a refusal may look: quotes near the question, which are no answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import claim, draft, hit, measured, measurements, passage, settings

from rag_core.decision.checks.gating import WAIT
from rag_core.decision.compose import NEAR, PLACES, places_to_look
from rag_core.decision.decide import decide
from rag_core.domain.measurements import UNREAD, Measurements
from rag_core.language import refusal, unsure
from rag_core.settings import Mode

ENFORCED = settings(correctness_mode=Mode.ENFORCE, min_correctness=0.5)


def refused(*relevances: float, **judged: object) -> Measurements:
    """A question whose drafted sentences are so relevant, and whose answer is surely wrong."""
    passages = [passage(number, f"Sentence {number}.") for number in range(1, len(relevances) + 1)]
    claims = [replace(claim(of, of.text), relevance=value) for of, value in zip(passages, relevances, strict=True)]
    found = tuple(hit(0.9, number, of=of) for number, of in enumerate(passages, 1))
    return measurements(hits=found, draft=draft(claims), correctness=0.1, of=ENFORCED.changed(**judged))


def test_given_a_refusal_then_it_points_at_the_likest_quotes_first_numbered_from_one() -> None:
    """S3-20: a refusal has places to look at."""
    decision = decide(refused(0.2, 0.6, 0.4))

    assert not decision.answered
    assert [(one.id, one.excerpt) for one in decision.places] == [
        (1, "Sentence 2."),
        (2, "Sentence 3."),
        (3, "Sentence 1."),
    ]
    assert (decision.citations, decision.claims) == ((), ())
    assert [place["excerpt"] for place in decision.to_json()["places"]] == ["Sentence 2.", "Sentence 3.", "Sentence 1."]


def test_given_quotes_far_from_the_question_then_nothing_is_pointed_at() -> None:
    assert [one.excerpt for one in places_to_look(refused(NEAR, NEAR - 0.001))] == ["Sentence 1."]


def test_given_many_quotes_then_as_many_are_pointed_at_as_one_looks_through() -> None:
    assert len(places_to_look(refused(*[0.5] * (PLACES + 2)))) == PLACES


def test_given_a_quote_beyond_the_distance_cut_or_not_on_its_page_then_it_is_no_place_to_look() -> None:
    three = refused(0.5, 0.5, 0.5, distance_mode=Mode.ENFORCE, max_distance=0.8)
    far = replace(three, hits=(hit(0.1, 1, of=three.hits[0].passage), *three.hits[1:]))
    doubtful = replace(far, draft=replace(far.draft, measured=(measured(), measured(quotes_missing=1), measured())))

    assert [one.excerpt for one in places_to_look(doubtful)] == ["Sentence 3."]


def test_given_an_answer_then_it_has_citations_and_no_places() -> None:
    decision = decide(replace(refused(0.5), correctness=0.99))

    assert decision.answered
    assert (decision.places, decision.to_json()["places"]) == ((), [])


def test_given_a_place_that_may_be_the_answer_then_the_refusal_says_how_likely_and_does_not_deny_it() -> None:
    decision = decide(refused(0.2, 0.6))

    assert (decision.status, decision.is_safe()) == ("low_confidence", False)
    assert (decision.may_be, decision.places[0].excerpt, decision.answer) == (0.1, "Sentence 2.", unsure("en"))
    assert decision.to_json()["may_be"] == {"place": 1, "probability": 0.1}
    assert decide(replace(refused(0.6), correctness=0.99)).to_json()["may_be"] is None


FAR = ENFORCED.changed(correctness_mode=Mode.OFF, top_cosine_mode=Mode.ENFORCE, min_top_cosine=0.95)


@pytest.mark.parametrize(
    "changed",
    [
        {"correctness": 0.09},
        {"nowhere": ("Rome",)},
        {"settings": ENFORCED.changed(min_place=1.0)},
        {"correctness": None, "settings": FAR},
    ],
    ids=["too unlikely", "the documents do not name it", "switched off", "not measured"],
)
def test_given_no_place_worth_showing_then_the_refusal_says_that_nothing_is_there(changed: dict[str, object]) -> None:
    decision = decide(replace(refused(0.6), **changed))  # type: ignore[arg-type]

    assert (decision.is_safe(), decision.may_be, decision.answer) == (False, None, refusal("en"))


def test_given_pages_that_nobody_could_read_then_no_refusal_says_that_nothing_is_there() -> None:
    unread = replace(refused(0.6), correctness=0.01)
    unread = replace(unread, library=replace(unread.library, unreadable={"d1": (3,)}))

    assert (decide(unread).may_be, decide(unread).answer) == (None, unsure("en"))


def test_given_a_place_worth_showing_then_the_likest_quote_is_pointed_at_however_little_it_bears_on_the_question() -> (
    None
):
    """Else the probability of an answer would be named, and no place."""
    decision = decide(refused(NEAR / 5, NEAR / 2))

    assert (decision.may_be, [one.excerpt for one in decision.places]) == (0.1, ["Sentence 2."])


@pytest.mark.parametrize(("answerability", "said"), [(0.5, unsure("en")), (0.49, refusal("en"))])
def test_given_documents_that_likely_answer_then_no_refusal_says_that_nothing_is_there(
    answerability: float, said: str
) -> None:
    assert decide(replace(refused(0.6), correctness=0.01, answerability=answerability)).answer == said


@pytest.mark.parametrize(("waiting", "said"), [(1, "1 file is"), (2, "2 files are")])
def test_given_files_that_are_not_indexed_yet_then_a_refusal_says_so_and_asks_for_no_other_document(
    waiting: int, said: str
) -> None:
    asked = refused(0.6)
    decision = decide(replace(asked, correctness=0.01, metadata={UNREAD: waiting}))

    assert decision.answer == unsure("en")
    assert f"{said} not indexed yet; the answer may be there." in decision.explanation
    assert WAIT in decision.suggestions
    assert not any(one.startswith("Not found in the passages") for one in decision.suggestions)
