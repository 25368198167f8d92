"""An answer is safe only where every check that its preset enforces has judged it, whoever switched one off."""

from __future__ import annotations

from builders import matched, measurements
from folding import each

from rag_core import Settings, decide
from rag_core.decision.present import unjudged
from rag_core.domain.measurements import Understanding
from rag_core.domain.trace import CheckResult, State, Trace
from rag_core.settings import Mode


@each(
    ("preset", "values", "missing"),
    [
        ("balanced", {}, []),
        ("balanced", {"correctness_mode": "off"}, ["correctness"]),
        ("balanced", {"correctness_mode": "observe", "facts_mode": "off"}, ["correctness", "facts"]),
        ("balanced", {"min_correctness": 0.0}, ["correctness"]),
        ("balanced", {"min_correctness": 0.01}, []),
        ("balanced", {"min_sentence_overlap": 0.0}, ["overlap"]),
        ("balanced", {"max_added_words": 20}, []),  # no model drafted
        ("balanced", {"added_words_mode": "off"}, ["added_words"]),
        ("balanced", {"top_cosine_mode": "off", "min_mean_cosine": -1.0}, []),  # which it only observes
        ("compliance", {}, []),
        ("compliance", {"top_cosine_mode": "observe"}, ["top_cosine"]),
        ("compliance", {"min_keywords": 0}, ["keywords"]),
        ("tutor-maximum-safety", {"contradictions_mode": "observe"}, ["contradictions"]),
        ("scoping", {"max_distance": 2.0}, ["distance", "min_documents"]),
        ("scoping", {"min_documents": 1}, ["min_documents"]),
        ("open", {}, []),
    ],
)
def test_given_a_check_that_the_preset_enforces_when_it_cannot_refuse_then_the_answer_is_not_safe(
    preset: str, values: dict[str, object], missing: list[str]
) -> None:
    """S2-3, S2-4: it is shown, and `is_safe` is false."""
    of = Settings.load(preset, values)
    asked = Understanding("en", "procedural")
    decision = decide(
        measurements(0.9, 0.9, of=of, understanding=asked, keywords=matched(3), correctness=0.9, relevance=0.9)
    )

    assert decision.answered, decision.explanation
    assert decision.metadata.get("unjudged", []) == missing
    row = decision.to_json()
    assert row["is_safe"] is decision.is_safe() is (not missing)
    assert (row["status"], row["is_refusal"]) == ("success", False)


def test_given_a_limit_that_is_loosest_in_the_preset_itself_then_its_check_has_judged() -> None:
    """S1-9: a model's yes is enough under `relevance-llm`, however sure it is."""
    of = Settings.load("relevance-llm")
    row = CheckResult("sufficiency", State.PASSED, Mode.ENFORCE, 0.2, of.min_sufficiency)

    assert unjudged(of, Trace((row,))) == ()
    assert unjudged(of.changed(sufficiency_mode="observe"), Trace((row,))) == ("sufficiency",)
