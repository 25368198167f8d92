import dataclasses
from dataclasses import replace

import numpy as np
import pytest
from builders import draft, passage, settings
from builders import measured as measured_claim
from builders import measurements as measured_by_builder
from folding import each

from rag_core.decision.checks import GROUNDING
from rag_core.decision.decide import decide, replay
from rag_core.domain.claims import Claim, Evidence
from rag_core.domain.documents import Span
from rag_core.domain.drafts import Draft, taken_of
from rag_core.domain.measurements import Measurements
from rag_core.domain.passages import Hit, Passage, PassageKind
from rag_core.domain.ports import TextKind, Vectors
from rag_core.domain.status import AnswerStatus, Reason
from rag_core.domain.trace import CheckResult, State
from rag_core.grounding.claims import measure_claims
from rag_core.ingest.normalise import normalise
from rag_core.settings import Mode, Settings

PAGES = {
    ("doc", 1): "As we know, plants need light. The nth term is a + (n-1)d. The notice period is 30 days.",
    ("doc", 2): "Year ended\t2017\t2016\nNet sales\t177,866\t135,987",
}
LIGHT, TERM, NOTICE = (0, 30), (31, 58), (59, 88)
ALWAYS = (Reason.CITATIONS_PRESENT, Reason.CITATIONS_COMPLETE, Reason.CITATIONS_VALID, Reason.VERBATIM)


class Bags:
    """A tiny embedder that really measures: hashed letter counts, unit length."""

    name, max_tokens = "letters", 512

    def count_tokens(self, texts: list[str]) -> list[int]:
        return [len(text) for text in texts]

    def embed(self, texts: list[str], kind: TextKind = "passage") -> Vectors:
        counts = np.array(
            [[text.count(chr(97 + i)) + 1e-3 for i in range(26)] for text in texts], dtype=np.float32
        ).reshape(-1, 26)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)


def page_text(document: str, page: int) -> str:
    return PAGES.get((document, page), "")


def evidence(place: tuple[int, int], page: int = 1, passage: str = "p1") -> Evidence:
    return Evidence(passage, "doc", PAGES["doc", page][slice(*place)], (Span(page, *place),))


PASSAGES = {f"p{page}": normalise(text).text for (_, page), text in PAGES.items()}


def measurements(
    *claims: Claim, language: str = "en", chars: int = 400, text: str = "", **settings: object
) -> Measurements:
    audits = measure_claims(claims, PASSAGES, page_text, language, Bags())
    return Measurements(
        "q", Settings.load(values=settings), draft=Draft("model", claims, audits, text=text, context_chars=chars)
    )


def run(judged: Measurements) -> dict[Reason, CheckResult]:
    return {check.reason: check for check in (audit(judged) for audit in GROUNDING)}


def failed(judged: Measurements) -> set[Reason]:
    """What failed but for the support, which is fitted; see `test_support`."""
    return {reason for reason, check in run(judged).items() if check.state is State.FAILED} - {Reason.SUPPORT}


QUOTED = Claim("The notice period is 30 days.", (evidence(NOTICE),), ("p1",))


def test_given_an_extract_that_stands_in_its_source_then_every_audit_passes_without_a_model() -> None:
    table = Claim(
        "Net sales 177,866 135,987",
        (Evidence("p2", "doc", "Net sales\t177,866\t135,987", (Span(2, 21, 46),)),),
        ("p2",),
    )
    claims = (QUOTED, Claim("As we know, plants need light.", (evidence(LIGHT),), ("p1",)), table)
    audits = measure_claims(claims, PASSAGES, page_text, "en", None, whole=True)
    judged = Measurements("q", Settings.load(), draft=Draft("extract", claims, audits, context_chars=200))
    assert {check.state for check in run(judged).values()} == {State.PASSED}
    assert [(audit.similarity, audit.support, audit.word_for_word) for audit in audits] == [(1.0, 1.0, True)] * 3
    assert all(check.found for check in run(judged).values())


def test_given_an_answer_without_citations_then_it_is_rejected_as_likely_hallucinated() -> None:
    """S2-9: missing citations, with the reason in these words."""
    check = run(measurements(Claim("Plants need light.")))[Reason.CITATIONS_PRESENT]
    assert (check.state, check.found) == (State.FAILED, "Answer contains no citations - likely hallucinated")
    assert check.blocks


def test_given_one_uncited_claim_then_it_is_named_and_nothing_else_is_held_against_it() -> None:
    """S3-15, S3-18: "Uncited claim: …", and an uncited claim is not also unverified."""
    judged = measurements(QUOTED, Claim("The moon is made of 7 cheeses."))
    check = run(judged)[Reason.CITATIONS_COMPLETE]
    assert judged.draft.measured[1] == measured_claim(overlap=0.0, words=7)
    assert (check.value, check.found) == (1, "Uncited claim: The moon is made of 7 cheeses.")
    assert failed(judged) == {Reason.CITATIONS_COMPLETE}


