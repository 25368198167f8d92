"""From measurements to a decision: order, reasons, statuses, texts.

No model is called, because measurements hold none.
"""

from __future__ import annotations

import json
import logging
from dataclasses import replace

import pytest
from builders import AUDIT_MODES, MODES, claim, contradicted, draft, hit, hits, matched, measurements, passage, settings
from builders import measured as measured_claim
from folding import each

from rag_core.decision.checks import GATING, GROUNDING, RESOLVE
from rag_core.decision.decide import decide
from rag_core.decision.notes import document_wanted
from rag_core.domain.answer import Refusal
from rag_core.domain.claims import Claim, Conflict
from rag_core.domain.decision import Decision
from rag_core.domain.drafts import Draft
from rag_core.domain.llm_trace import Call, LlmTrace, Step, Sufficiency
from rag_core.domain.measurements import KeywordMatch, LibraryFacts, Measurements, Understanding
from rag_core.domain.replies import SETTLED, reply
from rag_core.domain.status import AnswerStatus, ConfidenceLevel, Reason
from rag_core.domain.trace import State
from rag_core.engine import log_decision
from rag_core.language import is_refusal, unsure
from rag_core.settings import Mode, Settings

CS = Understanding("cs")
CZECH_REFUSAL = "Požadovaná informace není v dokumentech."
ENFORCED = dict.fromkeys(MODES.values(), Mode.ENFORCE)


def states(decision: Decision) -> dict[str, str]:
    return {check.stage: check.state.value for check in decision.trace.checks}


# the source's own number; the preset has it on the embedded model's scale
S0 = Settings.load("compliance", {"min_top_cosine": 0.72})


def test_given_a_top_score_of_058_then_the_fallback_is_the_object_of_s0() -> None:
    """S0-7, S0-30, S0-32: fallback sentence, no sources, the top score as confidence."""
    decision = decide(measurements(0.58, 0.4, of=S0, understanding=CS))

    assert (decision.answer, decision.citations, decision.confidence, decision.confidence_basis) == (
        CZECH_REFUSAL,
        (),
        0.58,
        "top",
    )
    assert is_refusal(decision.answer)
    assert decision.status is AnswerStatus.LOW_CONFIDENCE


def test_given_too_few_keywords_then_it_is_the_same_fallback() -> None:
    """S0-8, S0-32: the second group, keyword guard: same sentence, no sources, confidence is the top score."""
    decision = decide(measurements(0.9, of=Settings.load("compliance"), understanding=CS, keywords=matched(1, 2)))

    assert (decision.answer, decision.citations, decision.confidence) == (CZECH_REFUSAL, (), 0.9)
    assert (decision.reason, decision.status) == (Reason.KEYWORDS, AnswerStatus.LOW_CONFIDENCE)
    assert states(decision)["top_cosine"] == "passed"


def test_given_an_empty_retrieval_then_it_is_refused_first_with_no_confidence() -> None:
    """S0-2, S0-3, S2-1: score 0.0 when empty, else that of the closest; nothing else is reached."""
    decision = decide(measurements(of=Settings.load("compliance")))

    assert decide(measurements(0.3, 0.5, of=Settings.load("compliance"))).scores["top_cosine"] == 0.5

    assert (decision.reason, decision.status) == (Reason.NOTHING_RETRIEVED, AnswerStatus.INSUFFICIENT_CONTEXT)
    assert (decision.confidence, decision.confidence_basis) == (0.0, "none")
    assert decision.confidence_level is ConfidenceLevel.INSUFFICIENT
    assert decision.suggestions == ("Add documents first.",)


def test_given_an_answer_under_the_preset_of_s0_then_it_is_the_success_object_of_s0() -> None:
    """S0-28, S0-31: answer stripped, sources with file, page and chunk, the rounded mean as confidence."""
    first = passage(1, "  Doba plnění je 30 dní.  ", language="cs")
    decision = decide(
        measurements(
            0.9,
            0.81,
            0.80004,
            of=Settings.load("compliance"),
            keywords=matched(2),
            draft=draft([claim(first, first.text.strip())]),
        )
    )

    assert decision.answer == "Doba plnění je 30 dní. [1]"
    assert [(one.document, one.page, one.chunk_id) for one in decision.citations] == [("contract.pdf", 1, "d1#1")]
    assert (decision.confidence, decision.confidence_basis) == (0.837, "mean")


