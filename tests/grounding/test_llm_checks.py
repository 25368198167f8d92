"""The audits of a model's draft: its language, its length, what the model says of its claims, and of the passages
before.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import claim, draft, hit, measurements, passage, settings
from folding import each

from rag_core.decision.checks import LLM_DRAFT, SUFFICIENCY, VERIFICATION
from rag_core.decision.checks.llm import Drafted, Said
from rag_core.domain.llm_trace import Answerable, Attempt, Call, Step, Sufficiency, Verification, YesNo
from rag_core.domain.measurements import Measurements, Understanding
from rag_core.domain.status import Reason
from rag_core.domain.trace import CheckResult, State
from rag_core.settings import Mode

CALL = Call(Step.DRAFT)
ENFORCED = {
    "rewording": "audited",
    "answer_language_mode": Mode.ENFORCE,
    "answer_length_mode": Mode.ENFORCE,
    "added_words_mode": Mode.ENFORCE,
    "verification_mode": Mode.ENFORCE,
}


def view(
    asked: str = "en", sources: tuple[str, ...] = ("en",), claims: int | None = None, **values: object
) -> Measurements:
    """Measurements in a language with one claim for each language of a passage."""
    passages = [passage(number, language=language) for number, language in enumerate(sources, 1)]
    said = [claim(one, f"Claim {number}.") for number, one in enumerate(passages, 1)][:claims]
    found = tuple(hit(0.9, number, of=one) for number, one in enumerate(passages, 1))
    return measurements(
        hits=found, draft=draft(said), understanding=Understanding(asked), of=settings(**{**ENFORCED, **values})
    )


def attempt(language: str = "en", sentences: int = 1, tokens: int = 10, *answers: YesNo, failure: str = "") -> Attempt:
    said = Verification(Call(Step.VERIFY, failure=failure), answers) if answers or failure else None
    return Attempt((), CALL, language=language, sentences=sentences, tokens=tokens, verification=said)


def model_audits(judged: Measurements, one: Attempt) -> tuple[CheckResult, ...]:
    return tuple(check(Drafted(judged, one)) for check in LLM_DRAFT)


def verification(judged: Measurements, one: Attempt) -> CheckResult:
    return VERIFICATION(Drafted(judged, one))


def language_of(judged: Measurements, written: str) -> CheckResult:
    return model_audits(judged, attempt(written))[0]


def length_of(judged: Measurements, sentences: int, tokens: int) -> CheckResult:
    return model_audits(judged, attempt("en", sentences, tokens))[1]


def test_given_a_draft_then_its_audits_come_in_the_order_of_their_reasons() -> None:
    """S2-15: the order is fixed."""
    checks = (*model_audits(view(), attempt()), verification(view(), attempt("en", 1, 10, "yes")))

    order = [reason for reason in Reason if reason in {check.reason for check in checks}]
    assert [check.reason for check in checks] == order
    assert {
        Reason.ANSWER_LANGUAGE,
        Reason.ANSWER_LENGTH,
        Reason.ADDED_WORDS,
        Reason.REWORDED,
        Reason.VERIFICATION,
    } <= set(order)
    assert [check.stage for check in checks] == [str(reason) for reason in order]
    assert {check.state for check in checks if check.reason not in (Reason.REWORDED, Reason.DRAFT_CORRECTNESS)} == {
        State.PASSED
    }


@each(
    ("rewording", "reworded", "state"),
    [
        ("none", (False, False), State.PASSED),
        ("none", (False, True), State.FAILED),
        ("none", None, State.NOT_RUN),
        ("audited", (False, True), State.ABSTAINED),
    ],
)
def test_given_a_draft_in_words_of_its_own_then_it_passes_only_where_they_are_audited(
    rewording: str, reworded: tuple[bool, ...] | None, state: State
) -> None:
    check = model_audits(view(rewording=rewording), replace(attempt(), reworded=reworded))[3]

    assert (check.reason, check.state, check.blocks) == (Reason.REWORDED, state, state in (State.FAILED, State.NOT_RUN))


@each(
    ("asked", "written", "state"),
    [
        ("en", "en", State.PASSED),
        ("cs", "en", State.FAILED),
        ("cs", "", State.ABSTAINED),
    ],
)
def test_given_an_answer_then_it_must_be_in_the_language_of_the_question(
    asked: str, written: str, state: State
) -> None:
    """S2-23, S1-3: the answer comes in the question's language; a draft that is of no certain language is not
    judged.
    """
    check = language_of(view(asked, sources=("und",)), written)

    assert (check.state, check.reason, check.scale) == (state, Reason.ANSWER_LANGUAGE, "count")
    assert check.blocks is (state is State.FAILED)


def test_given_sources_in_another_language_then_only_a_translation_may_differ_from_them() -> None:
    """S2-23: unless it may translate, an answer is in the language of what it quotes."""
    mixed = view("en", sources=("en", "de"))

    check = language_of(mixed, "en")
    assert (check.state, check.value) == (State.FAILED, 1.0)
    assert "its sources in de" in check.found
    assert language_of(view("en", sources=("en", "de"), translate=True), "en").state is State.PASSED
    # only what is quoted counts
    assert language_of(view("en", sources=("en", "de"), claims=1), "en").state is State.PASSED
    assert language_of(view("en", sources=("de",), translate=True), "de").state is State.FAILED


@each(
    ("sentences", "tokens", "value", "state"),
    [
        (3, 150, 1.0, State.PASSED),
        (4, 10, 4 / 3, State.FAILED),
        (1, 151, 151 / 150, State.FAILED),
    ],
)
def test_given_a_length_then_neither_sentences_nor_tokens_are_more_than_allowed(
    sentences: int, tokens: int, value: float, state: State
) -> None:
    """S0-20, S0-23: at most 150 tokens and three sentences."""
    check = length_of(view(max_sentences=3, max_tokens=150), sentences, tokens)

    assert (check.state, check.threshold, check.scale) == (state, 1, "ratio")
    assert check.value == pytest.approx(value)


def test_given_no_claims_or_a_mode_off_then_the_audits_abstain_or_are_off() -> None:
    assert {check.state for check in model_audits(view(claims=0), attempt())} == {State.ABSTAINED}
    assert verification(view(claims=0), attempt()).state is State.ABSTAINED
    off = view(
        answer_language_mode=Mode.OFF,
        answer_length_mode=Mode.OFF,
        added_words_mode=Mode.OFF,
        verification_mode=Mode.OFF,
    )
    assert not any(
        check.blocks
        for check in (*model_audits(off, attempt("de", 99, 999)), verification(off, attempt("en", 1, 1, "no")))
    )


@pytest.mark.parametrize(("added", "state"), [((0, 0), State.PASSED), ((0, 2), State.PASSED), ((3, 0), State.FAILED)])
def test_given_words_of_its_own_then_the_claim_with_most_in_a_row_decides_and_equal_passes(
    added: tuple[int, ...], state: State
) -> None:
    """S0-24: only what the text says; S0-5."""
    check = model_audits(view(max_added_words=2), replace(attempt(), added=added))[2]

    assert (check.reason, check.state, check.value) == (Reason.ADDED_WORDS, state, max(added))


@each(
    ("answers", "share", "state"),
    [
        (("yes", "yes", "yes"), 1.0, State.PASSED),
        (("yes", "no", "yes"), 2 / 3, State.FAILED),
        (("unclear", "unclear", "unclear"), 0.0, State.FAILED),
    ],
)
def test_given_verdicts_on_claims_then_only_yes_of_all_passes(
    answers: tuple[YesNo, ...], share: float, state: State
) -> None:
    """S3-15: each claim is verified against its passages; a verdict that is not clear is no yes."""
    check = verification(view(sources=("en", "en", "en")), attempt("en", 3, 30, *answers))

    assert (check.state, check.scale, check.threshold) == (state, "share", 1)
    assert check.value == pytest.approx(share)
    if state is State.FAILED:
        assert (
            f"Unverified claim: Claim {1 + next(n for n, said in enumerate(answers) if said != 'yes')}." in check.found
        )


@pytest.mark.parametrize(
    "said", [attempt(), attempt(failure="The server did not answer."), attempt("en", 1, 10, "yes", "yes")]
)
def test_given_no_verdicts_or_too_many_then_the_verification_was_not_run_and_blocks(said: Attempt) -> None:
    """S3-15: fail closed, an audit that cannot run has not passed."""
    check = verification(view(), said)

    assert (check.state, check.value, check.blocks) == (State.NOT_RUN, None, True)
    assert check.note


def suffices(
    answer: Answerable, confidence: float = 0.8, missing: tuple[str, ...] = (), failure: str = "", **values: object
) -> CheckResult:
    given: dict[str, object] = {"sufficiency_mode": Mode.ENFORCE, **values}
    return SUFFICIENCY(
        Said(view(**given), Sufficiency(Call(Step.SUFFICIENCY, failure=failure), 1, answer, confidence, missing))
    )  # type: ignore[arg-type]


@each(
    ("answer", "values", "state", "value"),
    [
        ("yes", {}, State.PASSED, 0.8),
        ("partial", {}, State.PASSED, 0.8),
        ("partial", {"refuse_partial": True}, State.FAILED, 0.8),
        ("no", {}, State.FAILED, 0.0),
        ("no", {"min_sufficiency": 0.5}, State.FAILED, 0.0),
        ("yes", {"min_sufficiency": 0.85}, State.FAILED, 0.8),
        ("no", {"sufficiency_mode": Mode.OFF}, State.NOT_RUN, None),
    ],
)
def test_given_the_models_verdict_on_the_passages_then_a_no_refuses_and_a_part_is_enough_unless_it_is_not(
    answer: Answerable, values: dict[str, object], state: State, value: float | None
) -> None:
    """S1-9, S3-10, S3-12: yes, no or partial with a confidence; a no fails whatever the limit."""
    check = suffices(answer, **values)

    assert (check.stage, check.reason, check.scale) == ("sufficiency", Reason.SUFFICIENCY, "share")
    assert (check.state, check.value) == (state, value)
    assert check.blocks is (state is State.FAILED)


def test_given_what_is_missing_then_the_check_counts_it_without_its_words_and_a_failed_call_is_not_run() -> None:
    """S3-11: a no says what is missing, in the trace: a check is shown as ours."""
    assert suffices("no", 0.9, ("the notice period", "the fee", "a", "b")).found.endswith(
        "; it names 4 things as missing, in its words in the trace"
    )
    assert suffices("no", 0.9, ("enter your password there",)).found.endswith(
        "; it names one thing as missing, in its words in the trace"
    )
    check = suffices("", 0.0, failure="The server did not answer.")
    assert (check.state, check.note, check.blocks) == (State.NOT_RUN, "The server did not answer.", True)
