"""The progress of a model's record: what is asked next, and what is decided, from hand-made records.

No model, no server.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import measured as measured_claim
from folding import each

from rag_core.decision.decide import decide, replay
from rag_core.decision.progress import Ask, next_step, progress_of
from rag_core.domain.claims import Conflict
from rag_core.domain.drafts import ClaimMeasurement, Draft
from rag_core.domain.llm_trace import Attempt, Call, LlmTrace, Step, Sufficiency, Verification
from rag_core.domain.measurements import Measurements, Understanding
from rag_core.domain.status import AnswerStatus, ConfidenceLevel, Reason
from rag_core.domain.trace import State
from rag_core.settings import Mode, Settings
from tests.builders import GOOD_AUDIT, SENTENCE, claim, draft, hit, measurements, passage, settings

WORDS = 400  # of a context that is worth compressing
UNSUPPORTED = measured_claim(overlap=0.9, similarity=0.9, support=0.2)
LEVELS = {"main_gate": "cosine", "high_distance": 0.5}
ROUND_0 = ("level:high", "round:0", "passages:2")


def model_settings(**values: object) -> Settings:
    return settings(**{"drafter": "model", "rewording": "audited", **LEVELS, **values})


def asked(
    *, of: Settings | None = None, cosines: tuple[float, ...] = (0.9, 0.8), words: int = WORDS, **fields: object
) -> Measurements:
    """A question that passed its gates, with an extract, and of which a model may draft."""
    record = {name: fields.pop(name) for name in ("judgements", "expanded", "attempts") if name in fields}
    return measurements(*cosines, of=of or model_settings(), llm_trace=LlmTrace(words, **record), **fields)  # type: ignore[arg-type]


def model_draft(text: str = SENTENCE, audit: ClaimMeasurement = GOOD_AUDIT) -> Draft:
    return replace(draft([claim(passage(1), text)], [audit]), drafter="model")


def attempt(
    *, keys: tuple[str, ...] = ROUND_0, failure: str = "", audit: ClaimMeasurement = GOOD_AUDIT, **fields: object
) -> Attempt:
    given = {"draft": model_draft(audit=audit), "language": "en", "sentences": 1, "tokens": 8}
    return Attempt(keys, Call(Step.DRAFT, "compress/1 0", "m", "host:1", 10, 5, failure=failure), **{**given, **fields})  # type: ignore[arg-type]


def rejected(keys: tuple[str, ...] = ROUND_0) -> Attempt:
    return attempt(keys=keys, audit=UNSUPPORTED)


def judgement(can_answer: str = "yes", *, passages: int = 2, failure: str = "", **fields: object) -> Sufficiency:
    given = {"can_answer": "" if failure else can_answer, "confidence": 0.9}
    return Sufficiency(Call(Step.SUFFICIENCY, failure=failure), passages, **{**given, **fields})  # type: ignore[arg-type]


def next_of(one: Measurements) -> Ask:
    ask = next_step(one)
    assert ask is not None
    return ask


STRICT = {"support_mode": Mode.ENFORCE}


# --- before anything is asked
# ------------------------------------------------------------------------------------------------------------


def test_given_a_question_that_passed_when_nothing_is_recorded_then_a_draft_is_asked_for() -> None:
    ask = next_of(asked())

    assert (ask.step, ask.level, ask.asked) == (Step.DRAFT, ConfidenceLevel.HIGH, ROUND_0)
    assert [one.passage.id for one in ask.hits] == ["d1#1", "d1#2"]


def test_given_a_gate_that_refuses_when_walked_then_nothing_is_asked() -> None:
    """S0-4, S1-12: no model is called after a refusal."""
    refused = asked(of=model_settings(top_cosine_mode=Mode.ENFORCE, min_top_cosine=0.95))

    assert next_step(refused) is None
    assert decide(refused).reason is Reason.TOP_COSINE


def test_given_settings_without_a_model_when_walked_then_nothing_is_asked() -> None:
    assert next_step(measurements(0.9)) is None


@pytest.mark.parametrize(("words", "note"), [(150, "too few"), (0, "too few")])
def test_given_a_short_context_then_the_extract_stands_and_no_model_is_asked(words: int, note: str) -> None:
    """S0-21: 150 words or fewer are not compressed."""
    short = asked(words=words)
    decision = decide(short)

    assert next_step(short) is None
    assert decision.answered
    assert decision.metadata["drafter"] == "extract"
    assert note in str(decision.metadata["drafter_note"])
    assert next_step(asked(words=151)) is not None


def test_given_sources_that_contradict_each_other_then_both_are_quoted_and_not_compressed() -> None:
    """S4-21."""
    first, other = passage(1), passage(2, "The notice period is 60 days.")
    clash = Conflict(0, 1, ("30 days", "60 days"), ("d1", "d1"), (1, 1), added=False)
    two = asked(draft=draft([claim(first), claim(other, other.text)]), conflicts=(clash,))

    assert next_step(two) is None
    assert len(decide(two).claims) == 2
    assert "contradict" in str(decide(two).metadata["drafter_note"])


def test_given_passages_in_another_language_when_decided_then_the_model_is_asked_only_to_translate() -> None:
    """S2-23: a translation is asked for by a setting, since its words cannot be compared."""
    foreign = {"hits": (hit(0.9, of=passage(1, language="cs")), hit(0.8, 2, of=passage(2, language="cs")))}

    assert "another language" in str(decide(asked(**foreign)).metadata["drafter_note"])
    assert next_step(asked(of=model_settings(translate=True), **foreign)) is not None


@each(("question", "passages"), [("und", "en"), ("en", "und")])
def test_given_a_language_that_is_not_certain_when_walked_then_the_model_is_asked(question: str, passages: str) -> None:
    """Nothing says that question and passages are in different languages."""
    found = tuple(replace(one, passage=replace(one.passage, language=passages)) for one in asked().hits)

    assert next_of(asked(hits=found, understanding=Understanding(question))).step is Step.DRAFT


def test_given_an_insufficient_level_when_decided_then_it_refuses_without_an_attempt() -> None:
    """S4-8: no attempt at the level `insufficient`."""
    far = asked(of=model_settings(high_distance=0.0, medium_distance=0.01, low_distance=0.05))
    decision = decide(far)

    assert next_step(far) is None
    assert (decision.reason, decision.status) == (Reason.LEVEL, AnswerStatus.LOW_CONFIDENCE)


def test_given_a_distance_cut_when_a_draft_is_asked_for_then_passages_beyond_it_are_not_sent() -> None:
    """S4-1."""
    ask = next_of(asked(of=model_settings(distance_mode=Mode.ENFORCE, max_distance=0.15)))

    assert [one.passage.id for one in ask.hits] == ["d1#1"]
    assert "passages:1" in ask.asked


# --- drafts
# ------------------------------------------------------------------------------------------------------------------------------  # noqa: E501


def test_given_a_draft_that_passes_when_decided_then_it_is_shown() -> None:
    decision = decide(asked(of=model_settings(**STRICT), attempts=(attempt(),)))

    assert decision.answered
    assert decision.answer == f"{SENTENCE} [1]"
    assert (
        decision.metadata | {"drafter": "model", "model": "m", "endpoint": "host:1", "calls": 1, "total_tokens": 15}
        == decision.metadata
    )
    assert [one.outcome for one in decision.attempts] == ["shown"]


def test_given_a_rejected_draft_when_walked_then_another_is_asked_for_with_what_was_found() -> None:
    """S3-15: an audit that fails regenerates."""
    ask = next_of(asked(of=model_settings(**STRICT), attempts=(rejected(),)))

    assert ask.step is Step.DRAFT
    assert ask.asked == (*ROUND_0, "support:0")
    assert ask.findings[0].claim == 0
    assert SENTENCE in ask.findings[0].text


def exhausted(**values: object) -> Measurements:
    again = (*ROUND_0, "support:0")
    return asked(of=model_settings(max_retries=1, **{**STRICT, **values}), attempts=(rejected(), rejected(again)))


def test_given_no_draft_that_passes_when_decided_then_the_extract_is_shown_and_says_so() -> None:
    """S3-16: at most max_retries new drafts."""
    decision = decide(exhausted())

    assert decision.answered
    assert decision.metadata["drafter"] == "extract"
    assert "All 2 drafts of the model were rejected (support)." in decision.notes[0]
    assert [one.outcome for one in decision.attempts] == ["rejected", "rejected"]


def test_given_no_draft_that_passes_when_the_extract_is_not_allowed_then_it_refuses_with_every_reason() -> None:
    decision = decide(exhausted(fallback_extract=False))

    assert decision.status is AnswerStatus.HALLUCINATION_DETECTED
    assert decision.reasons == (Reason.SUPPORT,)
    assert SENTENCE not in decision.explanation
    assert decision.suggestions


def test_given_drafts_that_cannot_be_read_when_decided_then_audits_come_first_among_the_reasons() -> None:
    unread = attempt(keys=(*ROUND_0, "support:0"), draft=Draft(), problem=Reason.MALFORMED_DRAFT)
    both = asked(of=model_settings(max_retries=1, fallback_extract=False, **STRICT), attempts=(rejected(), unread))

    assert decide(both).reasons == (Reason.SUPPORT, Reason.MALFORMED_DRAFT)
    assert decide(both).status is AnswerStatus.HALLUCINATION_DETECTED


@pytest.mark.parametrize("problem", [Reason.EMPTY_DRAFT, Reason.MALFORMED_DRAFT])
def test_given_only_drafts_that_cannot_be_read_when_decided_then_it_is_an_error_and_no_answer(problem: Reason) -> None:
    """S2-19: an empty answer is an error."""
    bad = attempt(draft=Draft(), problem=problem)
    decision = decide(asked(of=model_settings(max_retries=0, fallback_extract=False), attempts=(bad,)))

    assert (decision.status, decision.reasons) == (AnswerStatus.ERROR, (problem,))


def test_given_a_draft_that_cannot_be_read_when_walked_then_another_is_asked_for() -> None:
    bad = attempt(draft=Draft(), problem=Reason.MALFORMED_DRAFT)

    assert next_of(asked(attempts=(bad,))).step is Step.DRAFT


DECLINED = attempt(draft=Draft(), problem=Reason.MODEL_REFUSED, refusal="The passages speak of notice, not of rent.")


def test_given_a_model_that_declines_when_decided_then_it_is_a_typed_refusal_with_its_reason() -> None:
    """S4-13, S2-7: the model's refusal, and no extract in its place."""
    decision = decide(asked(attempts=(DECLINED,)))

    assert (decision.reason, decision.status) == (Reason.MODEL_REFUSED, AnswerStatus.INSUFFICIENT_CONTEXT)
    assert decision.attempts[0].attempt.refusal == "The passages speak of notice, not of rent."
    assert "rent" not in repr(
        (decision.explanation, decision.notes, decision.suggestions, decision.metadata, decision.trace)
    )


