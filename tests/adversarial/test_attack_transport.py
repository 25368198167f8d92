"""Servers that fail: turned away, overloaded, broken, hanging, dripping, dropping half-way.

The extract stands in, or a refusal says so.
"""

from __future__ import annotations

import pytest
from attack_kit import (
    KEY,
    POLICIES,
    SICK,
    SICK_PAID,
    Arena,
    Attack,
    assert_audited,
    assert_extract,
    assert_refused,
    ids,
)
from held_clock import held
from honest_model import draft, honest, refusal
from model_server import Drip, Drop, Hang, ModelServer, Status

from rag_core.decision.decide import decide
from rag_core.domain.decision import Decision
from rag_core.domain.status import Reason
from rag_core.entrypoints.commands.terminal import show_decision
from rag_core.records import write

SECRET = "internal stack trace of the server"
LIMIT = 5  # seconds, the least that a question may be given
STEP = 0.5  # seconds that the clock of these tests goes on each time the question is asked whether it was stopped


def failing(name: str, reply: object, **changed: object) -> Attack:
    return Attack(name, reply, (Reason.NOT_RUN,), changed=dict(changed))


FAILING = [  # every other status: tests/adapters/test_model_limits.py
    failing("401", Status(401, message=SECRET)),
    failing("429 with an hour to wait", Status(429, {"Retry-After": "3600"}, SECRET)),
    failing("503", Status(503, {"Retry-After": "0"}, SECRET)),
    failing("a redirect", Status(302, {"Location": "https://evil.example/v1"}, SECRET)),
    failing("dropped half-way", Drop(SICK_PAID)),
    failing("hangs", Hang(), model_seconds=LIMIT),
    failing("hangs after its headers", Hang(headers_first=True), model_seconds=LIMIT),
    failing("drips", Drip(SICK_PAID * 20), model_seconds=LIMIT),
]


@pytest.mark.parametrize("attack", **ids(FAILING))
def test_given_a_server_that_fails_when_asked_then_it_is_said_within_the_time_and_no_key_or_word_of_it_is_shown(
    arena: Arena, attack: Attack, caplog
):
    with held() as clock:
        refused, extract = arena.ends(attack, clock.ticking(arena.server, STEP))

        assert clock.passed < LIMIT + 3
    assert_refused(refused, attack.reasons)
    assert_extract(extract)
    assert arena.model in refused.explanation
    for decision in (refused, extract):
        assert_audited(decision, arena.engine)
        assert [view.outcome for view in decision.attempts] == ["failed"]
        assert_kept(decision, caplog.text)


def assert_kept(decision: Decision, log: str) -> None:
    """Neither the key nor what the server said of its inside stands anywhere, the trace of the drafts included."""
    for text in (str(decision.to_json()), show_decision(decision), log):
        assert KEY not in text
        assert KEY[-12:] not in text
        assert SECRET not in text


def test_given_a_dead_first_endpoint_when_asked_then_the_second_answers_and_it_is_said_why_not_the_first(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
):
    """S0-22: the configured endpoint, then the local one, then the extract."""
    with ModelServer(honest) as second:
        monkeypatch.setenv("RAG_FALLBACK_BASE_URL", second.base_url)
        monkeypatch.setenv("RAG_FALLBACK_MODEL", "local")
        decision, _ = arena.ends(Attack("dead", Status(500)))

        assert decision.metadata["drafter"] == "model"
        assert decision.metadata["model"] == "local"
        assert second.calls == 1
        assert any(arena.model in why for why in decision.metadata["tried"])
        second.play(Status(500))
        refused, extract = arena.ends(Attack("both dead", Status(401)))
    assert_refused(refused, (Reason.NOT_RUN,))
    assert_extract(extract)


def test_given_a_model_that_repeats_the_key_when_asked_then_it_stands_in_no_draft_no_record_and_no_log(
    arena: Arena, caplog
):
    for said in (refusal(f"Use the key {KEY}."), draft((f"The key is {KEY}.", "1", KEY))):
        arena.server.play(said)
        measurements = arena.engine.measure(SICK, arena.settings(), [POLICIES])
        decision = decide(measurements)
        written = write(measurements)

        assert len(decision.attempts) > 0
        for text in (repr(decision.to_json()), repr(decision), repr(measurements), repr(written), caplog.text):
            assert KEY not in text
