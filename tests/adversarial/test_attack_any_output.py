"""Whatever a model says, the answer shown holds only claims whose quotes stand on the page they cite; or it is a
refusal.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from attack_kit import POLICIES, SICK, Arena, assert_audited
from honest_model import passages
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from model_server import Asked

from rag_core.compression.extract import context_words
from rag_core.decision.decide import decide, replay
from rag_core.decision.llm_steps import generate
from rag_core.domain.llm_trace import LlmTrace
from rag_core.domain.measurements import Measurements
from rag_core.engine import Engine
from rag_core.language import sentences
from rag_core.settings import Settings

WORDS = st.sampled_from(
    ["not", "never", "all", "30", "31", "days", "weeks", "the manager", "2027", "usually", "must", "or", "\u200d", "①"]
)
SOURCES = st.sampled_from(["1", "2", "3", "0", "99", "[1]", "Source 2", "", "company-policies.pdf", "𝟏"])


@st.composite
def edits(draw: st.DrawFn) -> list[tuple[str, int, str]]:
    """What is done to the words of a quote or a sentence: put in, taken out, changed, turned round."""
    kinds = st.sampled_from(["insert", "drop", "replace", "swap"])
    return draw(st.lists(st.tuples(kinds, st.integers(0, 30), WORDS), max_size=3))


def edited(text: str, changes: list[tuple[str, int, str]]) -> str:
    words = text.split()
    for kind, place, word in changes:
        at = place % max(1, len(words))
        if kind == "insert" or not words:
            words.insert(at, word)
        elif kind == "drop":
            del words[at]
        elif kind == "replace":
            words[at] = word
        else:
            words[at], words[at - 1] = words[at - 1], words[at]
    return " ".join(words)


@st.composite
def claims(draw: st.DrawFn) -> tuple[str, int, list[tuple[str, int, str]], list[tuple[str, int, str]]]:
    """A claim made of a sentence of the passages: its source ("" for the right one), which sentence, edits of the
    quote, of the claim.
    """
    source = draw(st.just("") | st.just("") | st.just("") | SOURCES)
    return source, draw(st.integers(0, 60)), draw(st.just([]) | st.just([]) | edits()), draw(edits())


def speaking(drawn: list[Any]) -> Any:
    """A model that quotes the real pages with these mutations."""

    def reply(asked: Asked) -> dict[str, Any]:
        found = [(source, text[a:b]) for source, text in passages(asked).items() for a, b in sentences(text, "en")]
        rows = []
        for named, which, quote_edits, claim_edits in drawn:
            source, sentence = found[which % len(found)]
            evidence = [{"source": named or source, "quote": edited(sentence, quote_edits)}]
            rows.append({"sentence": edited(sentence, claim_edits), "evidence": evidence})
        return {"answerable": True, "reason": "", "claims": rows}

    return reply


QUICK = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="session")
def measured(world: Engine) -> Measurements:
    """One question with everything measured that needs no model; each example begins there."""
    measurements = world.measure(SICK, Settings.load(), [POLICIES])
    return replace(measurements, llm_trace=LlmTrace(context_words(measurements.hits)))


def audited(arena: Arena, measured: Measurements, reply: Any) -> str:
    """Ask the model once, look at what is shown with the extract behind it and without, and say who drafted."""
    arena.server.play(reply)
    asked = replace(measured, settings=arena.settings(max_retries=0))
    measurements = generate(asked, arena.engine.library.snapshot, arena.engine.tools)
    assert arena.server.calls == 1
    for decision in (decide(measurements), replay(measurements, measurements.settings.changed(fallback_extract=True))):
        assert_audited(decision, arena.engine)
    return str(decide(measurements).metadata["drafter"])


@QUICK
@given(drawn=st.lists(claims(), min_size=1, max_size=2))
def test_given_mutated_words_of_the_pages_when_a_model_says_them_then_what_is_shown_stands_on_its_pages(
    arena: Arena, measured: Measurements, drawn: list[Any]
):
    event(audited(arena, measured, speaking(drawn)))  # --hypothesis-show-statistics: about half of them are shown