@pytest.mark.parametrize(
    ("correctness", "changed", "answered"),
    [
        (0.9, {}, True),
        (0.89, {}, False),
        (0.9, {"high_answerability": 0.91}, False),
        (0.9, {"fallback_extract": False}, False),
        (0.9, {"main_gate": "answerability"}, False),
    ],
)
def test_given_a_model_that_declines_when_the_extract_is_surely_right_then_the_extract_stands_at_medium(
    correctness: float, changed: dict[str, object], answered: bool
) -> None:
    """A small model declines what stands word for word in the passages; its reason is nothing that could be checked."""
    of = model_settings(**{"main_gate": "correctness", **changed})
    wording = "high" if correctness >= of.high_answerability else "medium"
    declined = replace(DECLINED, asked=(f"level:{wording}", *DECLINED.asked[1:]))
    decision = decide(asked(of=of, correctness=correctness, attempts=(declined,)))

    assert decision.answered == answered
    if answered:
        assert decision.confidence_level is ConfidenceLevel.MEDIUM
        assert decision.notes[0].startswith(
            "The language model found no answer, and the score of the documents' own words is high."
        )
        assert "rent" not in repr((decision.answer, decision.notes, decision.metadata))
    else:
        assert decision.reason is Reason.MODEL_REFUSED


