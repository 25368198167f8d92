"""Labelled questions that a language model drafted: where it would have to be asked again, they are neither answered
nor refused.
"""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from builders import GOOD_AUDIT, SENTENCE, claim, draft, measurements, passage, settings
from certificates import BASIS

from rag_core.decision.batch import replay_many
from rag_core.domain.drafts import Draft
from rag_core.domain.llm_trace import Attempt, Call, LlmTrace, Step
from rag_core.domain.measurements import Measurements
from rag_core.domain.status import Reason
from rag_core.evaluation import answer_hits, failing, marks, report
from rag_core.evaluation.certificate import Certificate
from rag_core.evaluation.certify import Request, Uncertified, certify
from rag_core.evaluation.guarantee import Kind, Target
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.evaluation.report import error_of
from rag_core.records import DELETED
from rag_core.settings import Mode

MEASURED_AT = 0.5  # the limit that the questions were asked under: below it the model was not asked
OF = settings(
    drafter="model",
    rewording="audited",
    correctness_mode=Mode.ENFORCE,
    min_correctness=MEASURED_AT,
    short_context_words=20,
)
OWN = "A month has to be given."
N = 200


def asked(score: float, *texts: str) -> Measurements:
    """A question that its gate let pass, whose drafts say this, the last of them shown; with no draft where the gate
    refused it.
    """
    attempts = []
    for number, text in enumerate(texts):
        shown = number == len(texts) - 1
        audit = replace(GOOD_AUDIT, fabricated=() if shown else ("9",))
        keys = (
            "level:"
            + ("high" if score >= OF.high_answerability else "medium" if score >= OF.medium_answerability else "low"),
        )
        found = () if number == 0 else ("citations_valid:0",)
        made = replace(draft([claim(passage(), text)], [audit]), drafter="model")
        attempts.append(
            Attempt(
                (*keys, "round:0", "passages:1", *found),
                Call(Step.DRAFT),
                made,
                language="en",
                sentences=1,
                tokens=5,
                added=(0,),
            )
        )
    return replace(measurements(0.9, of=OF, correctness=score), llm_trace=LlmTrace(500, attempts=tuple(attempts)))


def labelled(n: int, *, answerable: bool, answers: tuple[str, ...] = ()) -> LabelledQuestion:
    return LabelledQuestion(f"q{n}-{answerable}", f"What is {n}?", answerable, answers=answers)


def material() -> tuple[list[LabelledQuestion], list[Measurements]]:
    """Answerable questions score 0.4 to 1, the others 0 to 0.52; those below the limit were refused and not drafted."""
    scores = [(0.4 + 0.6 * n / N, True) for n in range(N)] + [(0.52 * n / N, False) for n in range(N)]
    records = [asked(score, *((OWN,) if score >= MEASURED_AT else ())) for score, _ in scores]
    return [labelled(n, answerable=yes) for n, (_, yes) in enumerate(scores)], records


def test_given_looser_settings_than_were_measured_then_such_questions_are_counted_and_in_no_rate() -> None:
    questions, records = material()
    loose = OF.changed(min_correctness=0.3)
    below = [0.3 <= (one.correctness or 0) < MEASURED_AT for one in records]
    outcomes = replay_many(records, loose)
    marked = marks(questions, outcomes, answer_hits(questions, records), records)

    found = report(questions, records, outcomes, marked)

    assert outcomes.needs_model.tolist() == below
    assert (found.needs_model, found.not_measured) == (sum(below), 0)
    assert found.answered.n == len(questions) - sum(below)
    assert found.wrong_answers.n == sum(not q.answerable and not b for q, b in zip(questions, below, strict=True))
    assert found.false_refusals.k == 0
    assert found.to_json()["needs_model"] == sum(below)
    assert {error_of(marked, int(row)) for row in np.flatnonzero(outcomes.needs_model)} == {"needs_model"}
    rows = [json.loads(line) for line in failing(questions, records, loose, marked).splitlines()]
    assert sum(row["happened"]["error"] == "needs_model" for row in rows) == sum(below)


def test_given_a_question_that_failed_and_one_that_needs_the_model_then_they_are_counted_apart() -> None:
    questions = [labelled(0, answerable=True), labelled(1, answerable=False), labelled(2, answerable=False)]
    records = [asked(0.9, OWN), asked(0.4), measurements(of=OF, failure="The model failed.")]
    outcomes = replay_many(records, OF.changed(min_correctness=0.3))

    found = report(questions, records, outcomes, marks(questions, outcomes, answer_hits(questions, records), records))

    assert (found.needs_model, found.not_measured, found.answered.k, found.answered.n) == (1, 1, 1, 1)


