"""A changed profile is tried on labelled questions or kept decisions, kept with what that shows, accepted by a person, and taken back."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import settings
from library.library_kit import HashEmbedder, library, text

from rag_core.adapters.records import profiles as kept_profiles
from rag_core.adapters.records.store import RecordStore
from rag_core.decision.tools import Tools
from rag_core.domain.acts import acting, name_id
from rag_core.engine import Engine
from rag_core.errors import InvalidInput, InvalidSetting
from rag_core.evaluation.evidence import conclusion
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.records.stored import MAX_COMMENT_CHARS, Execution, ExecutionOutcome, VersionState
from rag_core.settings import Settings
from rag_core.wiring import records
from rag_core.work.profiles import learn, propose, propose_by_kept, taken

BASE = settings(top_cosine_mode="enforce", min_top_cosine=0.2)
STRICT = {"min_top_cosine": 1.0}
TEXTS = {
    "lease": "The notice period of the lease is 30 days. The rent is due on the first of each month.",
    "meter": "The flow meter is calibrated every 5 years. Its display shows cubic metres.",
}
QUESTIONS = (
    LabelledQuestion("q1", "What is the notice period of the lease?", True, ("30 days",)),
    LabelledQuestion("q2", "How often is the flow meter calibrated?", True, ("every 5 years",)),
    LabelledQuestion("q3", "What is the capital of France?", False),
)
THANKS = LabelledQuestion("q5", "Thank you!", False)  # ends alike before and after


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    embedder = HashEmbedder()
    made = Engine(library(tmp_path, embedder=embedder), Tools(embedder))
    made.library.add([text(id, body) for id, body in TEXTS.items()], Settings.load())
    return made


@pytest.fixture
def store(tmp_path: Path) -> RecordStore:
    return records(tmp_path, "default")


def test_given_labelled_questions_when_a_change_is_proposed_then_its_evidence_says_what_flips(engine: Engine, store: RecordStore) -> None:
    """S3-26: a rule is learned from figures, before and after with their intervals, and changes nothing by itself."""
    steps: list[tuple[int, int]] = []
    with acting("token:ab"):
        version, ran = propose(
            engine, store, BASE, "legal", STRICT, " stricter ", QUESTIONS, lambda step, done, total: steps.append((done, total))
        )

    assert version is not None
    found = version.evidence
    assert (found["kind"], found["questions"], found["from"]) == ("labelled", 3, 0)
    assert (found["before"]["right"]["k"], found["after"]["right"]["k"]) == (2, 1)
    assert found["before"]["right"]["low"] < 2 / 3 < found["before"]["right"]["high"]
    assert (found["only_before"], found["only_after"], found["p"], found["said"]) == (2, 1, 1.0, "chance")
    assert {flip["question"]: (flip["before"], flip["after"]) for flip in found["flips"]} == {
        name_id("q1"): ("answered", "false_refusal"), name_id("q2"): ("answered", "false_refusal"),
        name_id("q3"): ("wrong_answer", "refused"),
    }  # fmt: skip
    assert (ran.measured, ran.reused, ran.total, steps[-1]) == (3, 3, 6, (6, 6)), "a threshold is judged, nothing is measured again"
    assert store.run(found["before_run"]).settings.top_k == 15, "the profile in force, over the base"
    assert store.run(found["after_run"]).settings.min_top_cosine == 1.0
    assert (version.state, version.why, version.by) == (VersionState.PROPOSED, "stricter", "token:ab")
    assert version.values == {"top_k": 15, "strategy": "legal", "min_top_cosine": 1.0}
    assert store.profile_in_force("legal").version == 0


def test_given_labelled_questions_when_changes_are_tried_then_the_best_is_proposed_and_proved_on_others(
    engine: Engine, store: RecordStore
) -> None:
    """S3-26: a rule is learned, and proved on questions that did not choose it."""
    refusing = BASE.changed(min_top_cosine=1.0)
    first, second, third = QUESTIONS
    questions = (first, second, first.__class__("q4", "When is the rent due?", True, ("first of each month",)), third)
    steps: list[tuple[int, int]] = []

    version = learn(
        engine, store, refusing, "general", questions, lambda step, done, total: steps.append((done, total)),
        tries={"min_top_cosine": (0.9999, 0.2, 1.0)},
    )  # fmt: skip

    assert version is not None
    assert (version.values, version.state) == ({"min_top_cosine": 0.2}, VersionState.PROPOSED)
    assert version.why == "The best of 2 changes on 2 other questions: 2 more of them ended right."
    assert {flip["question"] for flip in version.evidence["flips"]} == {name_id("q2"), name_id("q3")}, "those that did not choose"
    assert len(store.runs()) == 2, "what proves it is kept"
    assert (6, 6) in steps
    assert learn(engine, store, BASE, "general", questions, tries={"min_top_cosine": (1.0,)}) is None, "no change is better"
    assert learn(engine, store, BASE, "general", questions, tries={"min_top_cosine": (0.19,)}) is None, "one that is as good is none"
    assert learn(engine, store, refusing, "general", questions, cancelled=lambda: True) is None
    assert (len(store.runs()), len(store.profile_versions("general"))) == (2, 2)
    with pytest.raises(InvalidInput, match="One question"):
        learn(engine, store, BASE, "general", questions[:1])


def test_given_versions_when_a_person_chooses_then_each_can_be_in_force_again(engine: Engine, store: RecordStore) -> None:
    first, second = [store.propose_profile("code", {"top_k": k}, "", {"questions": 1}).version for k in (5, 7)]

    with acting("command:eva"):
        accepted = store.put_profile_in_force("code", second)
    assert (accepted.state, accepted.settled_by) == (VersionState.ACCEPTED, "command:eva")
    assert taken(store, engine, "code", "?").over(BASE).top_k == 7
    with pytest.raises(InvalidInput, match="not a proposal"):
        store.decline_profile("code", second)
    assert store.decline_profile("code", first).state is VersionState.DECLINED
    with pytest.raises(InvalidInput, match="not a proposal"):
        store.decline_profile("code", first)
    assert store.put_profile_in_force("code", first).state is VersionState.ACCEPTED, "a no can be taken back"
    assert store.put_profile_in_force("code", 0).version == 0
    assert taken(store, engine, "code", "?").over(BASE).top_k == BASE.top_k
    assert [one.version for one in store.profile_versions("code")] == [0, first, second]
    assert [one.version for one in store.profile_versions("legal")] == [0]
    with pytest.raises(InvalidInput, match="no version 9"):
        store.put_profile_in_force("code", 9)
    with pytest.raises(InvalidSetting, match="no domain"):
        store.put_profile_in_force("law", 0)


def test_given_kept_decisions_when_a_threshold_is_proposed_then_those_of_this_domain_are_judged_again(
    engine: Engine, store: RecordStore
) -> None:
    with pytest.raises(InvalidInput, match="None of the newest"):
        propose_by_kept(store, BASE, "legal", STRICT, "")
    kept = []
    for question, domain in ((QUESTIONS[0], "legal"), (QUESTIONS[1], "medical"), (QUESTIONS[1], None), (THANKS, "legal")):
        found = taken(store, engine, domain, question.question) if domain else None
        engine.ask(
            question.question, found.over(BASE) if found else BASE, about=found.about if found else {},
            on_measured=lambda measured: kept.append(store.keep(measured)),
        )  # fmt: skip

    found = propose_by_kept(store, BASE, "legal", STRICT, "").evidence
    general = propose_by_kept(store, BASE, "general", STRICT, "").evidence

    assert (found["kind"], found["questions"], found["said"]) == ("kept", 2, "unlabelled")
    assert found["flips"] == [{"question": str(kept[0]), "before": "answered", "after": "refused"}]
    assert [flip["question"] for flip in general["flips"]] == [str(kept[2])]
    assert (found["before"]["answered"]["k"], found["after"]["answered"]["k"]) == (2, 1)
    with pytest.raises(InvalidSetting, match="another search"):
        propose_by_kept(store, BASE, "legal", {"top_k": 3}, "")


def test_given_what_cannot_be_tried_then_nothing_is_proposed(engine: Engine, store: RecordStore) -> None:
    for values, error, said in (
        ({"top_k": 15}, InvalidInput, "changes nothing"), ({"semantic_weight": BASE.semantic_weight}, InvalidInput, "changes nothing"),
        ({"strategy": "code"}, InvalidSetting, "how documents are read"), ({"refusal_text": "No."}, InvalidSetting, "cannot set"),
    ):  # fmt: skip
        with pytest.raises(error, match=said):
            propose(engine, store, BASE, "legal", values, "", QUESTIONS)
    lost = LabelledQuestion("q4", "What is in the lost document?", True, documents=("lost.pdf",))
    with pytest.raises(InvalidInput, match="None of the questions could be measured"):
        propose(engine, store, BASE, "legal", STRICT, "", (lost,))
    version, ran = propose(engine, store, BASE, "legal", STRICT, "", QUESTIONS, cancelled=lambda: True)

    assert (version, ran.cancelled) == (None, True)
    assert len(store.profile_versions("legal")) == 1


def test_given_a_decision_when_no_domain_was_named_then_nothing_says_so_and_nothing_changed(engine: Engine, store: RecordStore) -> None:
    plain = engine.ask(QUESTIONS[0].question, BASE)
    general = taken(store, engine, "general", QUESTIONS[0].question)

    assert "profile" not in plain.metadata
    assert general.over(BASE) == BASE
    asked = engine.ask(QUESTIONS[0].question, general.over(BASE), about=general.about)
    assert (asked.answer, asked.metadata["profile"]) == (plain.answer, "general@0")
    assert asked.metadata["profile_why"] == "Chosen by the caller."


def test_given_more_executions_than_are_kept_then_the_oldest_go(store: RecordStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_profiles, "MAX_EXECUTIONS", 2)
    for confidence in (0.1, 0.2, 0.3):
        store.record_execution(Execution("rag_strategy", "", confidence, 1.0, False, ExecutionOutcome.REFUSED), "api:1")

    assert [one.confidence for one in store.executions()] == [0.3, 0.2]


def test_given_a_long_reason_then_it_is_cut(store: RecordStore) -> None:
    assert len(store.propose_profile("code", {}, "x" * 5000, {}).why) == MAX_COMMENT_CHARS


def test_given_wins_and_losses_then_the_conclusion_is_one_of_chance_or_not() -> None:
    cases = {(0, 0): "same", (0, 5): "chance", (0, 6): "better", (6, 0): "worse", (10, 10): "chance"}

    assert {case: conclusion(*case) for case in cases} == cases