def test_given_a_model_that_cannot_be_asked_when_decided_then_the_extract_stands_only_where_it_may() -> None:
    down = attempt(draft=Draft(), failure="The model's server is down.")
    allowed, denied = (decide(asked(of=model_settings(fallback_extract=on), attempts=(down,))) for on in (True, False))

    assert allowed.answered
    assert "The model's server is down." in allowed.notes[0]
    assert (denied.reason, denied.status) == (Reason.NOT_RUN, AnswerStatus.ERROR)
    assert "The model's server is down." in denied.explanation


# --- verification
# ------------------------------------------------------------------------------------------------------------------------  # noqa: E501


CHECKED = {"verification_mode": Mode.ENFORCE}


def test_given_a_draft_that_passes_when_verification_is_on_then_it_is_asked_for_last() -> None:
    """S3-15: after the deterministic audits, which cost nothing."""
    assert next_of(asked(of=model_settings(**CHECKED), attempts=(attempt(),))).step is Step.VERIFY
    assert next_of(asked(of=model_settings(**CHECKED, **STRICT), attempts=(rejected(),))).step is Step.DRAFT


def verified(said: str = "yes", failure: str = "") -> Attempt:
    return attempt(verification=Verification(Call(Step.VERIFY, failure=failure), () if failure else (said,)))  # type: ignore[arg-type]


