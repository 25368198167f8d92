"""The loop that asks a language model: what it sends, what it spends, and what it records.

The real client against a real server.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pytest
from builders import HashEmbedder, MemoryCorpus, Text, settings, tools
from folding import each
from honest_model import draft, kind, passages, refusal, sufficient, verdicts
from model_server import Asked, Hang, ModelServer, Said

from rag_core.adapters.optional import EXTRAS
from rag_core.decision.decide import decide
from rag_core.decision.llm_steps import MAX_HITS, SAID_CHARS, generate, sayable
from rag_core.decision.measure import measure
from rag_core.decision.tools import Tools
from rag_core.domain.measurements import Measurements
from rag_core.domain.ports import TextKind, Vectors
from rag_core.domain.status import AnswerStatus, ConfidenceLevel, Reason
from rag_core.errors import Cancelled, ModelUnavailable
from rag_core.gating.levels import level
from rag_core.settings import Mode, Settings
from rag_core.wiring import language_model

NOTICE = "The notice period is thirty days and begins with the month after the letter has come."
LINES = [
    NOTICE,
    *(
        f"In chapter {n} the contract speaks of matter {n}, and of what follows where it is not done in time."
        for n in range(12)
    ),
]
QUESTION = "How long is the notice period?"
MODEL = {
    "drafter": "model",
    "top_k": 4,
    "short_context_words": 10,
    "main_gate": "cosine",
    "high_distance": 2.0,
}
GUARDED = {"sufficiency_mode": Mode.ENFORCE}
CHECKED = {"verification_mode": Mode.ENFORCE}


@pytest.fixture(scope="module")
def corpus() -> MemoryCorpus:
    return MemoryCorpus([Text("contract", "\n".join(LINES))], HashEmbedder())


@pytest.fixture
def server(server: ModelServer) -> ModelServer:
    server.play(honest)
    return server


def source(asked: Asked, text: str = NOTICE) -> str:
    return next(id for id, shown in passages(asked).items() if text in shown)


def honest(asked: Asked) -> dict[str, object]:
    replies: dict[str, Callable[[], dict[str, object]]] = {
        "draft": lambda: draft((NOTICE, source(asked), NOTICE)),
        "sufficiency": sufficient,
        "verify": lambda: verdicts("yes"),
    }
    return replies[kind(asked)]()


def by_kind(**replies: object) -> Callable[[Asked], object]:
    """A script that answers each prompt by its kind, honestly where none is given."""

    def reply(asked: Asked) -> object:
        found = replies.get(kind(asked), honest)
        return found(asked) if callable(found) else found

    return reply


def configured(server: ModelServer) -> Tools:
    environment = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-of-a-test", "RAG_MODEL": "scripted"}
    return tools(model=partial(language_model, environment=environment))


def run(
    corpus: MemoryCorpus,
    use: Tools,
    on_stage: object = None,
    cancelled: object = None,
    question: str = QUESTION,
    **values: object,
) -> Measurements:
    measurements = measure(question, chosen(**values), corpus, use)
    return generate(measurements, corpus, use, on_stage=on_stage, cancelled=cancelled)  # type: ignore[arg-type]


def chosen(**values: object) -> Settings:
    return settings(**{**MODEL, **values})


def test_given_a_question_then_tokens_and_latency_are_metadata(corpus: MemoryCorpus, server: ModelServer) -> None:
    """S3-19."""
    server.play(by_kind(draft=lambda asked: Said(draft((NOTICE, source(asked), NOTICE)), tokens=(300, 40))))

    decision = decide(run(corpus, configured(server)))

    assert decision.metadata["total_tokens"] == 340
    assert {"chunks_retrieved", "chunks_used", "retrieval_time_ms", "generation_time_ms"} <= set(decision.metadata)
    assert decision.attempts[0].attempt.call.ms > 0
    assert decision.attempts[0].attempt.call.prompt.startswith("compress/")


def test_given_every_step_when_run_then_stages_are_told_in_order(corpus: MemoryCorpus, server: ModelServer) -> None:
    """S1-12: the guard first, generation last; S3-15: verification after the audits; S4-11: only stages are told while
    it runs.
    """
    told: list[tuple[str, int]] = []

    run(
        corpus, configured(server), on_stage=lambda step, claims: told.append((str(step), claims)), **GUARDED, **CHECKED
    )

    assert told == [("sufficiency", 0), ("draft", 0), ("check", 1), ("verify", 1)]
    assert [kind(asked) for asked in server.asked] == ["sufficiency", "draft", "verify"]


def test_given_what_is_missing_then_it_is_looked_for(corpus: MemoryCorpus, server: ModelServer) -> None:
    """S3-10, S3-11, S3-13: the search is widened by what is missing, which is kept, and bounded."""
    server.play(by_kind(sufficiency=sufficient("no", missing=("matter 11 of chapter 11",))))

    measurements = run(corpus, configured(server), top_k=2, **GUARDED)

    first, second = measurements.llm_trace.expanded
    assert [hit.passage.id for hit in first[:2]] == [hit.passage.id for hit in measurements.hits]
    assert any("chapter 11" in hit.passage.text for hit in first)
    assert (len(measurements.hits), len(first), len(second)) == (2, 4, 6)
    assert len(second) <= MAX_HITS
    assert [kind(asked) for asked in server.asked] == ["sufficiency"] * 3
    decision = decide(measurements)
    assert decision.reason is Reason.SUFFICIENCY
    assert decision.to_json()["judgements"][-1]["missing"] == ["matter 11 of chapter 11"]

    all_of_it = run(corpus, configured(server), top_k=MAX_HITS, **GUARDED)
    assert len(all_of_it.llm_trace.judgements) == 1  # a wider search finds nothing new


def test_given_the_most_passages_then_the_search_stays_within(corpus: MemoryCorpus, server: ModelServer) -> None:
    """Twice 26 passages would be more than `top_k` may be: the search is cut at `MAX_HITS`, and the question does not
    fail.
    """
    server.play(by_kind(sufficiency=sufficient("no", missing=("the fee",))))

    measurements = run(corpus, configured(server), top_k=MAX_HITS // 2 + 1, **GUARDED)

    assert decide(measurements).reason is Reason.SUFFICIENCY


@each(("said", "problem"), [("certainly!!", Reason.MALFORMED_DRAFT), ("", Reason.EMPTY_DRAFT)])
def test_given_a_draft_that_cannot_be_read_when_recorded_then_its_problem_is_named(
    corpus: MemoryCorpus, server: ModelServer, said: str, problem: Reason
) -> None:
    server.play(by_kind(draft='{"answerable": 1}' if said else said))

    measurements = run(corpus, configured(server), max_retries=0, fallback_extract=False)

    assert [one.problem for one in measurements.llm_trace.attempts] == [problem]
    assert decide(measurements).reason is problem


def test_given_a_draft_without_a_sentence_then_it_is_empty(corpus: MemoryCorpus, server: ModelServer) -> None:
    server.play(by_kind(draft=lambda asked: draft(("[1]", source(asked), NOTICE))))

    measurements = run(corpus, configured(server), max_retries=0, fallback_extract=False)

    assert [one.problem for one in measurements.llm_trace.attempts] == [Reason.EMPTY_DRAFT]


def test_given_a_spent_budget_when_verifying_then_it_has_not_passed(corpus: MemoryCorpus, server: ModelServer) -> None:
    """Equal is spent: a budget of 1000 tokens allows no prompt after 1000."""
    server.play(by_kind(draft=lambda asked: Said(draft((NOTICE, source(asked), NOTICE)), tokens=(990, 10))))

    decision = decide(run(corpus, configured(server), model_budget=1000, fallback_extract=False, **CHECKED))

    assert [kind(asked) for asked in server.asked] == ["draft"]
    assert decision.reason is Reason.NOT_RUN
    assert "1000 tokens" in decision.explanation


def test_given_missing_words_that_invent_a_fact_then_they_go(corpus: MemoryCorpus, server: ModelServer) -> None:
    server.play(by_kind(sufficiency=sufficient("no", missing=("the fee of 9,999 euros", "the fee"))))

    measurements = run(corpus, configured(server), expand_searches=0, **GUARDED)

    assert measurements.llm_trace.judgements[0].missing == ("the fee",)
    assert decide(measurements).to_json()["judgements"][0]["missing"] == ["the fee"]
    assert "9,999" not in repr(decide(measurements).to_json())


def test_given_a_refusal_that_states_a_fact_then_it_goes(corpus: MemoryCorpus, server: ModelServer) -> None:
    """S2-7, S4-13."""
    server.play(refusal("The fee is 9,999 euros, which is not in the passages."))
    invented = decide(run(corpus, configured(server)))
    server.play(refusal("The passages speak of chapters only."))
    plain = decide(run(corpus, configured(server)))

    assert (invented.reason, plain.reason) == (Reason.MODEL_REFUSED, Reason.MODEL_REFUSED)
    assert [one.attempt.refusal for one in invented.attempts] == [""]
    assert [one.attempt.refusal for one in plain.attempts] == ["The passages speak of chapters only."]
    assert "model_reason" not in {**invented.metadata, **plain.metadata}


@each(
    ("said", "shown"),
    [("  a\n reason ", "a reason"), ("x" * 900, "x" * SAID_CHARS), ("It costs 40 euros.", ""), ("", "")],
)
def test_given_a_reason_when_it_may_be_said_then_it_is_short_and_states_nothing_new(said: str, shown: str) -> None:
    assert sayable(said, "Nothing is said of a price.", "en") == shown


@each(("seconds", "calls"), [(5.0, 1), (4.5, 2)])
def test_given_seconds_that_each_answer_takes_then_a_prompt_is_sent_while_half_a_second_is_left(
    corpus: MemoryCorpus, server: ModelServer, seconds: float, calls: int
) -> None:
    """It is the clock of the test that passes, not that of the machine."""
    server.play(honest)
    slow = replace(configured(server), clock=lambda: seconds * server.calls)

    decision = decide(run(corpus, slow, model_seconds=5, fallback_extract=False, **GUARDED))

    assert server.calls == calls
    assert ("The 5 seconds for one question are spent" in decision.explanation) is (calls == 1)


def test_given_no_model_then_the_extract_says_so(corpus: MemoryCorpus, monkeypatch: pytest.MonkeyPatch) -> None:
    measurements = run(corpus, tools())
    wrong = run(corpus, tools(model=partial(language_model, environment={"RAG_MODEL": "m"})))
    monkeypatch.setitem(EXTRAS, "litellm", ("not_installed",))
    provider = {"OPENAI_BASE_URL": "litellm://azure", "RAG_MODEL": "m"}
    missing = run(corpus, tools(model=partial(language_model, environment=provider)))

    assert decide(measurements).metadata["drafter"] == "extract"
    assert "RAG_MODEL" in decide(measurements).notes[0]
    assert "OPENAI_BASE_URL" in decide(wrong).notes[0]
    assert decide(missing).metadata["drafter"] == "extract"
    assert "supply/litellm.lock" in decide(missing).notes[0]


def test_given_a_stop_when_the_model_hangs_then_it_ends_at_once(corpus: MemoryCorpus, server: ModelServer) -> None:
    server.play(Hang())

    with pytest.raises(Cancelled):
        run(corpus, configured(server), cancelled=lambda: server.calls > 0)


def test_given_a_stop_before_the_first_step_then_nothing_is_sent(corpus: MemoryCorpus, server: ModelServer) -> None:
    with pytest.raises(Cancelled):
        run(corpus, configured(server), cancelled=lambda: True)

    assert server.calls == 0


def test_given_an_embedder_that_dies_then_it_is_an_error(corpus: MemoryCorpus, server: ModelServer) -> None:

    class Dying(HashEmbedder):
        def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Vectors:
            if server.calls:
                raise ModelUnavailable("The embedding model died.", remedy="Ask again.")
            return super().embed(texts, kind)

    server.play(
        lambda asked: draft(("Notice takes thirty days from the month after the letter.", source(asked), NOTICE))
    )

    decision = decide(run(corpus, replace(configured(server), embedder=Dying())))

    assert (decision.reason, decision.status) == (Reason.FAILURE, AnswerStatus.ERROR)
    assert "The embedding model died." in decision.explanation


def test_given_a_changed_value_then_the_setting_says_what_fails(corpus: MemoryCorpus, server: ModelServer) -> None:
    """The flags of a draft are read under `min_support`, the number that the check judges by."""
    changed = NOTICE.replace("thirty", "sixty")
    server.play(by_kind(draft=lambda asked: draft((changed, source(asked), NOTICE))))

    def flags(min_support: float) -> tuple[str, ...]:
        llm_trace = run(corpus, configured(server), min_support=min_support, max_retries=0).llm_trace
        return llm_trace.attempts[0].draft.measured[0].flags

    assert {"number_changed", "contradicted"} <= set(flags(0.5))
    assert "number_changed" in flags(0.0)
    assert "contradicted" not in flags(0.0)


def test_given_a_sentence_that_another_undoes_then_extract_and_draft_say_both_at_medium_at_most(
    server: ModelServer,
) -> None:
    gone = "The rule about letters has been struck out by the members."
    corpus = MemoryCorpus([Text("contract", f"{NOTICE} {gone}")], HashEmbedder())
    use = replace(configured(server), undoing=lambda beside: [float(text == gone) for _, text in beside])

    drafted = run(corpus, use, support_mode=Mode.OFF)
    (attempt,) = drafted.llm_trace.attempts if drafted.llm_trace else ()

    assert [claim.text for claim in drafted.draft.claims] == [NOTICE, gone]
    assert [claim.text for claim in attempt.draft.claims] == [NOTICE, gone]
    assert len(attempt.draft.measured) == len(attempt.added or ()) == len(attempt.reworded or ()) == 2
    assert level(drafted) is ConfidenceLevel.MEDIUM
    assert level(run(corpus, configured(server), support_mode=Mode.OFF)) is ConfidenceLevel.HIGH
