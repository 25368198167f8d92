"""The example that compares the four set-ups of S1: what it counts, and its rule."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from builders import measurements, settings
from honest_model import honest, question, refusal, sufficient
from model_server import Asked, ModelServer

from examples.four_setups import DATA, SETUPS, Figures, figures, latency, main, measurable, pick
from rag_core import Decision, decide
from rag_core.domain.answer import Refusal
from rag_core.domain.llm_trace import Attempt, Call, LlmTrace, Step, Sufficiency
from rag_core.domain.measurements import Measurements
from rag_core.domain.status import Reason
from rag_core.evaluation import Rate
from rag_core.settings import Mode, Settings, presets

DOCUMENTS = ("company-policies.pdf", "flow-meter-manual.pdf", "wissensdatenbank.pdf")
LABELLED = (
    ("How often does the flow meter have to be calibrated?", True),
    ("How many vacation days do employees have?", True),
    ("What is the capital of France?", False),
)


def test_given_figures_when_the_rule_is_asked_then_it_picks_by_name_or_says_what_is_missing() -> None:
    """S1-16: hybrid when prompt hardening is at least 70 % effective, the model guard when hallucinations exceed 20
    %.
    """
    for effectiveness, hallucinations, option, missing in (
        (0.90, 0.10, 4, ()),
        (0.70, 0.10, 4, ()),
        (0.69, 0.10, None, ()),
        (0.69, 0.20, None, ()),
        (0.69, 0.21, 3, ()),
        (0.90, 0.21, 3, ()),
        (None, 0.21, 3, ()),
        (None, 0.10, None, ("effectiveness",)),
        (None, None, None, ("effectiveness", "hallucinations")),
        (0.90, None, None, ("hallucinations",)),
    ):
        found = pick(effectiveness, hallucinations)
        assert (found.setup.option if found.setup else None, found.missing) == (option, missing), (
            effectiveness,
            hallucinations,
        )


def test_given_the_set_ups_then_number_name_and_preset_agree_and_all_four_need_a_model() -> None:
    """S1-12, S1-17: the hybrid is option 4, whatever the recommendation calls it."""
    assert [(one.option, one.name) for one in SETUPS] == [
        (1, "prompt only"),
        (2, "embedding guard"),
        (3, "model guard"),
        (4, "hybrid"),
    ]
    assert {one.preset for one in SETUPS} <= set(presets())
    assert [one.option for one in measurable(Settings.load())] == [2, 4]
    assert measurable(Settings.load().changed(drafter="model")) == SETUPS


def test_given_timings_when_the_guards_latency_is_asked_then_it_is_the_95th_percentile_of_what_it_adds() -> None:
    """S1-13, S1-14."""
    taken = [float(ms) for ms in range(40)]
    records = [Measurements("?", Settings.load(), timings={"relevance": ms}) for ms in taken] + [
        Measurements("?", Settings.load())
    ]

    assert latency(records, 2) == latency(records, 4) == pytest.approx(np.percentile(taken, 95))
    assert latency([], 2) is None
    assert latency(records, 1) == 0.0


def test_given_a_guard_by_a_model_when_its_latency_is_asked_then_only_verdicts_that_were_waited_for_count() -> None:
    """S1-10, S1-13: a failed verdict and a draft say nothing about it."""
    drafted = (Attempt((), Call(Step.DRAFT, ms=9000.0)),)

    def asked(*calls: Call) -> Measurements:
        return Measurements(
            "?", Settings.load(), llm_trace=LlmTrace(judgements=tuple(map(Sufficiency, calls)), attempts=drafted)
        )

    judgement = Call(Step.SUFFICIENCY, ms=200.0)
    records = [
        asked(judgement),
        asked(replace(judgement, ms=60000.0, failure="It hung.")),
    ]

    assert latency(records, 3) == 200.0
    assert latency(records[1:], 3) is None


def test_given_decisions_when_they_are_counted_then_each_rate_has_its_own_questions() -> None:
    """S1-13, S1-15, S1-20: what a guard refuses is over-rejection; what failed or needs a model again counts
    nowhere.
    """
    of = settings(relevance_mode=Mode.ENFORCE, top_cosine_mode=Mode.ENFORCE)
    answered, guarded = (measurements(0.9, of=of, relevance=cosine) for cosine in (0.9, 0.1))
    refused = measurements(0.2, of=of)
    failed, unsettled = replace(answered, failure="It broke."), decide(refused)
    unsettled = replace(unsettled, outcome=Refusal("", (Reason.NEEDS_GENERATION,)))
    can, cannot = [answered, answered, guarded, refused, refused], [answered, refused, guarded, refused]
    records = [*can, *cannot, failed, failed, refused, refused]
    decisions = [*map(decide, records[:-2]), unsettled, unsettled]
    answerable = [True] * len(can) + [False] * len(cannot) + [True, False] * 2

    def rates(of: Sequence[Decision], can_be: Sequence[bool]) -> list[tuple[int, int]]:
        found = figures(SETUPS[1], can_be, of, records)
        return [(rate.k, rate.n) for rate in (found.hallucinations, found.false_negatives, found.over_rejections)]

    assert rates(decisions, answerable) == [(1, 4), (3, 5), (1, 5)]
    assert rates(decisions, [not one for one in answerable]) == [(2, 5), (3, 4), (1, 4)]
    by_model = replace(unsettled, outcome=Refusal("", (Reason.SUFFICIENCY,)))
    assert rates([*decisions[:3], by_model, by_model, *decisions[5:]], answerable) == [(1, 4), (3, 5), (3, 5)]


def test_given_figures_when_held_against_the_targets_then_each_is_met_below_its_number_alone() -> None:
    """S1-14: hallucinations below 5 %, false negatives below 10 %, 100 ms at the 95th percentile."""
    good = Figures(Rate(4, 100), Rate(9, 100), Rate(100, 100), 99.9)

    assert good.targets_met == 3
    for worse in (
        {"hallucinations": Rate(5, 100)},
        {"false_negatives": Rate(10, 100)},
        {"latency_ms": 100.0},
        {"latency_ms": None},
    ):
        assert replace(good, **worse).targets_met == 2, worse
    assert replace(good, hallucinations=Rate(0, 0), false_negatives=Rate(0, 0)).targets_met == 1


Told = Callable[[], list[list[str]]]


@pytest.fixture
def said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Told:
    """The rows of the table that the program prints, as cells, and its last line as a row of its own."""
    labelled, documents = tmp_path / "labelled.jsonl", tmp_path / "documents"
    labelled.write_text(
        "".join(json.dumps({"question": text, "answerable": yes}) + "\n" for text, yes in LABELLED), encoding="utf-8"
    )
    documents.mkdir()
    for name in DOCUMENTS:
        shutil.copy(DATA / "samples" / name, documents)

    def told() -> list[list[str]]:
        code, printed = main(documents, labelled), capsys.readouterr()
        assert code == 0, printed.err
        lines = printed.out.splitlines()
        return [
            [cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| Option")
        ] + [[lines[-1]]]

    return told


def test_given_no_model_when_the_four_are_compared_then_two_are_measured_and_the_rule_says_what_is_missing(
    said: Told,
) -> None:
    """S1-13, S1-15, S1-20."""
    prompt_only, embedding_guard, model_guard, hybrid, (rule,) = said()

    assert prompt_only[1] == model_guard[1] == "needs a language model"
    assert [
        row[1].endswith("of 1") and row[2].endswith("of 2") and row[3].endswith("of 2")
        for row in (embedding_guard, hybrid)
    ] == [True] * 2
    assert embedding_guard[4].endswith(" ms")
    assert "Missing: effectiveness, hallucinations." in rule


def test_given_a_model_when_the_four_are_compared_then_all_are_measured_on_one_run_and_the_rule_picks(
    said: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S1-13, S1-16, S1-20: over-rejection by the model's verdict, and the rule's pick."""

    def doubtful(asked: Asked) -> object:
        """An honest model that finds no passage about France, and says of those about the flow meter, wrongly, that
        they do not suffice.
        """
        if "can_answer" in str(asked.body.get("response_format")):
            return sufficient("no", missing=("the figure",)) if "flow meter" in question(asked) else sufficient()
        return refusal("It is not there.") if "France" in question(asked) else honest(asked)

    with ModelServer(doubtful) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("RAG_MODEL", "scripted")
        prompt_only, _, model_guard, _, (rule,) = said()

    assert prompt_only[1] == "0 of 1"
    assert prompt_only[3] == "0 of 2"
    assert model_guard[3] == "1 of 2"  # the model's no was wrong: over-rejection
    assert model_guard[4].endswith(" ms")
    assert rule == "The rule picks option 4, hybrid."  # nothing was answered that is not in the documents
