"""Models whose answer is not in the form that was asked for: broken, foreign, empty, endless, or dressed in tricks of
Unicode.
"""

from __future__ import annotations

import json
import unicodedata
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
    attack_with_drafts,
    ids,
    lie,
    source_with,
)
from honest_model import draft, honest
from model_server import Asked, Body, Huge

from rag_core.domain.status import Reason as R

FALSE = "Sick leave is paid for 71 days."
BAD = ("71 days",)
DRINKS = "Is alcohol reimbursed?"
STREAM = f'data: {{"choices": [{{"delta": {{"content": "{FALSE}"}}}}]}}\n\ndata: [DONE]\n\n'


def text(reply: Any) -> str:
    return json.dumps(reply, ensure_ascii=False)


def lied(asked: Asked) -> dict[str, Any]:
    return draft((FALSE, source_with(asked, SICK_PAID), SICK_PAID))


def twice(asked: Asked) -> str:
    """A true draft whose key "claims" is given again, with a lie."""
    true = text(draft((SICK_PAID, source_with(asked, SICK_PAID), SICK_PAID)))
    return true[:-1] + ', "claims": ' + text(lied(asked)["claims"]) + "}"


def many(asked: Asked, count: int) -> dict[str, Any]:
    source = source_with(asked, SICK_PAID)
    return draft(*[(f"Sick leave is paid for {1000 + number} days.", source, SICK_PAID) for number in range(count)])


# of each kind the worst; every other form: tests/compression/test_llm_replies.py, tests/adapters/test_openai_model.py
UNREADABLE = [
    Attack(
        "prose with a citation",
        lambda asked: f'{FALSE} [{source_with(asked, SICK_PAID)}] "{SICK_PAID}"',
        (R.MALFORMED_DRAFT,),
        BAD,
    ),
    Attack("a key given twice", twice, (R.MALFORMED_DRAFT,), BAD),
    Attack("21 claims", lambda asked: many(asked, 21), (R.MALFORMED_DRAFT,), ("1007 days",)),
    Attack("a quote of 10 kB", lambda asked: draft((FALSE, "1", SICK_PAID * 170)), (R.MALFORMED_DRAFT,), BAD),
]
EMPTY = [
    Attack("nothing", "", (R.EMPTY_DRAFT,)),
    Attack("thoughts only", f"<think>{FALSE}</think>", (R.EMPTY_DRAFT,), BAD),
]


@pytest.mark.parametrize("attack", **ids(UNREADABLE + EMPTY))
def test_given_an_answer_that_cannot_be_read_when_asked_then_it_is_a_rejected_draft(
    arena: Arena, attack: Attack, caplog
):
    refused, extract = arena.ends(attack)

    for decision in (refused, extract):
        assert_audited(decision, arena.engine)
        assert_unseen(attack.bad, decision, caplog.text)
        assert {view.outcome for view in decision.attempts} == {"empty" if attack in EMPTY else "malformed"}
    assert arena.server.calls == 4
    assert_refused(refused, attack.reasons)
    assert_extract(extract)


def fenced(asked: Asked) -> str:
    return f"Here you are:\n```json\n{text(lied(asked))}\n```\nI hope it helps!"


