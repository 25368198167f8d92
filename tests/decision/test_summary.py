"""One question in a few numbers: drafts that were checked and failed, sentences with a source, times; and their
counts.
"""

from __future__ import annotations

from dataclasses import replace

from builders import measured as measured_claim
from test_progress import ROUND_0, STRICT, asked, attempt, model_settings, rejected

from rag_core.decision.decide import decide
from rag_core.decision.summary import Counts, Ending, ending_of, summarise
from rag_core.domain.measurements import Measurements
from rag_core.domain.status import AnswerStatus, Reason
from rag_core.settings import Mode
from tests.builders import measurements, settings

TIMES = {"embed": 30.0, "retrieve": 12.0, "extract": 500.0}


def of(measurements: Measurements) -> tuple[int, int, int, int]:
    found = summarise(replace(measurements, timings=TIMES), decide(measurements))
    return found.drafts, found.failed, found.claims, found.cited


def test_given_how_questions_ended_when_summarised_then_drafts_and_their_sources_are_counted() -> None:
    """S3-30: an extract counts where it was judged, a model's drafts each, and a gate's refusal has none."""
    fabricated = attempt(audit=measured_claim(overlap=0.9, similarity=0.9, support=0.9, fabricated=("doc_9",)))
    misquoted = attempt(audit=measured_claim(overlap=0.9, similarity=0.9, support=0.9, quotes_missing=("it",)))
    mended = attempt(keys=(*ROUND_0, "support:0"))

    assert of(measurements(0.9, of=model_settings(drafter="extract"))) == (1, 0, 1, 1)
    assert of(
        measurements(0.1, of=model_settings(drafter="extract", min_top_cosine=0.7, top_cosine_mode="enforce"))
    ) == (0, 0, 0, 0)
    assert of(asked(of=model_settings(**STRICT, max_retries=0), attempts=(rejected(),)))[:2] == (1, 1)
    assert of(asked(of=model_settings(**STRICT, max_retries=0), attempts=(fabricated,)))[2:] == (1, 0)
    assert of(asked(of=model_settings(**STRICT, max_retries=0), attempts=(misquoted,)))[2:] == (1, 0)
    assert of(asked(of=model_settings(**STRICT), attempts=(rejected(), mended)))[:2] == (2, 1)


def test_given_times_when_summarised_then_a_search_and_the_models_are_apart_and_no_call_takes_none() -> None:
    called = attempt()
    slow = replace(called, call=replace(called.call, ms=1500.0))
    spent = replace(called, call=replace(called.call, ms=0.0, endpoint=""))
    for one, ms in ((slow, 1500.0), (spent, None)):
        question = replace(asked(of=model_settings(max_retries=0), attempts=(one,)), timings=TIMES)
        found = summarise(question, decide(question))
        assert (found.retrieval_ms, found.model_ms, found.searched) == (42.0, ms, True)


def test_given_questions_when_counted_then_every_figure_grows_and_groups_hold_their_upper_end() -> None:
    counts = Counts()
    question = replace(
        measurements(0.9, of=model_settings(drafter="extract"), correctness=0.8),
        timings={"embed": 88.0, "retrieve": 12.0},
    )
    for _ in range(2):
        counts.watch(question, decide(question))
    now = counts.now()
    counts.watch(question, decide(question))

    assert now.questions == {(AnswerStatus.SUCCESS.value, Reason.NONE.value): 2}
    assert (now.drafts, now.failed, now.claims, now.cited) == (2, 0, 2, 2)
    assert now.retrieval.counts[now.retrieval.ends.index(0.1)] == 2
    assert now.correctness.counts[now.correctness.ends.index(0.8)] == 2
    assert (round(now.retrieval.sum, 6), now.model.sum) == (0.2, 0.0)


def test_given_how_a_question_ended_then_one_word_says_it_and_no_answer_that_may_be_wrong_is_sure() -> None:
    def ended(**fields: object) -> Ending:
        return ending_of(decide(measurements(0.9, **fields)))

    of = settings(correctness_mode=Mode.ENFORCE, min_correctness=0.5, min_place=0.1)
    assert [ended(of=of, correctness=one) for one in (0.5, 0.49, 0.09)] == [Ending.SURE, Ending.MAYBE, Ending.NO]
    looser = settings(correctness_mode=Mode.ENFORCE, min_correctness=0.2)
    assert ended(of=looser, correctness=0.3) is Ending.MAYBE  # rather wrong than right
    missed = settings(correctness_mode=Mode.OBSERVE, min_correctness=0.9)
    assert ended(of=missed, correctness=0.8) is Ending.MAYBE
    assert summarise(measurements(), decide(measurements(0.9))).ending is ending_of(decide(measurements(0.9)))