def test_given_an_own_refusal_text_then_it_is_used() -> None:
    """S0-30: the sentence is configurable."""
    decision = decide(measurements(0.1, of=Settings.load("compliance", {"refusal_text": "Nevíme."}), understanding=CS))

    assert decision.answer == "Nevíme."


def test_given_a_gate_that_refuses_then_what_follows_is_not_reached_and_shows_its_value_all_the_same() -> None:
    """S0-1, S1-12: the guards run in order, before any draft is judged. S2-6: gates stop at the first failure."""
    s = Settings.load(values=ENFORCED)
    decision = decide(
        measurements(0.3, of=s, correctness=0.9, answerability=0.9, relevance=0.2, keywords=matched(0, 2))
    )

    found = states(decision)
    assert [check.stage for check in decision.trace.checks] == [
        check(measurements(0.9)).stage for check in (*GATING, *GROUNDING)
    ]
    assert [found[name] for name in ("correctness", "answerability", "top_cosine")] == ["passed", "passed", "failed"]
    assert {found[name] for name in ("mean_confidence", "relevance", "distance", "min_documents", "keywords")} == {
        "not_reached"
    }
    assert {found[name] for name in (*AUDIT_MODES, "citations_present", "verbatim")} == {"not_reached"}
    assert decision.trace["relevance"].value == 0.2
    assert decision.trace["overlap"].value == 1.0
    assert decision.reasons == (Reason.TOP_COSINE,)


def test_given_an_observed_failure_before_an_enforced_one_then_only_the_enforced_one_refuses() -> None:
    decision = decide(measurements(0.3, of=settings(top_cosine_mode=Mode.OBSERVE, mean_confidence_mode=Mode.ENFORCE)))

    assert states(decision)["top_cosine"] == "failed"
    assert decision.reasons == (Reason.MEAN_CONFIDENCE,)


def test_given_several_failed_audits_then_all_reasons_are_kept_in_the_documented_order() -> None:
    """S2-15: every reason is reported, the first makes the headline."""
    bad = measured_claim(
        indicators=("as we know",), overlap=0.1, changed_facts=(("number", "31"),), similarity=0.1, support=0.1
    )
    decision = decide(
        measurements(
            0.9,
            of=settings(**{name: Mode.ENFORCE for name in AUDIT_MODES.values()}),
            draft=draft([claim(passage())], [bad], 10),
        )
    )

    assert decision.reasons == (
        Reason.INDICATORS,
        Reason.LENGTH_RATIO,
        Reason.OVERLAP,
        Reason.FACTS,
        Reason.SIMILARITY,
        Reason.SUPPORT,
    )
    assert (decision.reason, decision.status) == (Reason.INDICATORS, AnswerStatus.HALLUCINATION_DETECTED)
    assert "as we know" in decision.explanation
    assert "number not in the evidence: 31" in decision.explanation
    assert len(decision.suggestions) >= 4
    assert decision.answer != "The notice period is 30 days. [1]"


@each(
    ("drafted", "reason"),
    [
        (draft([Claim("Uncited.")]), Reason.CITATIONS_PRESENT),
        (draft([claim(passage()), Claim("Uncited.")]), Reason.CITATIONS_COMPLETE),
        (draft([claim(passage())], [measured_claim(fabricated=("7",), overlap=1.0)]), Reason.CITATIONS_VALID),
        (draft([claim(passage())], [measured_claim(quotes_missing=("lost",), overlap=1.0)]), Reason.VERBATIM),
    ],
)
def test_given_every_switch_off_then_a_bad_citation_is_still_refused(drafted: Draft, reason: Reason) -> None:
    """S2-26, S2-11: three things that no setting turns off."""
    decision = decide(measurements(0.9, draft=drafted))

    assert (decision.reason, decision.status) == (reason, AnswerStatus.HALLUCINATION_DETECTED)