@pytest.mark.parametrize(("said", "shown"), [("yes", True), ("no", False), ("unclear", False)])
def test_given_a_verdict_when_decided_then_only_a_yes_keeps_the_draft(said: str, shown: bool) -> None:
    decision = decide(asked(of=model_settings(**CHECKED, max_retries=0), attempts=(verified(said),)))

    assert (decision.metadata["drafter"] == "model") is shown
    assert decision.attempts[0].outcome == ("shown" if shown else "rejected")


def test_given_a_draft_in_another_language_than_its_sources_or_the_question_then_the_check_says_which() -> None:

    def found(of: str, sources: str) -> str:
        cited, other = asked().hits
        hits = (replace(cited, passage=replace(cited.passage, language=sources)), other)
        judged = asked(
            of=model_settings(answer_language_mode=Mode.ENFORCE, translate=False, max_retries=0),
            hits=hits,
            attempts=(attempt(language=of),),
        )
        return next(check.found for check in decide(judged).attempts[0].checks if check.stage == "answer_language")

    assert found("en", "und") == "written in en, asked in en"
    assert found("en", "de") == "written in en, its sources in de"
    assert found("de", "en") == "written in de, asked in en"


def test_given_words_of_the_models_own_then_they_are_rejected_or_the_level_is_medium_at_most() -> None:
    drafted = attempt(reworded=(True,))

    strict, audited = (
        decide(asked(of=model_settings(rewording=how, max_retries=0), attempts=(drafted,)))
        for how in ("none", "audited")
    )

    assert (strict.metadata["drafter"], strict.attempts[0].outcome) == ("extract", "rejected")
    assert (audited.metadata["drafter"], audited.confidence_level) == ("model", ConfidenceLevel.MEDIUM)
    assert decide(asked(attempts=(attempt(reworded=(False,)),))).confidence_level is ConfidenceLevel.HIGH


def test_given_a_draft_that_was_rejected_for_its_own_words_then_the_next_one_is_asked_for_whole_clauses() -> None:
    whole = attempt(reworded=(True,))
    for one, told in (
        (attempt(reworded=(True,), audit=replace(GOOD_AUDIT, word_for_word=False)), "a whole sentence"),
        (whole, "the sentence beside it"),
    ):
        findings = next_of(asked(of=model_settings(rewording="none"), attempts=(one,))).findings

        assert [(finding.key, told in finding.text) for finding in findings if finding.key.startswith("reworded")] == [
            ("reworded:0", True)
        ]


def test_given_a_rejected_draft_when_the_model_verifies_it_then_trust_is_not_added() -> None:
    sure = replace(verified("yes"), draft=model_draft(audit=UNSUPPORTED))

    assert (
        decide(asked(of=model_settings(**CHECKED, **STRICT, max_retries=0), attempts=(sure,))).metadata["drafter"]
        == "extract"
    )


def test_given_a_verification_that_cannot_run_when_decided_then_it_has_not_passed() -> None:
    one = asked(
        of=model_settings(**CHECKED, fallback_extract=False), attempts=(verified(failure="The server hung up."),)
    )
    decision = decide(one)

    assert (decision.reason, decision.status) == (Reason.NOT_RUN, AnswerStatus.ERROR)
    assert next_step(one) is None


# --- sufficiency
# -------------------------------------------------------------------------------------------------------------------------  # noqa: E501


GUARDED = {"sufficiency_mode": Mode.ENFORCE}


def guarded(*judgements: Sufficiency, **fields: object) -> Measurements:
    values = {name: fields.pop(name) for name in list(fields) if name in Settings.model_fields}
    return asked(of=model_settings(**{**GUARDED, **values}), judgements=judgements, **fields)


