"""Running a labelled set with a language model: where its budget ends, and what an endpoint that is down does to a
run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from builders import settings
from honest_model import honest
from library.library_kit import HashEmbedder, library, text
from model_server import ModelServer, Status

from rag_core.adapters.records.store import RecordStore
from rag_core.decision.tools import Tools
from rag_core.domain.llm_trace import Attempt, Call, LlmTrace, Step
from rag_core.engine import Engine
from rag_core.errors import ModelUnavailable
from rag_core.evaluation import Ran, begin, run
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.evaluation.run import SILENT, Spending, unasked
from rag_core.records.stored import RunHead
from rag_core.settings import Settings
from rag_core.wiring import language_model, records

DRAFTS = settings(
    drafter="model", short_context_words=10, main_gate="cosine", max_retries=1, answer_language_mode="off"
)
THINGS = ("lease", "meter", "pump", "valve", "boiler", "tank", "filter")
QUESTIONS = tuple(
    LabelledQuestion(f"q{n}", f"When is the {thing} inspected?", True, (f"every {n} years",))
    for n, thing in enumerate(THINGS, 2)
)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(honest) as running:
        yield running


class Place:
    """A library with a model at some address; `at` moves it to another one."""

    def __init__(self, folder: Path, address: str) -> None:
        self.address, self.model = address, "scripted"
        embedder = HashEmbedder()
        self.engine = Engine(library(folder, embedder=embedder), Tools(embedder, model=self._model))
        sentences = [
            f"The {thing} is inspected every {n} years by the operator of the plant."
            for n, thing in enumerate(THINGS, 2)
        ]
        self.engine.library.add([text("plant", "\n\n".join(sentences))], Settings.load())
        self.store: RecordStore = records(folder, "default")

    def _model(self, s: Settings) -> object:
        address = {"OPENAI_BASE_URL": self.address, "OPENAI_API_KEY": "k" * 40, "RAG_MODEL": self.model}
        return language_model(s, environment=address if self.address else {})

    def begun(self, s: Settings = DRAFTS, name: str = "first") -> RunHead:
        return begin(self.engine, name, "set", QUESTIONS, s, self.store)

    def run(self, head: RunHead, budget: int | None = None) -> Ran:
        return run(self.engine, self.store.run(head.id), self.store, budget_tokens=budget)

    def tokens(self, head: RunHead) -> list[int]:
        return [
            measurements.llm_trace.tokens
            for measurements in self.store.results(head.id).values()
            if measurements.llm_trace
        ]


@pytest.fixture
def place(tmp_path: Path, server: ModelServer) -> Place:
    return Place(tmp_path, server.base_url)


def test_given_a_set_when_run_with_a_model_then_its_tokens_are_counted_and_nothing_is_asked_twice(
    place: Place, server: ModelServer
) -> None:
    head = place.begun()

    ran = place.run(head)

    assert (ran.measured, ran.failed, ran.over_budget) == (len(QUESTIONS), 0, False)
    assert ran.tokens == sum(place.tokens(head)) > 0
    calls = server.calls
    assert calls >= len(QUESTIONS)
    assert place.store.run(head.id).settings.model == "scripted"  # the run says what drafted
    assert place.run(head) == Ran(0, len(QUESTIONS), 0, len(QUESTIONS))
    second = place.begun(DRAFTS.changed(min_support=0.9), "second")
    assert place.run(second) == Ran(0, len(QUESTIONS), 0, len(QUESTIONS))
    assert server.calls == calls


def test_given_a_budget_when_it_is_spent_then_the_run_stops_keeps_what_it_has_and_goes_on_later(place: Place) -> None:
    head = place.begun()

    first = place.run(head, budget=1)
    second = place.run(head, budget=2 * first.tokens)
    last = place.run(head, budget=10**9)

    assert (first.measured, first.over_budget, first.total) == (1, True, len(QUESTIONS))
    assert (second.reused, second.over_budget) == (1, True)
    assert 1 <= second.measured < len(QUESTIONS) - 1
    assert second.tokens < 2 * first.tokens + max(place.tokens(head))  # the question that passes the budget is finished
    assert (last.over_budget, last.reused, last.measured) == (
        False,
        1 + second.measured,
        len(QUESTIONS) - 1 - second.measured,
    )
    assert first.tokens + second.tokens + last.tokens == sum(place.tokens(head))


def test_given_an_endpoint_that_is_down_when_run_then_it_stops_after_some_questions_and_they_are_asked_again(
    place: Place, server: ModelServer
) -> None:
    server.play(Status(401, message="no such key"))
    head = place.begun()

    with pytest.raises(ModelUnavailable, match=f"{SILENT} questions in a row") as caught:
        place.run(head)

    assert "resume" in caught.value.remedy
    failed = place.store.results(head.id)
    assert len(failed) == SILENT
    # whatever would have been shown instead: the model was not measured
    assert all(measurements.failure for measurements in failed.values())
    server.play(honest)
    place.engine.tools = replace(place.engine.tools, model=place._model)
    ran = place.run(head)
    assert (ran.measured, ran.reused, ran.failed) == (len(QUESTIONS), 0, 0)
    assert not any(measurements.failure for measurements in place.store.results(head.id).values())


def test_given_another_model_or_endpoint_when_run_then_the_other_ones_records_are_not_taken(place: Place) -> None:
    place.run(place.begun())
    assert place.run(place.begun(name="again")).measured == 0

    with ModelServer(honest) as other:
        place.address = other.base_url
        assert place.run(place.begun(name="elsewhere")).measured == len(QUESTIONS)
        place.model = "another"
        third = place.begun(name="third")
        assert (third.settings.model, place.run(third).measured) == ("another", len(QUESTIONS))


def test_given_no_model_when_a_run_with_one_is_begun_then_one_error_says_what_to_set(
    place: Place, server: ModelServer
) -> None:
    place.address = ""

    with pytest.raises(ModelUnavailable, match="none is configured") as caught:
        place.begun()

    assert "RAG_MODEL" in caught.value.remedy
    assert place.store.runs() == ()


# what counts as not asked


def asked(*calls: Call) -> LlmTrace:
    return LlmTrace(attempts=tuple(Attempt((), call) for call in calls))


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (Call(Step.DRAFT, endpoint="h:1", tokens_in=5, ms=9.0), ""),
        (Call(Step.DRAFT, failure="h:1 did not answer.", ms=9.0), "h:1 did not answer."),
        (Call(Step.SUFFICIENCY, endpoint="h:1", tokens_in=5, ms=9.0, failure="Its verdict is no JSON."), ""),
        (Call(Step.DRAFT, failure="The 30000 tokens for one question are spent."), ""),
    ],
    ids=["answered", "silent", "answered nonsense", "limit of a setting"],
)
def test_given_a_call_when_it_failed_then_only_an_endpoint_that_did_not_answer_counts(
    place: Place, call: Call, why: str
) -> None:
    measurements = replace(place.engine.measure("When?", settings()), llm_trace=asked(call))

    assert unasked(measurements) == why
    spending = Spending(silent=1)
    spending.add(measurements)
    assert (spending.tokens, spending.silent) == (call.tokens_in, 2 if why else 0)