def test_given_a_check_that_could_not_run_then_the_status_is_error_and_the_check_is_named() -> None:
    decision = decide(measurements(0.9, of=Settings.load(), correctness=None))

    assert (decision.reason, decision.status) == (Reason.NOT_RUN, AnswerStatus.ERROR)
    assert decision.explanation == "Refused: correctness could not be checked (no calibration fits this library)."


def test_given_an_audit_that_could_not_run_then_it_is_an_error_where_it_enforces() -> None:
    unmeasured = draft([claim(passage())], [measured_claim(overlap=1.0, similarity=None)])

    assert (
        decide(measurements(0.9, of=settings(similarity_mode=Mode.ENFORCE), draft=unmeasured)).status
        is AnswerStatus.ERROR
    )
    assert decide(measurements(0.9, of=settings(similarity_mode=Mode.OBSERVE), draft=unmeasured)).answered


def test_given_nothing_drafted_then_it_is_an_error_and_never_a_pass() -> None:
    """S2-19: an empty answer is an error."""
    decision = decide(measurements(0.9, draft=Draft()))

    assert (decision.reason, decision.status) == (Reason.EMPTY_DRAFT, AnswerStatus.ERROR)


def test_given_a_failure_of_ours_then_it_is_an_error_without_confidence_whatever_was_measured() -> None:
    decision = decide(measurements(0.99, correctness=0.99, failure="The embedding model failed."))

    assert (decision.reason, decision.status, decision.confidence) == (Reason.FAILURE, AnswerStatus.ERROR, 0.0)
    assert decision.explanation.startswith("The embedding model failed.")
    assert decision.trace.checks == ()


def test_given_claims_that_all_rest_beyond_the_cut_then_it_is_refused_with_that_reason() -> None:
    """S4-1: what rests on filtered passages only is not answered."""
    near, far = hits(0.9, 0.1)
    drafted = draft([claim(far.passage, "Far.")])
    decision = decide(
        measurements(hits=(near, far), draft=drafted, of=settings(distance_mode=Mode.ENFORCE, max_distance=0.8))
    )

    assert (decision.reason, decision.status) == (Reason.ALL_CLAIMS_CUT, AnswerStatus.LOW_CONFIDENCE)
    assert decision.suggestions == ("Raise max_distance.",)


@each(
    ("cosines", "preset", "answerable", "level", "filtered"),
    [
        ((0.9, 0.5, 0.19), "scoping", True, "high", 2),
        ((0.9, 0.19), "scoping", False, "insufficient", 1),
        ((0.19, 0.1), "scoping", False, "insufficient", 0),
        ((0.19, 0.1), "scoping-lenient", True, "low", 2),
        ((0.3, 0.25), "scoping-strict", False, "insufficient", 0),
        ((0.3, 0.25), "scoping", True, "medium", 2),
    ],
)
def test_given_the_presets_of_s4_then_answerable_level_and_filtered_count_are_returned(
    cosines: tuple[float, ...], preset: str, answerable: bool, level: str, filtered: int
) -> None:
    """S4-1, S4-2, S4-15: with distance 0.8 and two documents."""
    decision = decide(measurements(*cosines, of=Settings.load(preset)))

    meta = decision.metadata
    assert (meta["is_answerable"], decision.confidence_level, meta["filtered_count"], meta["raw_count"]) == (
        answerable,
        level,
        filtered,
        len(cosines),
    )


@pytest.mark.parametrize("intent", ["summary", "follow_up"])
def test_given_a_wish_that_no_document_answers_then_it_is_refused_with_what_to_ask_instead(intent: str) -> None:
    decision = decide(measurements(answer="Ask the whole question.", understanding=Understanding("en", intent)))
    assert not decision.answered
    assert (decision.reason, decision.confidence, decision.citations) == (intent, 0.0, ())
    assert decision.outcome == Refusal(unsure("en"), (SETTLED[intent],), "Ask the whole question.")