def test_given_the_guard_when_nothing_is_recorded_then_it_is_asked_before_any_draft() -> None:
    """S1-12: the guard runs before generation."""
    assert next_of(guarded()).step is Step.SUFFICIENCY
    assert next_of(guarded(judgement())).step is Step.DRAFT


@each("shown", [1, 3])
def test_given_a_verdict_on_other_passages_then_it_does_not_count_and_is_asked_again(shown: int) -> None:
    ask = next_of(guarded(judgement(passages=shown)))

    assert (ask.step, len(ask.hits)) == (Step.SUFFICIENCY, 2)
    cut = next_of(guarded(judgement(), distance_mode=Mode.ENFORCE, max_distance=0.15))
    assert (cut.step, len(cut.hits)) == (Step.SUFFICIENCY, 1)


def test_given_a_context_that_is_not_drafted_from_when_walked_then_the_guard_is_asked_all_the_same() -> None:
    """S1-12, S3-9: a guard has no exceptions; S0-21: and no draft is asked for after it."""
    foreign = {"hits": (hit(0.9, of=passage(1, language="cs")), hit(0.8, 2, of=passage(2, language="cs")))}
    clash = Conflict(0, 1, ("30 days", "60 days"), ("d1", "d1"), (1, 1), added=False)
    two = {"draft": draft([claim(passage(1)), claim(passage(2))]), "conflicts": (clash,)}
    reasons: dict[str, dict[str, object]] = {
        "too few": {"words": 9},
        "another language": {**foreign},
        "contradict": {**two},
    }
    for why, fields in reasons.items():
        assert next_of(guarded(**fields)).step is Step.SUFFICIENCY, why
        assert decide(guarded(**fields)).reason is Reason.NEEDS_GENERATION, why
        refused = guarded(judgement("no"), **fields, expand_searches=0)
        assert (next_step(refused), decide(refused).reason) == (None, Reason.SUFFICIENCY), why
        stands = guarded(judgement(), **fields)
        assert next_step(stands) is None, why
        assert decide(stands).metadata["drafter"] == "extract", why
        assert why in str(decide(stands).metadata["drafter_note"])


def test_given_sides_that_a_model_names_when_others_are_known_then_the_extract_quotes_those_that_were_found() -> None:
    clash = Conflict(0, 1, ("30 days", "60 days"), ("d1", "d1"), (1, 1), added=False)
    own = draft([claim(passage(1)), claim(passage(2))])
    said = judgement("yes", contradicts=True, sides=draft([claim(passage(2)), claim(passage(3))]), conflict=clash)
    decision = decide(guarded(said, draft=own, conflicts=(clash,)))

    assert [one.evidence[0].passage for one in decision.claims] == ["d1#1", "d1#2"]
    assert decision.confidence_level is ConfidenceLevel.LOW


def test_given_a_guard_that_reads_the_top_when_walked_then_it_is_asked_about_the_first_passages_only() -> None:
    """S1-9: as many as the guard by similarity reads; a wider search cannot change them."""
    hits = tuple(hit(0.9, n) for n in range(1, 6))
    top = {"hits": hits, "sufficiency_reads": "top"}

    assert len(next_of(guarded(**top)).hits) == 3
    assert len(next_of(guarded(hits=hits)).hits) == 5
    wider = guarded(judgement("no", passages=3), expanded=((*hits, hit(0.5, 6)),), **top)
    assert (next_step(wider), decide(wider).reason) == (None, Reason.SUFFICIENCY)
    ask = next_of(guarded(judgement(passages=3), **top))
    assert (ask.step, len(ask.hits)) == (Step.DRAFT, 5)


