"""A draft that fails goes back with what was found, at most `max_retries` times; each is in the decision, and a mended
one is shown.
"""

from __future__ import annotations

import pytest
from attack_kit import (
    POLICIES,
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


def test_given_different_lies_when_asked_again_then_each_prompt_holds_the_faults_of_the_draft_before_alone(
    arena: Arena,
):
    arena.ends(Attack("lies", [lie, second, lie, second]))

    prompts = [asked.user for asked in arena.server.asked]
    assert [LIE in prompt for prompt in prompts] == [False, True, False, True]
    assert [SECOND in prompt for prompt in prompts] == [False, False, True, False]


def test_given_a_lie_when_the_model_then_declines_then_its_refusal_ends_it(arena: Arena, caplog):
    refused, extract = arena.ends(Attack("declines", [lie, refusal()], question=BUDGET))

    assert_refused(refused, (Reason.MODEL_REFUSED,))
    assert refused.status == "insufficient_context"
    assert_extract_stands(extract, arena.engine)
    for decision in (refused, extract):
        assert [view.outcome for view in decision.attempts] == ["rejected", "refused"]
        assert_unseen(("71 days",), decision, caplog.text)


BUDGET = "What is the training budget of each employee?"  # its extract has a high score
# and whether the extract's score is high, so that it stands where it may
DECLINED = [
    ("en", BUDGET, POLICIES, True),
    ("cs", "Jak dlouhá je záruka na zboží?", "smlouva-o-dodavce.pdf", True),
    ("de", "Wann verfällt nicht genommener Urlaub?", "wissensdatenbank.pdf", True),
    ("hi", "सार्व अंतर किसे कहते हैं?", "samantar-shreni.pdf", False),
]


# each in another language than it is asked in; that a refusal is known in all of them: test_llm_replies
@pytest.mark.parametrize(
    ("language", "question", "document", "stands", "said_in"),
    [(*row, said_in) for row, said_in in zip(DECLINED, ("cs", "de", "hi", "en"), strict=True)],
)
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