@pytest.mark.parametrize("intent", ["greeting", "thanks", "goodbye", "about_library"])
def test_given_a_greeting_or_a_question_about_the_library_then_no_check_or_claim_is_made(intent: str) -> None:
    """S4-19, S4-20: nothing is retrieved, and nothing is claimed about a document."""
    said = reply(intent, "en", LibraryFacts(1, 1, 1, titles={"a": "Terms"}))
    decision = decide(
        measurements(answer=said, understanding=Understanding("en", intent), of=Settings.load(values=ENFORCED))
    )

    assert (decision.answer, decision.reason, decision.answered) == (said, SETTLED[intent], True)
    assert (decision.claims, decision.citations, decision.retrieved, decision.trace.checks) == ((), (), (), ())


def test_given_the_calibrated_score_as_main_gate_then_it_is_the_confidence_of_a_refusal() -> None:
    """S0-31: on a refusal the top score on the gate's scale, 0 where the confidence is weighted."""
    s = Settings.load()
    weighted = decide(measurements(0.9, of=s.changed(confidence="weighted"), correctness=0.31, answerability=0.9))
    assert (weighted.confidence, weighted.confidence_basis) == (0.0, "none")
    decision = decide(measurements(0.9, of=s, correctness=0.31, answerability=0.9))

    assert (decision.confidence, decision.confidence_basis) == (0.31, "correctness")
    assert (
        decision.explanation
        == f"Refused: correctness did not pass (probability 0.31, {s.min_correctness:.2f} required)."
    )


def test_given_another_main_gate_or_no_calibration_then_the_confidence_of_a_refusal_is_the_top_cosine() -> None:
    by_cosine = decide(measurements(0.58, of=S0, correctness=0.31))
    uncalibrated = decide(measurements(0.9, of=Settings.load(), correctness=None))

    assert (by_cosine.confidence, by_cosine.confidence_basis) == (0.58, "top")
    assert (uncalibrated.reason, uncalibrated.confidence, uncalibrated.confidence_basis) == (Reason.NOT_RUN, 0.9, "top")


def test_given_the_open_preset_then_the_worst_draft_is_shown_and_only_nothing_retrieved_refuses() -> None:
    s, entities = Settings.load("open"), Understanding("en", entities=("Brno",))
    bad = measured_claim(
        indicators=("usually",), overlap=0.0, changed_facts=(("number", "31"),), similarity=-1.0, support=0.0, read=True
    )
    worst = measurements(
        -0.9,
        of=s,
        correctness=0.0,
        answerability=0.0,
        relevance=-1.0,
        keywords=matched(0, 3),
        missing_entities=("Brno",),
        understanding=entities,
        draft=draft([claim(passage())], [bad], 1),
    )

    assert decide(worst).answered
    assert {
        check.state for check in decide(worst).trace.checks if check.stage in ("correctness", "facts", "support")
    } == {State.FAILED}
    assert decide(measurements(0.9, of=s, correctness=None)).answered
    assert decide(measurements(of=s)).reason is Reason.NOTHING_RETRIEVED


def test_given_a_negative_top_score_then_the_confidence_of_a_refusal_is_zero() -> None:
    assert decide(measurements(-0.4, of=Settings.load("compliance"))).confidence == 0.0


def test_given_parts_of_documents_that_were_not_read_then_a_refusal_names_these() -> None:
    facts = LibraryFacts(documents=3, names={"d1": "a.pdf", "d2": "b.pdf", "d3": "a.pdf"}, partly=("d1", "d3"))
    whole, parts = (
        decide(measurements(0.1, of=Settings.load("compliance"), library=one))
        for one in (replace(facts, partly=()), facts)
    )

    assert parts.explanation.endswith("A part of a.pdf was not read; the answer may be there.")
    assert "was not read" not in whole.explanation
    assert set(parts.suggestions) > set(whole.suggestions)