def test_given_a_no_when_walked_then_it_is_searched_again_at_most_twice_and_refused_then() -> None:
    """S1-9, S3-10, S3-11: expand_search, bounded; can_answer, confidence, what is missing and why are kept."""
    more = (hit(0.9), hit(0.8, 2), hit(0.7, 3))
    most = (*more, hit(0.6, 4))
    no = [judgement("no", passages=count, missing=("the rent",), reasoning="Of the rent.") for count in (2, 3, 4)]

    assert next_of(guarded(no[0])).step is Step.EXPAND
    again = next_of(guarded(no[0], expanded=(more,)))
    assert (again.step, again.round, len(again.hits)) == (Step.SUFFICIENCY, 1, 3)
    assert next_of(guarded(*no[:2], expanded=(more,))).step is Step.EXPAND
    refused = guarded(*no, expanded=(more, most))
    assert next_step(refused) is None
    decision = decide(refused)
    assert (decision.reason, decision.status) == (Reason.SUFFICIENCY, AnswerStatus.INSUFFICIENT_CONTEXT)
    assert decision.metadata["action"] == "expand_search"
    row = decision.to_json()["judgements"][-1]
    assert [row[name] for name in ("can_answer", "confidence", "missing", "reasoning", "passages")] == [
        "no",
        0.9,
        ["the rent"],
        "Of the rent.",
        4,
    ]
    assert "the rent" not in repr(
        (decision.explanation, decision.notes, decision.suggestions, decision.metadata, decision.trace)
    )


def test_given_a_search_that_finds_nothing_new_when_walked_then_the_model_is_not_asked_again() -> None:
    same = guarded(judgement("no"), expanded=(asked().hits,))

    assert next_step(same) is None
    assert decide(same).reason is Reason.SUFFICIENCY


def test_given_a_yes_on_the_second_round_when_walked_then_the_draft_is_made_of_its_passages() -> None:
    more = (hit(0.9), hit(0.8, 2), hit(0.7, 3))
    ask = next_of(guarded(judgement("no"), judgement("yes", passages=3), expanded=(more,)))

    assert (ask.step, ask.asked[1:]) == (Step.DRAFT, ("round:1", "passages:3"))


def test_given_a_partial_verdict_when_decided_then_the_level_is_low_and_a_note_says_so_in_our_words() -> None:
    """S3-12."""
    part = judgement("partial", missing=("the rent",))
    drafted = attempt()
    for decision in (
        decide(guarded(part, attempts=(drafted,))),
        decide(guarded(part, words=9)),  # the extract stands, as where the draft fails
        decide(guarded(part, attempts=(attempt(draft=Draft(), failure="It is down."),))),
    ):
        assert decision.confidence_level is ConfidenceLevel.LOW
        assert (
            "The language model finds that the passages answer a part of the question only. The level is low at most."
            in decision.notes
        )
    refused = decide(guarded(part, attempts=(drafted,), refuse_partial=True, expand_searches=0))
    assert (refused.reason, "a part of the question only" in refused.explanation) == (Reason.SUFFICIENCY, True)


def test_given_less_confidence_than_required_when_decided_then_it_refuses_and_equal_passes() -> None:
    """S3-16: min_confidence; S0-5: equal passes."""
    unsure = judgement("yes", confidence=0.6)

    assert next_of(guarded(unsure, min_sufficiency=0.6)).step is Step.DRAFT
    refused = decide(guarded(unsure, min_sufficiency=0.65, expand_searches=0))
    assert (refused.reason, "(confidence 0.60, 0.65 required)" in refused.explanation) == (Reason.SUFFICIENCY, True)


def test_given_a_guard_that_cannot_run_when_decided_then_no_draft_is_made() -> None:
    down = judgement(failure="The server is down.")

    for allowed in (True, False):  # an enforced gate that cannot run refuses, whatever may stand in for a draft
        decision = decide(guarded(down, fallback_extract=allowed))
        assert (decision.reason, decision.status) == (Reason.NOT_RUN, AnswerStatus.ERROR)
        assert "The server is down." in decision.explanation
    assert next_step(guarded(down)) is None


def test_given_no_model_at_all_when_the_guard_is_enforced_then_it_refuses_and_says_what_to_do() -> None:
    """S1-9, S1-12: a guard that cannot be asked lets nothing through."""
    decision = decide(measurements(0.9, of=settings(**GUARDED)))

    assert (decision.status, decision.reason) == (AnswerStatus.ERROR, Reason.NOT_RUN)
    assert decision.trace["sufficiency"].state is State.NOT_RUN
    assert "no language model drafts under these settings" in decision.explanation
    assert any("Let a language model draft" in step for step in decision.suggestions)


def test_given_a_guard_that_only_observes_when_it_says_no_then_the_draft_is_made_and_the_no_is_shown() -> None:
    seen = guarded(judgement("no"), sufficiency_mode=Mode.OBSERVE, attempts=(attempt(),))

    assert decide(seen).metadata["drafter"] == "model"
    assert decide(seen).trace["sufficiency"].value == 0.0


