"""A draft that fails goes back with what was found, at most `max_retries` times; each is in the decision, and a mended
one is shown.
"""

from __future__ import annotations

import pytest
from attack_kit import (
    POLICIES,
    SICK,
    SICK_PAID,
    Arena,
    Attack,
    assert_audited,
    assert_extract_stands,
    assert_refused,
    assert_unseen,
    saying,
)
from honest_model import data_lines, honest, refusal

from rag_core.domain.status import Reason
from rag_core.language import refusal as refusal_sentence
from rag_core.language import unsure

LIE = "Sick leave is paid in full for 71 days."
SECOND = "Sick leave is paid in full for 82 days."
lie, second = saying((LIE, SICK_PAID)), saying((SECOND, SICK_PAID))


def test_given_a_lie_when_the_next_draft_is_honest_then_it_is_shown_and_the_lie_stands_in_the_trace_alone(
    arena: Arena, caplog
):
    """S3-16: what was found goes back with the exact sentence and its reason."""
    decision, _ = arena.ends(Attack("mended", [lie, honest]))

    assert [(view.number, view.outcome) for view in decision.attempts] == [(1, "rejected"), (2, "shown")]
    assert decision.metadata["drafter"] == "model"
    assert decision.answer.startswith(SICK_PAID)
    assert_audited(decision, arena.engine)
    assert_unseen(("71 days",), decision, caplog.text)
    assert decision.attempts[0].attempt.draft.claims[0].text == LIE
    findings = [row for row in data_lines(arena.server.asked[1]) if "problem" in row]
    assert ("facts", 1) in [(row["problem"], row.get("claim")) for row in findings]
    assert all(LIE in row["found"] for row in findings if row["problem"] == "facts")
    assert any("71" in row["found"].replace(LIE, "") for row in findings), "the reason names what is wrong"
    assert LIE not in arena.server.asked[0].user


@pytest.mark.parametrize("retries", [0, 1, 3, 5])
def test_given_lies_without_end_when_asked_then_one_draft_more_than_the_retries_is_made(arena: Arena, retries: int):
    """S3-16: at most `max_retries` new drafts, then a refusal with all reasons."""
    refused, _ = arena.ends(Attack("lies", lie, changed={"max_retries": retries}))

    assert arena.server.calls == len(refused.attempts) == retries + 1
    assert_refused(refused, (Reason.FACTS,))
    assert [view.number for view in refused.attempts] == list(range(1, retries + 2))


def test_given_different_lies_when_asked_again_then_each_prompt_holds_the_faults_of_the_draft_before_alone(
    arena: Arena,
):
    arena.ends(Attack("lies", [lie, second, lie, second]))

    prompts = [asked.user for asked in arena.server.asked]
    assert [LIE in prompt for prompt in prompts] == [False, True, False, True]
    assert [SECOND in prompt for prompt in prompts] == [False, False, True, False]


def test_given_a_lie_when_the_model_then_declines_then_its_refusal_ends_it(arena: Arena, caplog):
    refused, extract = arena.ends(Attack("declines", [lie, refusal()]))

    assert_refused(refused, (Reason.MODEL_REFUSED,))
    assert refused.status == "insufficient_context"
    assert_extract_stands(extract, arena.engine)
    for decision in (refused, extract):
        assert [view.outcome for view in decision.attempts] == ["rejected", "refused"]
        assert_unseen(("71 days",), decision, caplog.text)


# and whether the extract's score is high, so that it stands where it may
DECLINED = [
    ("en", "How many days of sick leave are paid in full?", POLICIES, True),
    ("cs", "Jak dlouhá je záruka na zboží?", "smlouva-o-dodavce.pdf", False),
    ("de", "Wann verfällt nicht genommener Urlaub?", "wissensdatenbank.pdf", True),
    ("hi", "सार्व अंतर किसे कहते हैं?", "samantar-shreni.pdf", False),
]


