"""An honest model beside the liars: its faithful compressions are shown, not replaced by the extract, in every language
of the samples.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from attack_kit import Arena, Attack, assert_audited, saying
from honest_model import honest

from rag_core.decision.decide import decide
from rag_core.domain.decision import Decision
from rag_core.settings import Mode

ROWS = yaml.safe_load((Path(__file__).parent / "compressions.yaml").read_text(encoding="utf-8"))
ASKED = {row["language"]: row for row in reversed(ROWS)}  # the first of each language


def of(row: dict[str, Any], reply: Any, **changed: Any) -> Attack:
    return Attack("honest", reply, (), (), row["question"], (row["document"],), changed)


def assert_shown(decision: Decision, arena: Arena) -> None:
    """The model's own draft is the answer, and the first one was good enough."""
    assert_audited(decision, arena.engine)
    rejected = [(check.reason, check.found) for view in decision.attempts for check in view.checks if check.blocks]
    assert decision.metadata["drafter"] == "model", (decision.explanation, decision.metadata["drafter_note"], rejected)
    assert [view.outcome for view in decision.attempts] == ["shown"]


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['language']}: {row['question']}" for row in ROWS])
def test_given_a_faithful_compression_when_asked_then_it_is_shown(arena: Arena, row: dict[str, Any]):
    decision = decide(arena.measure(of(row, saying(*map(tuple, row["claims"])))))

    assert_shown(decision, arena)
    assert [claim.text for claim in decision.claims] == [sentence for sentence, _ in row["claims"]]
    assert arena.server.calls == 1


@pytest.mark.parametrize("schemas", ["honour", "ignore", "refuse"])
def test_given_a_model_that_copies_the_best_sentences_when_asked_then_they_are_shown_with_schemas_or_without(
    arena: Arena, schemas: Any
):
    """With schemas in each language: the next test."""
    arena.server.play(honest, schemas)
    row = ASKED["en"]
    decision = decide(arena.engine.measure(row["question"], arena.settings(), [row["document"]]))

    assert_shown(decision, arena)
    assert arena.server.refused == (1 if schemas == "refuse" else 0)


@pytest.mark.parametrize("language", ASKED)
def test_given_every_guard_that_a_model_has_when_it_is_honest_then_its_draft_is_shown(arena: Arena, language: str):
    """S1-9, S3-9, S3-15: asked whether the passages suffice, then to draft, then whether they say what it drafted."""
    row = ASKED[language]
    guards = {"sufficiency_mode": Mode.ENFORCE, "verification_mode": Mode.ENFORCE}
    decision = decide(arena.measure(of(row, honest, **guards)))

    assert_shown(decision, arena)
    assert [
        next(iter(asked["response_format"]["json_schema"]["schema"]["properties"])) for asked in arena.server.requests
    ] == [
        "can_answer",
        "answerable",
        "verdicts",
    ]