def test_given_unreadable_pages_then_a_refusal_and_an_answer_say_so() -> None:
    facts = LibraryFacts(documents=2, passages=4, pages=400, unreadable={"d1": tuple(range(1, 12)), "d2": (3,)})
    sentence = "12 of 400 pages could not be read; the answer may be there."
    refused, answered = (
        decide(measurements(0.1, of=Settings.load("compliance"), library=facts)),
        decide(measurements(0.9, library=facts)),
    )

    assert refused.explanation.endswith(sentence)
    (suggested,) = [one for one in refused.suggestions if "could not be read" in one]
    assert "Tesseract" not in suggested, "it may be installed: only the findings know the reason"
    assert sentence in refused.notes
    assert sentence in answered.notes
    assert decide(measurements(0.9)).explanation == ""


@each(("stage", "knob"), AUDIT_MODES.items())
@each("mode", [Mode.OBSERVE, Mode.OFF])
def test_given_any_audit_that_does_not_enforce_then_a_note_says_so(stage: str, knob: str, mode: Mode) -> None:
    enforcing = {name: Mode.ENFORCE for name in AUDIT_MODES.values()}
    note = f"Audits that do not block under these settings: {stage.replace('_', ' ')}."

    assert decide(measurements(0.9, of=settings(**enforcing | {knob: mode}))).notes == (note,)
    assert decide(measurements(0.9, of=settings(**enforcing))).notes == ()


NOTE = (
    'The documents contradict each other: "30 days" (contract.pdf, page 1, 2024-03-01) and "60 days" (policy.pdf, page '
    "1, 2026-03-01). "
    "Newer: policy.pdf."
)
AUDITED = {name: Mode.ENFORCE for name in AUDIT_MODES.values()}


def test_given_contradicting_sources_by_default_then_both_sides_are_answered_low_and_the_newer_is_named() -> None:
    """S4-21: both perspectives. The note stands alone: this check does not block by design, and no banner says so."""
    decision = decide(contradicted(settings(**AUDITED, contradictions_mode=Mode.OBSERVE), correctness=1.0))

    assert (
        decision.answer
        == "The notice period is 30 days. [1] The notice period is 60 days. [2] Notice is given in writing. [3]"
    )
    assert (decision.confidence_level, decision.notes) == (ConfidenceLevel.LOW, (NOTE,))
    assert [(one.claim, one.other) for one in decision.conflicts] == [(0, 1)]
    row = decision.trace["contradictions"]
    assert (row.state, row.value, row.threshold, row.scale) == (State.FAILED, 1, 0, "count")
    assert row.found.startswith(NOTE[:-1])
    assert row.found.endswith(". Both sides are shown, at a low level at most and half the confidence")
    assert decision.metadata["action"] == "resolve_conflicts"


def test_given_contradicting_sources_when_enforced_then_they_refuse_and_say_both_values() -> None:
    """S3-9, S3-11, S4-21: a setting turns it into a refusal; the action and the remedy are to settle which document
    applies.
    """
    decision = decide(contradicted(settings(contradictions_mode=Mode.ENFORCE)))

    assert (decision.status, decision.reason) == (AnswerStatus.INSUFFICIENT_CONTEXT, Reason.CONTRADICTED)
    assert decision.explanation == f"Refused: contradictions did not pass ({NOTE[:-1]})."
    assert (decision.conflicts, decision.claims, NOTE in decision.notes) == ((), (), False)
    assert decision.suggestions == (RESOLVE,)
    assert RESOLVE.startswith("Resolve the contradiction: ")
    assert decision.metadata["action"] == "resolve_conflicts"


@pytest.mark.parametrize(
    ("dates", "said"),
    [
        (("2024", ""), " Which one is newer is not known: no date of policy.pdf."),
        (("", ""), " Which one is newer is not known: no date of contract.pdf and policy.pdf."),
        (("2024", "2024-05"), " By their dates neither is newer."),
    ],
)
def test_given_documents_of_which_none_is_newer_then_the_note_says_why(dates: tuple[str, str], said: str) -> None:
    undated = Conflict(0, 1, ("30 days", "60 days"), ("d1", "d2"), (1, 1), dates)
    notes = decide(contradicted(settings(contradictions_mode=Mode.OBSERVE), conflicts=(undated,))).notes

    assert notes[0].endswith(f"page 1{', ' if dates[1] else ''}{dates[1]}).{said}")