def test_given_a_draft_of_uncited_claims_only_then_what_needs_evidence_abstains() -> None:
    """S3-18: nothing is verified against no passages."""
    checks = run(measurements(Claim("Plants need light.")))
    abstained = {reason for reason, check in checks.items() if check.state is State.ABSTAINED}
    assert abstained == {Reason.SENTENCE_LENGTH, Reason.OVERLAP, Reason.FACTS, Reason.SIMILARITY, Reason.SUPPORT}
    assert checks[Reason.FACTS].note == "no claim with a citation"


@pytest.mark.parametrize(
    ("ref", "found"), [("7", "Answer cites non-existent Source 7"), ("p9", "Invalid citation: p9")]
)
def test_given_a_citation_of_what_was_not_retrieved_then_it_is_reported(ref: str, found: str) -> None:
    """S2-11, S2-14, S3-15: fabricated citations are named."""
    judged = measurements(dataclasses.replace(QUOTED, cited=("p1", ref)))
    assert run(judged)[Reason.CITATIONS_VALID].found == found
    assert failed(judged) == {Reason.CITATIONS_VALID}


def test_given_a_quote_that_is_not_on_its_page_then_the_answer_is_rejected() -> None:
    wrong = dataclasses.replace(evidence(NOTICE), quote="The notice period is 90 days.")
    assert failed(measurements(dataclasses.replace(QUOTED, evidence=(wrong,)))) == {Reason.VERBATIM}


def test_given_a_citation_without_a_quote_then_it_stands_nowhere() -> None:
    assert Reason.VERBATIM in failed(measurements(QUOTED, Claim("Plants need light.", (), ("p1",))))


def test_given_the_four_that_no_setting_turns_off_then_every_mode_leaves_them_enforced() -> None:
    off = {name: Mode.OFF for name in Settings.model_fields if name.endswith("_mode")}
    checks = run(measurements(Claim("Plants need light."), Claim("x", (), ("p9",)), **off))
    assert {reason for reason, check in checks.items() if check.mode is Mode.ENFORCE} == set(ALWAYS)
    assert {checks[reason].state for reason in checks if reason not in ALWAYS} == {State.NOT_RUN}
    assert {Reason.CITATIONS_COMPLETE, Reason.CITATIONS_VALID} <= {
        reason for reason, check in checks.items() if check.blocks
    }


def test_given_an_indicator_phrase_then_it_is_named_unless_the_audit_is_off() -> None:
    """S2-10, S2-16, S2-25: rejected with the phrase, in one wording; pattern detection can be disabled."""
    claim = Claim("Typically the notice period is 30 days.", (evidence(NOTICE),), ("p1",))
    check = run(measurements(claim))[Reason.INDICATORS]
    assert (check.state, check.found) == (State.FAILED, 'Answer contains hallucination indicator: "typically"')
    assert run(measurements(claim, indicators_mode="off"))[Reason.INDICATORS].state is State.NOT_RUN
    assert not run(measurements(claim, indicators_mode="observe"))[Reason.INDICATORS].blocks


@each(
    ("chars", "context", "state"),
    [(150, 400, State.PASSED), (800, 400, State.PASSED), (801, 400, State.FAILED), (10, 0, State.NOT_RUN)],
)
def test_given_answers_of_many_lengths_then_only_one_much_longer_than_its_context_fails(
    chars: int, context: int, state: State
) -> None:
    """S2-12: more than twice the context fails; 150/400 = 0.38 is well."""
    check = run(measurements(QUOTED, chars=context, text="x" * chars))[Reason.LENGTH_RATIO]
    assert check.state is state
    assert check.value is None or check.value == pytest.approx(chars / context)
    assert ("likely added information" in check.found) == (state is State.FAILED)


def long_draft(words: int | None, **fields: object) -> Measurements:
    """One claim with so many words, resting on passage p1, which is prose unless told otherwise."""
    claim = Claim("The notice period is 30 days.", (evidence(NOTICE),), ("p1",))
    one = taken_of(claim, measured_claim(words=words, overlap=1.0, similarity=1.0, support=1.0))
    kind = fields.pop("kind", PassageKind.PARAGRAPH)
    hit = Hit(Passage("p1", "doc", PASSAGES["p1"], (Span(1, 0, 88),), "en", kind=kind), 0.9, 0.9, 1.0)  # type: ignore[arg-type]
    drafter = str(fields.pop("drafter", "extract"))
    return Measurements("q", Settings.load(values=fields), hits=(hit,), draft=Draft(drafter, (claim,), (one,)))


