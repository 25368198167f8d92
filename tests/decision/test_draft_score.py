"""The calibrated score of a language model's draft: of what it cites, not of the extract.

Embedded models, the real client.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from folding import each
from honest_model import draft, passages
from model_server import Asked, ModelServer
from scripted_engine import scripted_engine

from rag_core.decision import bearing
from rag_core.decision.bearing import SentenceScores, draft_correctness
from rag_core.decision.decide import replay
from rag_core.decision.llm_steps import generate
from rag_core.decision.measure import measure
from rag_core.domain.decision import Decision
from rag_core.domain.indexing import INDEXING, Indexing
from rag_core.domain.llm_trace import Attempt, Call, Step
from rag_core.domain.measurements import Measurements
from rag_core.domain.status import Reason
from rag_core.domain.trace import CheckResult, State
from rag_core.engine import Engine
from rag_core.library.stored.sources import text_source
from rag_core.settings import Mode, Settings
from rag_core.wiring import open_engine

QUESTION = "How often must the flow meter be calibrated?"
ANSWER = "The flow meter must be calibrated every 5 years."
BESIDE = "The flow meter is read on the first Monday of each month by the operator."
ELSEWHERE = "The canteen of the waterworks opens at noon and closes at two."
TEXT = (
    f"{ANSWER} {BESIDE} {ELSEWHERE} The seal of the flow meter is blue, and it "
    f"bears the number of the fitter who set it."
)


@pytest.fixture(scope="module")
def engine(server: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return scripted_engine(tmp_path_factory.mktemp("scored"), server, {"meters": TEXT})


def saying(*sentences: str, quotes: tuple[str, ...] = ()) -> Callable[[Asked], object]:
    """A model that drafts these sentences, each with its quote, itself where none is given."""

    def reply(asked: Asked) -> object:
        (source,) = (id for id, text in passages(asked).items() if ANSWER in text)
        return draft(*((text, source, quote) for text, quote in zip(sentences, quotes or sentences, strict=True)))

    return reply


def asked(
    engine: Engine, server: ModelServer, reply: Callable[[Asked], object], **changed: object
) -> tuple[Measurements, Settings]:
    server.play(reply)
    own = {
        "drafter": "model",
        "model": "scripted",
        "max_retries": 0,
        "short_context_words": 10,
        "max_sentences": 3,
    }
    settings = Settings.load(values={**own, **changed})
    return engine.measure(QUESTION, settings), settings


def _without_scores(engine: Engine, found: Measurements, settings: Settings) -> tuple[Attempt, ...]:
    """The drafts of the same question, where nobody hands on what was scored for its extract."""
    measured = measure(found.question, settings, engine.library.snapshot, engine.tools)
    again = generate(measured, engine.library.snapshot, engine.tools)
    return again.llm_trace.attempts


def score(found: Measurements) -> float:
    value = found.llm_trace.attempts[0].correctness
    assert value is not None
    return value


def test_given_a_draft_of_the_extract_s_words_then_it_has_its_score(engine: Engine, server: ModelServer) -> None:
    settings = Settings.load(values={"max_sentences": 1})
    extract = engine.measure(QUESTION, settings)
    assert [claim.text for claim in extract.draft.claims] == [ANSWER]

    found, _ = asked(engine, server, saying(ANSWER), max_sentences=1)

    assert score(found) == pytest.approx(extract.correctness, abs=1e-6)


def test_given_drafts_that_are_sent_back_when_asked_then_the_passages_are_scored_for_the_extract_and_not_again(
    engine: Engine, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sentences of a prompt, whether a draft bears on the question, and its own score: all read the same
    passages.
    """
    scored: list[int] = []
    score_units = bearing.score_units
    monkeypatch.setattr(
        bearing, "score_units", lambda hits, *args, **more: scored.append(len(hits)) or score_units(hits, *args, **more)
    )

    found, settings = asked(engine, server, saying(ELSEWHERE), max_retries=2)

    assert [one.problem for one in found.llm_trace.attempts] == [Reason.OFF_QUESTION] * 3
    assert scored == []
    assert [one.correctness for one in _without_scores(engine, found, settings)] == [
        one.correctness for one in found.llm_trace.attempts
    ]
    assert scored == [len(found.hits)]  # who was given none scores them once
    assert replay(found, settings).metadata["drafter"] == "extract"


def test_given_a_draft_of_another_sentence_then_its_score_is_lower(engine: Engine, server: ModelServer) -> None:
    """S2-4: the documents answer the question all the same; the sentence that is shown does not."""
    lenient = {"correctness_mode": "observe", "rewording": "audited"}
    right, settings = asked(engine, server, saying(ANSWER), **lenient)
    beside, _ = asked(engine, server, saying(BESIDE), **lenient)
    far, _ = asked(engine, server, saying(ELSEWHERE), **lenient)

    # which of two wrong ones is likelier is not promised
    assert max(score(far), score(beside)) < settings.min_correctness < score(right)
    assert right.correctness == beside.correctness  # of the same extract
    decisions = [replay(one, settings) for one in (right, beside)]
    assert [one.metadata["drafter"] for one in decisions] == ["model", "model"]
    for one, found in zip(decisions, (right, beside), strict=True):
        assert one.confidence == pytest.approx(score(found), abs=0.001)
        assert (one.confidence_basis, one.scores["correctness"]) == ("correctness", score(found))


