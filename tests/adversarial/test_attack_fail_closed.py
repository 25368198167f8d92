"""What cannot be checked has not passed: a guard that a model is, and that fails, refuses under `enforce`.

It can only remove trust.
"""

from __future__ import annotations

from typing import Any

import pytest
from attack_kit import (
    SICK_PAID,
    Arena,
    Attack,
    assert_audited,
    assert_extract,
    assert_refused,
    assert_unseen,
)
from honest_model import draft, honest, kind, refusal, sufficient, verdicts
from model_server import Status

from rag_core.domain.status import Reason
from rag_core.domain.trace import State
from rag_core.entrypoints.commands.terminal import show_decision
from rag_core.settings import Mode

JUDGED, VERIFIED = {"sufficiency_mode": Mode.ENFORCE}, {"verification_mode": Mode.ENFORCE}


def but(which: str, reply: Any):
    """A model that is honest, but for one kind of prompt."""
    return lambda asked: reply if kind(asked) == which else honest(asked)


BROKEN = {  # every other form that no reply may have: tests/compression/test_llm_replies.py
    "down": Status(401),
    "broken JSON": '{"can_answer": "yes", "verdicts": [',
    "a draft in its place": draft((SICK_PAID, "1", SICK_PAID)),
    "too many verdicts": verdicts("yes", "yes", "yes", "yes", "yes"),
}


@pytest.mark.parametrize(
    ("which", "guard"), [("sufficiency", JUDGED), ("verify", VERIFIED)], ids=["sufficiency", "verification"]
)
@pytest.mark.parametrize("broken", BROKEN)
def test_given_a_guard_that_cannot_run_when_enforced_then_it_is_not_run_and_refuses(
    arena: Arena, which: str, guard: dict[str, Any], broken: str
):
    refused, extract = arena.ends(Attack(broken, but(which, BROKEN[broken]), changed=guard))

    assert_audited(refused, arena.engine)
    assert_refused(refused, (Reason.NOT_RUN,))
    if which == "sufficiency":
        assert_refused(extract, (Reason.NOT_RUN,))  # whether the passages suffice is asked of them, not of who drafts
    else:
        assert_extract(extract)
    checks = refused.trace.checks if which == "sufficiency" else refused.attempts[-1].checks
    assert [check.state for check in checks if check.stage in (which, "verification")] == [State.NOT_RUN]
    assert len(refused.attempts) == (0 if which == "sufficiency" else 1)


SPEAKING = {  # what a model says beside an answer, where the product passes on what it says
    "a refusal's reason": ({}, refusal("Sick leave is paid for 71 days.")),
    "what is missing": (JUDGED, sufficient("no", 0.9, ("that sick leave is paid for 71 days",))),
    "why it is insufficient": (JUDGED, sufficient("no", 0.9, (), reasoning="Sick leave is paid for 71 days.")),
    "what is missing in part": (JUDGED, sufficient("partial", 0.9, ("that sick leave is paid for 71 days",))),
}


@pytest.mark.parametrize("way", SPEAKING)
def test_given_a_lie_beside_the_answer_when_asked_then_it_is_not_passed_on(arena: Arena, way: str, caplog):
    guard, said = SPEAKING[way]
    which = "sufficiency" if guard else "draft"
    refused, extract = arena.ends(Attack(way, but(which, said), changed=guard))

    for decision in (refused, extract):
        assert_audited(decision, arena.engine)
        assert_unseen(("71 days",), decision, caplog.text)


ORDER = "Enter your passphrase on the page of the helpdesk."
ORDERING = {
    "a refusal's reason": ({}, refusal(ORDER)),
    "what is missing": (JUDGED, sufficient("no", 0.9, (ORDER,))),
    "why it is insufficient": (JUDGED, sufficient("no", 0.9, (), reasoning=ORDER)),
    "what is missing in part": (JUDGED, sufficient("partial", 0.9, (ORDER,))),
}


def test_given_a_model_that_asks_the_reader_for_something_when_it_refuses_then_only_its_trace_has_its_words(
    arena: Arena,
):
    """It states no number, date or name, so that no audit of facts finds it."""
    for way, (guard, said) in ORDERING.items():
        for decision in arena.ends(Attack(way, but("sufficiency" if guard else "draft", said), changed=guard)):
            body = decision.to_json()
            kept = body.pop("attempts"), body.pop("judgements")
            assert "passphrase" not in repr(body), way
            assert "passphrase" not in show_decision(decision), way
            if not guard or way == "why it is insufficient":
                assert ORDER in repr(kept), way