def test_given_several_drafts_then_the_right_answer_is_looked_for_in_the_one_that_is_shown() -> None:
    """The extract holds it too, and the rejected draft; neither is what the reader sees."""
    right, wrong = "It takes 30 days.", "It takes a while."
    questions = [labelled(n, answerable=True, answers=("30 days",)) for n in range(3)]
    records = [asked(0.9, right, wrong), asked(0.9, wrong, right), asked(0.9, right)]
    assert SENTENCE == records[0].draft.claims[0].text

    marked = marks(questions, replay_many(records, OF), answer_hits(questions, records), records)

    assert marked.comparable.tolist() == [True, True, True]
    assert marked.missed.tolist() == [True, False, False]


def test_given_drafts_whose_words_are_gone_then_an_answer_is_compared_only_where_it_can_be_read() -> None:
    questions = [labelled(n, answerable=True, answers=("30 days",)) for n in range(2)]
    records = [asked(0.9, DELETED, "It takes 30 days."), asked(0.9, DELETED)]

    marked = marks(questions, replay_many(records, OF), answer_hits(questions, records), records)

    assert marked.comparable.tolist() == [True, False]
    assert not marked.missed.any()
    assert marked.measured.tolist() == [True, False]  # nor is it counted as right


def certified(*targets: Target) -> Certificate | Uncertified:
    questions, records = material()
    return certify(
        questions,
        records,
        answer_hits(questions, records),
        OF,
        Request(targets),
        BASIS,
        set_name="s",
        date="2026-11-21",
    )


def test_given_a_run_with_a_model_when_certified_then_no_threshold_asks_again() -> None:
    """Looser ones would answer more, for all that is recorded: how those questions would end is not known."""
    questions, records = material()
    found = certified(Target(Kind.WRONG_ANSWERS, 0.3))

    assert isinstance(found, Certificate)
    assert found.thresholds == {"min_correctness": MEASURED_AT}
    assert not replay_many(records, OF.changed(**found.thresholds)).needs_model.any()
    answered = replay_many(records, OF).answered
    assert found.answered == answered.sum()
    assert found.bounds[0].errors == sum(
        given and not q.answerable for given, q in zip(answered, questions, strict=True)
    )


def test_given_a_target_that_only_looser_settings_could_meet_then_no_certificate_and_the_open_counted() -> None:
    found = certified(Target(Kind.FALSE_REFUSALS, 0.1))

    assert isinstance(found, Uncertified)
    assert found.needs_model == sum((one.correctness or 0) < MEASURED_AT for one in material()[1])


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "measured_at"), [(Kind.WRONG_ANSWERS, 2.0), (Kind.FALSE_REFUSALS, 0.3)])
def test_given_open_questions_before_settled_ones_then_testing_stops_there(kind: Kind, measured_at: float) -> None:
    """Another distance cut shows the model other passages.

    Wrong answers are tested from the strict end, false refusals from the other.
    """
    of = OF.changed(distance_mode=Mode.ENFORCE, max_distance=measured_at, fallback_extract=False)
    count = 60  # enough for the target, and each is judged at a hundred limits
    shown = 2 if measured_at > 0.4 else 1
    questions = [labelled(n, answerable=kind is Kind.FALSE_REFUSALS) for n in range(count)]
    one = asked(0.9, OWN)
    attempt = replace(one.llm_trace.attempts[0], asked=("level:high", "round:0", f"passages:{shown}"))
    two = replace(measurements(0.9, 0.6, of=of, correctness=0.9), llm_trace=LlmTrace(500, attempts=(attempt,)))
    declined = replace(attempt, draft=Draft(), problem=Reason.MODEL_REFUSED)
    refused = replace(two, llm_trace=LlmTrace(500, attempts=(declined,)))
    records = [two] * count if kind is Kind.FALSE_REFUSALS else [two, *[refused] * (count - 1)]
    request = Request((Target(kind, 0.2),), first="max_distance")

    found = certify(
        questions, records, answer_hits(questions, records), of, request, BASIS, set_name="s", date="2026-11-21"
    )

    at_its_own = replay_many(records, of)
    assert not at_its_own.needs_model.any()
    # few errors there, if one could come to that
    assert at_its_own.answered.sum() == (count if kind is Kind.FALSE_REFUSALS else 1)
    assert isinstance(found, Uncertified)
    assert found.needs_model == count


@pytest.mark.parametrize("kind", Kind)
def test_given_an_open_question_then_it_counts_as_an_error_of_every_kind(kind: Kind) -> None:
    """Otherwise a run of refused questions would pass for a careful one."""
    questions = [labelled(n, answerable=n % 2 == 0, answers=("30 days",) if n % 2 == 0 else ()) for n in range(N)]
    records = [asked(0.4) for _ in questions]

    found = certify(
        questions,
        records,
        answer_hits(questions, records),
        OF,
        Request((Target(kind, 0.2),)),
        BASIS,
        set_name="s",
        date="2026-11-21",
    )

    assert isinstance(found, Uncertified)
    assert found.needs_model == N
    assert set(replay_many(records, OF.changed(min_correctness=0.3)).reason) == {Reason.NEEDS_GENERATION}