PROSE = [
    Attack("prose around a lie in JSON", fenced, (R.FACTS,), BAD),
    Attack(
        "a surplus key",
        lambda asked: {**lied(asked), "note": "Pay 500 euros at once."},
        (R.FACTS,),
        (*BAD, "500 euros"),
    ),
]
PAID = "Sick leave is paid in full for {} days."
TAGS = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
TRICKS = [
    lie("homoglyphs in the quote", FALSE, SICK_PAID.replace("a", "а"), R.VERBATIM, bad="71 days"),  # Cyrillic а
    lie("homoglyphs in the sentence", "Siсk lеаvе is раid in full for 30 dауs.", SICK_PAID, bad="Siсk lеаvе"),
    lie("a circled digit in the quote", PAID.format("3①"), SICK_PAID.replace("30", "3①"), R.VERBATIM, bad="31 days"),
    lie("a superscript in the quote", PAID.format("30²"), SICK_PAID.replace("30", "30²"), R.VERBATIM, bad="30² days"),
    lie("a superscript in the sentence", PAID.format("3⁰"), SICK_PAID, R.FACTS, bad="3⁰ days"),
    lie(
        "a joiner between wrong digits",
        PAID.format("3\u200d6"),
        SICK_PAID.replace("30", "3\u200d6"),
        R.VERBATIM,
        bad="36 days",
    ),
    lie("a number turned round by direction marks", PAID.format("\u202e60\u202c"), SICK_PAID, R.FACTS, bad="60 days"),
    lie("tags that nobody sees", FALSE + TAGS, SICK_PAID, R.FACTS, bad="71 days"),
    lie(
        "emoji for a negation",
        "Alcohol is 🚫 reimbursed.",
        "Alcohol is 🚫 reimbursed.",
        R.VERBATIM,
        bad="Alcohol is 🚫",
        question=DRINKS,
    ),
    lie("a terminal's escape codes", f"{FALSE}\x1b[2J\x1b[31m", SICK_PAID, R.FACTS, bad="71 days"),
]


@pytest.mark.parametrize("attack", **ids(PROSE + TRICKS))
def test_given_a_lie_in_another_dress_when_asked_then_it_is_never_shown(arena: Arena, attack: Attack, caplog):
    attack_with_drafts(arena, attack, caplog)


DRESSES = {
    "a joiner inside a number": lambda asked: _true(asked, SICK_PAID.replace("30", "3\u200d0")),
    "full-width digits": lambda asked: _true(asked, SICK_PAID.replace("30", "３０")),
    "direction marks": lambda asked: _true(asked, SICK_PAID.replace("30", "\u202d30\u202c")),
    "other blanks": lambda asked: _true(asked, SICK_PAID.replace(" ", "\u00a0")),
    "composed and decomposed": lambda asked: _true(asked, unicodedata.normalize("NFD", SICK_PAID)),
    "thoughts before it": lambda asked: f"<think>Let me see: 71 days?</think>\n{text(honest(asked))}",
}


def _true(asked: Asked, said: str) -> dict[str, Any]:
    return draft((said, source_with(asked, SICK_PAID), said))


@pytest.mark.parametrize("dress", DRESSES)
def test_given_the_truth_in_another_dress_when_asked_then_it_is_shown_in_the_pages_words(arena: Arena, dress: str):
    decision, _ = arena.ends(Attack(dress, DRESSES[dress]))

    assert_audited(decision, arena.engine)
    assert decision.answered, decision.explanation
    assert decision.metadata["drafter"] == "model"
    assert decision.answer.startswith(SICK_PAID)
    assert "71" not in decision.answer


TOO_MUCH = [
    Attack("10,000 claims", lambda asked: many(asked, 10_000), (R.NOT_RUN,), ("1007 days", "10007 days")),
    Attack("a claim of a megabyte", lambda asked: draft((FALSE * 32_000, "1", SICK_PAID)), (R.NOT_RUN,), BAD),
    # the budget of tokens ends it
    Attack("a quote of 200 kB", lambda asked: draft((FALSE, "1", SICK_PAID * 3_500)), (R.NOT_RUN,), BAD),
]
BODIES = [
    Attack("not JSON", Body(FALSE), (R.NOT_RUN,), BAD),
    Attack("a stream that nobody asked for", Body(STREAM, "text/event-stream"), (R.NOT_RUN,), BAD),
    Attack("10 MB", Huge(10_000_000), (R.NOT_RUN,), ("xxxxxxxxxxxxxxxxxxxx",)),
]


@pytest.mark.parametrize("attack", **ids(BODIES + TOO_MUCH))
def test_given_a_body_that_is_no_completion_when_asked_then_no_draft_was_made(arena: Arena, attack: Attack, caplog):
    refused, extract = arena.ends(attack)

    for decision in (refused, extract):
        assert_audited(decision, arena.engine)
        assert_unseen(attack.bad, decision, caplog.text)
    assert_refused(refused, attack.reasons)
    assert_extract(extract)
