"""A later turn is gated as a first one: a follow-up that is refused sends a language model nothing."""

from __future__ import annotations

from attack_kit import Arena

from rag_core.decision.decide import decide

STORES = "How many stores did Best Buy open in Q2 FY24?"


def test_given_a_follow_up_when_it_is_refused_by_a_gate_then_the_model_is_called_zero_times(arena: Arena) -> None:
    """S0-4: a refusal before generation makes no call, in a later turn too."""
    arena.server.play({"question": "What?"})
    settings = arena.settings(correctness_mode="enforce", min_correctness=1.0)
    for typed in ("And in Q3?", "And where?", "Why?", "What is the notice period?"):
        found = arena.engine.stand_alone(typed, [STORES], settings)
        kept = []
        decision = arena.engine.ask(found.question, settings, about=found.about, on_measured=kept.append)

        assert not decision.answered
        assert decide(kept[0]).reason is decision.reason
        assert arena.server.calls == 0