@each(
    ("words", "fields", "state"),
    [
        (60, {}, State.PASSED),  # the limit itself passes
        (61, {}, State.FAILED),
        (61, {"kind": PassageKind.TABLE}, State.ABSTAINED),
        (61, {"drafter": "raw"}, State.ABSTAINED),  # a short context, which comes back as it is
        (61, {"drafter": "model"}, State.FAILED),
        (61, {"sentence_length_mode": Mode.OFF}, State.NOT_RUN),
    ],
)
def test_given_a_sentence_of_many_words_then_it_is_no_answer_past_the_limit_and_rows_and_code_are_not_counted(
    words: int | None, fields: dict[str, object], state: State
) -> None:
    found = run(long_draft(words, **fields))[Reason.SENTENCE_LENGTH]
    assert found.state is state
    if state is State.FAILED:
        assert found.found == "the longest sentence has 61 words"
        assert found.remedy.startswith("Read the sentence where it stands")


def test_given_a_long_sentence_then_the_question_is_refused_and_the_sentence_is_a_place_to_look() -> None:
    text = f"The notice period, {'as was said before, ' * 20}is 30 days."
    long = passage(1, text)
    claim = Claim(text, (Evidence(long.id, "d1", text, long.spans),), (long.id,), relevance=0.8)
    audits = measure_claims([claim], {long.id: text}, lambda *_: text, "en", whole=True)
    of = settings(sentence_length_mode=Mode.ENFORCE)
    asked = replace(measured_by_builder(0.9, of=of), draft=draft([claim], audits))

    refused = decide(asked)

    assert audits[0].words == len(text.split()) == 86
    assert (refused.answered, refused.reason, refused.status) == (
        False,
        Reason.SENTENCE_LENGTH,
        AnswerStatus.LOW_CONFIDENCE,
    )
    assert [place.excerpt for place in refused.places] == [text]
    assert replay(asked, of.changed(max_sentence_words=90)).answer.startswith(text)


def test_given_too_few_grounded_claims_then_the_answer_is_rejected_and_at_the_threshold_it_passes() -> None:
    """S2-13: grounded/total below 0.7."""
    invented = Claim("Moss dislikes bright places greatly.", (evidence(LIGHT),), ("p1",))
    check = run(measurements(QUOTED, invented))[Reason.OVERLAP]
    assert (check.state, check.value) == (State.FAILED, 0.5)
    assert check.found.startswith("Answer not sufficiently grounded in context")
    assert run(measurements(QUOTED, invented, min_grounded=0.5))[Reason.OVERLAP].state is State.PASSED


def test_given_a_claim_of_other_meaning_then_the_least_similar_decides() -> None:
    """S4-10: similarity with a threshold that can be set; S4-9: the validator measures it."""
    judged = measurements(QUOTED, Claim("Zzz xxx qqq.", (evidence(LIGHT),), ("p1",)))
    check = run(judged)[Reason.SIMILARITY]
    assert check.state is State.FAILED
    assert check.value is not None
    assert (
        run(dataclasses.replace(judged, settings=Settings.load(values={"min_similarity": -1.0})))[
            Reason.SIMILARITY
        ].state
        is State.PASSED
    )


def test_given_a_claim_without_words_then_nothing_is_divided_and_it_does_not_pass() -> None:
    """S2-19: no division by zero, never a pass."""
    check = run(measurements(Claim("…", (evidence(LIGHT),), ("p1",))))[Reason.OVERLAP]
    assert (check.state, check.blocks, check.note) == (State.NOT_RUN, True, "no words to compare")


def test_given_many_findings_then_a_check_names_a_few_of_them_and_counts_the_rest() -> None:
    check = run(measurements(*[Claim(f"Claim {number} " + "x" * 500) for number in range(5)]))[
        Reason.CITATIONS_COMPLETE
    ]
    assert check.value == 5
    assert check.found.endswith(" and 2 more")
    assert len(check.found) < 400


def supported(
    *supports: float | None, flags: tuple[str, ...] = (), read: bool = True, **settings: object
) -> CheckResult:
    """The audit of a draft whose claims have these supports, the first one these flags."""
    audits = [measured_claim(support=support) for support in supports]
    audits[0] = dataclasses.replace(audits[0], flags=flags, read=read)
    draft = Draft("model", (QUOTED,) * len(supports), tuple(audits), context_chars=100)
    return run(Measurements("q", Settings.load(values=settings), draft=draft))[Reason.SUPPORT]


@each(
    ("supports", "state"), [((0.9, 0.5), "passed"), ((0.9, 0.49), "failed"), ((0.2, 0.9), "failed"), ((1.0,), "passed")]
)
def test_given_claims_with_supports_then_the_least_is_held_against_the_limit_and_equal_passes(
    supports: tuple[float, ...], state: str
) -> None:
    """S3-15: every claim is verified against what it cites."""
    check = supported(*supports, min_support=0.5)

    assert (check.state, check.value, check.threshold, check.scale) == (state, min(supports), 0.5, "support")
    assert bool(check.remedy)


def test_given_a_claim_that_nothing_has_read_then_the_check_passes_on_facts_and_overlap_and_says_so() -> None:
    check = supported(0.9, 0.8, read=False)

    assert check.state is State.PASSED
    assert (
        check.found
        == "least supported claim 0.80; 1 of 2 claims checked by facts and overlap only, no verifier has read them"
    )