def test_given_a_guard_that_only_observes_then_level_and_draft_stay_as_without_it() -> None:
    first, other = passage(1), passage(2, "The notice period is 60 days.")
    sides = draft([claim(first), claim(other, other.text)])
    clash = Conflict(0, 1, (SENTENCE, other.text), ("d1", "d1"), (1, 1), added=False)
    for said in (
        judgement("partial"),
        judgement("yes", contradicts=True),
        judgement("yes", contradicts=True, sides=sides, conflict=clash),
    ):
        decision = decide(guarded(said, sufficiency_mode=Mode.OBSERVE, attempts=(attempt(),)))

        assert (decision.metadata["drafter"], decision.confidence_level) == ("model", ConfidenceLevel.HIGH)
        assert not any("The language model finds" in note or "The model" in note for note in decision.notes)


def test_given_contradictions_that_the_model_shows_when_decided_then_both_sides_are_quoted() -> None:
    """S3-11, S4-21: resolve_conflicts, both citations, level low at most."""
    first, other = passage(1), passage(2, "The notice period is 60 days.")
    sides = draft([claim(first), claim(other, other.text)])
    clash = Conflict(0, 1, (SENTENCE, other.text), ("d1", "d1"), (1, 1), added=False)
    found = guarded(judgement("yes", contradicts=True, sides=sides, conflict=clash), contradictions_mode=Mode.OBSERVE)
    decision = decide(found)

    assert next_step(found) is None
    assert len(decision.citations) == 2
    assert decision.confidence_level is ConfidenceLevel.LOW
    assert decision.metadata["action"] == "resolve_conflicts"
    refused = replay(found, found.settings.changed(contradictions_mode=Mode.ENFORCE))
    assert refused.reason is Reason.CONTRADICTED


def test_given_contradictions_that_the_model_cannot_show_when_decided_then_the_level_is_low() -> None:
    decision = decide(guarded(judgement("yes", contradicts=True), attempts=(attempt(),)))

    assert decision.confidence_level is ConfidenceLevel.LOW
    assert "contradict" in decision.notes[0]


# --- replay
# ------------------------------------------------------------------------------------------------------------------------------  # noqa: E501


def needs(one: Measurements, **values: object) -> bool:
    return replay(one, one.settings.changed(**values)).reason is Reason.NEEDS_GENERATION


def test_given_a_shown_draft_when_a_stricter_threshold_rejects_it_then_the_replay_asks_for_generation() -> None:
    shaky = asked(of=model_settings(**STRICT, min_support=0.1), attempts=(rejected(),))

    assert decide(shaky).answered
    assert needs(shaky, min_support=0.5)
    assert not needs(shaky, min_support=0.2)
    decision = replay(shaky, shaky.settings.changed(min_support=0.5))
    assert (decision.status, decision.answered, decision.claims) == (AnswerStatus.ERROR, False, ())


@each(
    "values",
    [
        {"high_distance": 0.05},  # another wording of the prompt
        {"distance_mode": Mode.ENFORCE, "max_distance": 0.15},  # fewer passages
        {"sufficiency_mode": Mode.ENFORCE},
        {"verification_mode": Mode.ENFORCE},
    ],
)
def test_given_a_setting_that_changes_a_prompt_then_generation_is_needed(values: dict[str, object]) -> None:
    assert needs(asked(attempts=(attempt(),)), **values)


def test_given_settings_that_change_no_prompt_when_replayed_then_the_record_suffices() -> None:
    one = asked(attempts=(attempt(),))

    assert not needs(one, citation_style="end")
    assert not needs(one, max_retries=0)
    assert (
        replay(one, one.settings.changed(top_cosine_mode=Mode.ENFORCE, min_top_cosine=0.95)).reason is Reason.TOP_COSINE
    )


def test_given_more_retries_than_were_recorded_when_replayed_then_it_needs_generation() -> None:
    assert needs(exhausted(), max_retries=2)


def test_given_other_findings_than_were_recorded_when_replayed_then_the_later_draft_does_not_count() -> None:
    both = exhausted(min_similarity=0.5)

    assert not needs(both, min_support=0.3)
    assert needs(both, similarity_mode=Mode.ENFORCE, min_similarity=0.95)


def test_given_a_case_without_a_record_when_walked_then_it_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to follow"):
        progress_of(measurements(0.9))