def test_given_a_contradiction_within_one_document_then_the_note_names_its_pages() -> None:
    within = Conflict(0, 1, ("30 days", "60 days"), ("d1", "d1"), (1, 4), ("", ""))
    notes = decide(contradicted(settings(contradictions_mode=Mode.OBSERVE), conflicts=(within,))).notes

    assert (
        notes[0]
        == 'The document contradicts itself: "30 days" (contract.pdf, page 1) and "60 days" (contract.pdf, page 4).'
    )


UNKNOWN = LibraryFacts(documents=2, passages=2, languages=("en", "hi", "ru"), unknown_languages=("hi", "ru"))


def test_given_languages_that_the_model_does_not_know_then_an_answer_warns_of_those_it_cites() -> None:
    said = "Documents in these languages are found by their words only, since the search does not know them by meaning"
    of = passage(language="ru")
    for asked, notes in (
        (measurements(0.9, library=UNKNOWN, hits=(hit(of=of),), draft=draft([claim(of)])), [f"{said}: ru."]),
        (measurements(0.9, library=UNKNOWN), []),
        (measurements(library=UNKNOWN), [f"{said}: hi, ru."]),
    ):
        decision = decide(asked)
        assert decision.answered is bool(asked.hits)
        assert [note for note in decision.notes if "does not know" in note] == notes


def test_given_an_answer_then_its_scores_and_times_are_there() -> None:
    stages = ("embed", "retrieve", "expand", "extract", "conflicts", "audit", "model", "check")
    measured = {
        "features": {"top_cosine": 0.1, "agreement": 0.4},
        "timings": {stage: 2.0**place for place, stage in enumerate(stages)},
    }
    found = (hit(0.9, lexical=1.0), hit(0.5, 2, lexical=3.0))
    decision = decide(measurements(0.9, hits=found, correctness=0.7, answerability=0.8, relevance=0.6, **measured))

    assert decision.scores == {
        "correctness": 0.7,
        "answerability": 0.8,
        "top_cosine": 0.9,
        "mean_cosine": 0.7,
        "top_lexical": 3.0,
        "relevance": 0.6,
        "agreement": 0.4,
    }
    assert (decision.metadata["retrieval_time_ms"], decision.metadata["generation_time_ms"]) == (7.0, 248.0)


def logged(decision: Decision, caplog: pytest.LogCaptureFixture) -> list[str]:
    caplog.clear()
    with caplog.at_level(logging.INFO, logger="rag_core.decision"):
        log_decision(decision)
    assert {record.levelno for record in caplog.records} == {logging.INFO}
    return [record.getMessage() for record in caplog.records]


@pytest.mark.parametrize(
    ("decided", "event", "rest"),
    [
        (
            measurements(0.6, of=Settings.load("relevance-guard"), relevance=0.38),
            "contexts_not_relevant_to_query",
            "0.3800 0.4 relevance",
        ),
        (
            measurements(0.6, of=Settings.load("relevance-hybrid"), relevance=0.2),
            "contexts_rejected_by_relevance_score",
            "0.2000 0.3 relevance",
        ),
        (measurements(0.6, of=S0), "refused_by_top_cosine", "0.6000 0.72 top_cosine"),
        (
            measurements(0.6, of=Settings.load()),
            "refused_by_not_run",
            f"none {Settings.load().min_correctness:g} not_run",
        ),
        (measurements(failure="x"), "refused_by_failure", "none none failure"),
        (
            measurements(
                0.6,
                of=settings(drafter="model", sufficiency_mode=Mode.ENFORCE, main_gate="cosine", expand_searches=0),
                llm_trace=LlmTrace(400, judgements=(Sufficiency(Call(Step.SUFFICIENCY), 1, "no", 0.8),)),
            ),
            "llm_rejected_contexts",
            "0.8000 0 sufficiency",
        ),
    ],
)
def test_given_a_refusal_then_its_event_and_score_are_logged(
    decided: Measurements, event: str, rest: str, caplog: pytest.LogCaptureFixture
) -> None:
    """S1-7, S1-9, S1-11: the events contexts_not_relevant_to_query and contexts_rejected_by_relevance_score."""
    score, threshold, reason = rest.split()

    assert logged(decide(decided), caplog)[0] == f"{event} score={score} threshold={threshold} reason={reason}"