def test_given_a_draft_below_the_limit_then_the_extract_stands(engine: Engine, server: ModelServer) -> None:
    found, settings = asked(engine, server, saying(BESIDE), rewording="audited")
    between = settings.changed(min_correctness=(score(found) + found.correctness) / 2)
    below = settings.changed(min_correctness=score(found) - 1e-6)

    refused, shown = replay(found, between), replay(found, below)

    assert refused.metadata["drafter"] == "extract"
    assert ANSWER in refused.answer
    assert [check.reason for check in refused.attempts[0].checks if check.blocks] == [Reason.DRAFT_CORRECTNESS]
    assert (shown.metadata["drafter"], BESIDE in shown.answer) == ("model", True)
    alone = replay(found, between.changed(fallback_extract=False))
    assert (alone.answered, alone.reasons) == (False, (Reason.DRAFT_CORRECTNESS,))


def test_given_a_sentence_beyond_the_best_five_then_read(server: ModelServer, engine: Engine, tmp_path: Path) -> None:
    many = open_engine(tmp_path, settings=Settings.load())
    texts = [
        TEXT,
        *(
            f"Chapter {n} of the manual tells of the garden, its {n} trees and the path around the pond."
            for n in range(6)
        ),
    ]
    assert not many.library.add([text_source(f"d{n}", text) for n, text in enumerate(texts)], Settings.load()).problems
    many.tools = engine.tools
    found, _ = asked(many, server, saying(ANSWER), correctness_mode="observe", rewording="audited")
    draft, corpus = found.llm_trace.attempts[0].draft, many.library.snapshot
    answering = next(hit for hit in found.hits if ANSWER in hit.passage.text)
    behind = (*(hit for hit in found.hits if hit is not answering), answering)
    assert len(behind) == 7

    known, deep = (
        draft_correctness(draft, hits, SentenceScores(found, corpus, many.tools)) for hits in (found.hits, behind)
    )

    assert known == pytest.approx(score(found))
    assert deep > 0.8 * score(found)


def test_given_documents_still_being_read_then_a_draft_is_lowered_too(engine: Engine, server: ModelServer) -> None:
    found, _ = asked(engine, server, saying(ANSWER), correctness_mode="observe", rewording="audited")
    state = Indexing(documents=1, searched=1, pages=10, read=5)
    early = replace(found, metadata={**found.metadata, INDEXING: state.to_json()})

    lowered = draft_correctness(
        found.llm_trace.attempts[0].draft, found.hits, SentenceScores(early, engine.library.snapshot, engine.tools)
    )

    assert lowered == pytest.approx(state.lowered(score(found)))
    assert lowered < score(found)


@each("mode", [Mode.OBSERVE, Mode.OFF])
def test_given_a_gate_that_refuses_nothing_nor_does_a_draft(mode: Mode, engine: Engine, server: ModelServer) -> None:
    found, settings = asked(engine, server, saying(BESIDE), rewording="audited")

    decision = replay(found, settings.changed(correctness_mode=mode, min_correctness=1.0))

    assert decision.metadata["drafter"] == "model"
    assert _check(decision).state is State.ABSTAINED


@each("value", [-0.1, 1.1, float("nan")])
def test_given_no_probability_then_no_draft_is_made_with_it(value: float) -> None:
    with pytest.raises(ValueError, match="correctness"):
        Attempt((), Call(Step.DRAFT), correctness=value)


def _check(decision: Decision) -> CheckResult:
    return next(one for one in decision.attempts[0].checks if one.stage == "draft_correctness")


def test_given_a_sentence_that_another_document_contradicts_then_no_draft_shows_one_side_of_it(
    server: ModelServer, tmp_path: Path
) -> None:
    """The question is about another sentence, whose extract has no other side."""
    tent, day = "A hired tent costs 18 EUR for a night.", "A hired tent is brought back by {} on the last day."
    between = "The town hall stands at the market square, beside the old mill. A bell in its tower rings at noon."
    texts = {"north": f"{tent} {between} {day.format('10:00')}", "south": f"{between} {day.format('14:00')}"}
    engine = scripted_engine(tmp_path, server, texts)

    def copying(*wanted: str) -> Callable[[Asked], object]:
        return lambda asked: draft(
            *((one, id, one) for one in wanted for id, text in passages(asked).items() if one in text)
        )

    own = {"drafter": "model", "model": "scripted", "max_retries": 0, "short_context_words": 10}
    settings = Settings.load(values={**own, "fallback_extract": False})
    for at in ("10:00", "14:00"):
        server.play(copying(tent, day.format(at)))
        found = engine.measure("What does a hired tent cost for a night?", settings)
        assert found.conflicts == ()
        assert replay(found, settings).reasons == (Reason.ONE_SIDED,)
        assert tent in replay(found, settings.changed(fallback_extract=True)).answer
    server.play(copying(tent))
    honest = engine.ask("What does a hired tent cost for a night?", settings)
    assert [claim.text for claim in honest.claims] == [tent]