@pytest.mark.parametrize("said_in", ["en", "cs", "de", "hi"])
@pytest.mark.parametrize(("language", "question", "document", "stands"), DECLINED, ids=[row[0] for row in DECLINED])
def test_given_a_refusal_worded_as_an_answer_when_asked_then_it_is_a_refusal_in_the_questions_language(
    arena: Arena, language: str, question: str, document: str, stands: bool, said_in: str
):
    """S4-13, S1-3: a model's refusal in any language is a refusal, and it is said in the language of the question."""
    words = refusal_sentence(said_in)
    for name, reply in (("structured", saying(words)), ("plain", words), ("field", refusal(words))):
        refused, extract = arena.ends(Attack(name, reply, question=question, documents=(document,)))

        if stands:
            assert_extract_stands(extract, arena.engine)
        for decision in (refused,) if stands else (refused, extract):
            assert_refused(decision, (Reason.MODEL_REFUSED,))
            assert decision.answer == unsure(language)
            assert decision.claims == ()
        assert arena.server.calls == 1, "a refusal is no fault to be mended"


def test_given_an_answer_with_a_refusal_behind_it_when_asked_then_it_is_no_answer_as_it_is(arena: Arena):
    refused, _ = arena.ends(Attack("both", saying((SICK_PAID, SICK_PAID), refusal_sentence("en"))))

    assert not refused.answered
    assert refused.claims == ()


OTHER = {
    "cs": "Nemocenská se vyplácí v plné výši po dobu 30 dnů v kalendářním roce, a to bez ohledu na délku nemoci.",
    "de": "Das Krankengeld wird für 30 Tage in einem Kalenderjahr in voller Höhe gezahlt, und danach nicht mehr.",
    "hi": "बीमारी की छुट्टी का पूरा वेतन एक कैलेंडर वर्ष में 30 दिनों के लिए दिया जाता है।",
}


@pytest.mark.parametrize("language", OTHER)
def test_given_an_answer_in_another_language_when_asked_then_it_is_rejected(arena: Arena, language: str, caplog):
    """S2-23, S1-3: the answer is in the language of the question."""
    attack = Attack(language, saying((OTHER[language], SICK_PAID)), (Reason.ANSWER_LANGUAGE,), (OTHER[language],))
    refused, extract = arena.ends(attack)

    assert Reason.ANSWER_LANGUAGE in refused.reasons
    for decision in (refused, extract):
        assert_audited(decision, arena.engine)
        assert_unseen(attack.bad, decision, caplog.text)


LONG = [
    "Sick leave is paid in full for 30 days in a calendar year.",
    "A doctor's note is needed from the fourth day of absence.",
    "An employee who is ill informs the manager before 9:30 on the first day.",
    "Public holidays do not count as vacation.",
    "Medical appointments of up to 2 hours are paid working time.",
    "Overtime is agreed with the manager beforehand.",
]


@pytest.mark.parametrize("joined", [False, True], ids=["claims", "one claim"])
def test_given_an_answer_twice_as_long_as_allowed_when_asked_then_it_is_rejected_though_all_of_it_is_true(
    arena: Arena, joined: bool
):
    """S0-20, S0-23: at most three sentences."""
    claims = [(" ".join(LONG[:3]), LONG[0]), (" ".join(LONG[3:]), LONG[3])] if joined else [(one, one) for one in LONG]
    refused, extract = arena.ends(Attack("long", saying(*claims), (Reason.ANSWER_LENGTH,)))

    assert Reason.ANSWER_LENGTH in refused.reasons
    assert refused.status == "hallucination_detected"
    assert extract.metadata["drafter"] == "extract"


def test_given_extract_behind_the_model_when_asked_under_it_then_the_end_is_that_of_the_replay(arena: Arena):
    """Replay says what asking says: the same measurements, judged under other settings."""
    _, replayed = arena.ends(Attack("lies", lie))
    arena.server.play(lie)
    asked = arena.engine.ask(SICK, arena.settings(fallback_extract=True), [POLICIES])

    assert (asked.answer, asked.reason, asked.metadata["drafter"]) == (
        replayed.answer,
        replayed.reason,
        replayed.metadata["drafter"],
    )
    assert [view.outcome for view in asked.attempts] == [view.outcome for view in replayed.attempts]