def test_given_any_decision_then_its_metadata_are_logged_and_no_text(caplog: pytest.LogCaptureFixture) -> None:
    """S4-22: RAG Confidence Metadata {...}"""
    for decided in (measurements(0.9, 0.1), measurements(0.1, of=Settings.load("compliance"))):
        decision = decide(decided)
        lines = logged(decision, caplog)
        head, _, rest = lines[-1].partition("{")
        metadata = json.loads("{" + rest)

        assert head == "RAG Confidence Metadata "
        assert set(metadata) == {"confidenceLevel", "isAnswerable", "filteredCount", "rawCount", "scores"}
        assert metadata["isAnswerable"] is decision.answered
        assert metadata["confidenceLevel"] == decision.confidence_level.value
        assert metadata["rawCount"] == len(decision.retrieved)
        assert len(lines) == (1 if decision.answered else 2)
        assert not any(word in line for line in lines for word in ("notice", "period", "contract", "Contract"))


def test_given_words_that_the_passages_or_a_name_hold_then_a_document_is_wanted_for_the_others_alone() -> None:
    """S3-20: a word that stands in the passages, or is of a name, is no word that is wanted."""
    named = replace(
        measurements(0.1),
        keywords=KeywordMatch(missing=("brno", "turbines", "notice")),
        understanding=Understanding("en", entities=("Brno",)),
    )

    assert document_wanted(named, Reason.CORRECTNESS) == (
        "Not found in the passages: turbines. Add a document that speaks of this, or search more sources.",
    )
    assert document_wanted(named, Reason.SUPPORT) == ()


@pytest.mark.parametrize(
    ("asked_in", "known", "said"),
    [
        ("de", 0.0, "The question is in German, the likeliest place is in English. Ask in English."),
        ("de", 1.0, "The question is in German, the likeliest place is in English. Ask in English."),
        ("en", 0.0, ""),
        ("xx", 0.0, ""),
    ],
)
def test_given_a_place_in_another_language_than_the_question_then_the_remedy_is_to_ask_in_that(
    asked_in: str, known: float, said: str
) -> None:
    found = measurements(0.9, of=Settings.load(), correctness=0.1)
    asked = replace(
        found,
        understanding=Understanding(asked_in),
        library=replace(found.library, languages=("en",)),
        features={**found.features, "known_language": known},
    )

    assert [one for one in decide(asked).suggestions if "The question is in" in one] == [said] * bool(said)
    nothing = replace(asked, draft=draft([]), hits=found.hits)
    of_all = "The question is in German, the documents are in English."
    assert any(of_all in one for one in decide(nothing).suggestions) is (asked_in == "de" and not known)


def test_given_a_likeliest_place_in_another_language_then_no_word_of_the_question_is_missing_there() -> None:
    asked = replace(measurements(0.1), keywords=KeywordMatch(missing=("turbines",)))

    assert document_wanted(replace(asked, features={**asked.features, "crossed": 1.0}), Reason.CORRECTNESS) == ()


def test_given_a_question_for_a_change_then_it_must_be_computed_unless_the_sentence_has_words_for_one() -> None:
    asked = replace(
        measurements(0.9, of=Settings.load(), correctness=0.1),
        question="By what percentage did revenue change from 2022 to 2023?",
    )
    lacks, states = (
        decide(replace(asked, features={**asked.features, "fit_result": value})).suggestions for value in (0.0, 1.0)
    )

    assert any("must be computed" in one for one in lacks)
    assert not any("must be computed" in one for one in states)
