"""What goes back to a model whose draft was rejected: each failing sentence with its exact reason, in an order that
repeats.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import GOOD_AUDIT, claim, draft, hit, measurements, passage, settings
from builders import measured as measured_claim
from folding import each

from rag_core.decision.checks import GROUNDING, LLM_DRAFT, VERIFICATION
from rag_core.decision.checks.llm import Drafted
from rag_core.domain.claims import Claim
from rag_core.domain.drafts import ClaimMeasurement
from rag_core.domain.llm_trace import Attempt, Call, Step, Verification, YesNo
from rag_core.domain.measurements import Measurements
from rag_core.domain.status import Reason
from rag_core.domain.trace import Direction, judge
from rag_core.grounding.feedback import Finding, findings
from rag_core.settings import Mode

GOOD, BAD = "The notice period is 30 days.", "The notice period is 31 days."
ON = dict.fromkeys(
    (
        "indicators_mode",
        "overlap_mode",
        "facts_mode",
        "similarity_mode",
        "support_mode",
        "length_ratio_mode",
        "verification_mode",
    ),
    Mode.ENFORCE,
)


def view(
    *audits: ClaimMeasurement, claims: tuple[Claim, ...] = (), chars: int = 1000, **values: object
) -> Measurements:
    """Measurements of a good claim and a bad one."""
    source = passage(1)
    said = claims or (claim(source, GOOD), claim(source, BAD))[: len(audits)]
    of = settings(**{"rewording": "audited", **ON, **values})
    return measurements(hits=(hit(0.9, of=source),), draft=draft(said, audits, chars), of=of)


def attempt(*answers: YesNo, **fields: object) -> Attempt:
    said = Verification(Call(Step.VERIFY), answers) if answers else None
    return Attempt((), Call(Step.DRAFT), language="en", sentences=2, tokens=20, verification=said, **fields)  # type: ignore[arg-type]


def found(judged: Measurements, of: Attempt | None = None) -> tuple[Finding, ...]:
    """The findings of everything that blocks."""
    one = of or attempt()
    checks = [*(audit(judged) for audit in GROUNDING), *(check(Drafted(judged, one)) for check in LLM_DRAFT)]
    if one.verification:
        checks.append(VERIFICATION(Drafted(judged, one)))
    return findings(judged, [check for check in checks if check.blocks], one)


def test_given_nothing_that_blocks_then_there_are_no_findings() -> None:
    assert found(view(GOOD_AUDIT, GOOD_AUDIT), attempt("yes", "yes")) == ()


@each(
    ("audit", "reason", "words"),
    [
        (replace(GOOD_AUDIT, changed_facts=(("number", "31"),)), Reason.FACTS, "number not in the evidence: 31"),
        (
            replace(GOOD_AUDIT, quotes_missing=("31 days",)),
            Reason.VERBATIM,
            'its quote "31 days" does not stand word for word',
        ),
        (
            replace(GOOD_AUDIT, quotes_missing=("31 days",), quotes_elsewhere=("31 days",)),
            Reason.VERBATIM,
            'its quote "31 days" stands in another source than the one it names',
        ),
        (replace(GOOD_AUDIT, fabricated=("7",)), Reason.CITATIONS_VALID, 'there is no source "7"'),
        (replace(GOOD_AUDIT, overlap=0.4), Reason.OVERLAP, "only 40% of its words stand in what it quotes"),
        (replace(GOOD_AUDIT, similarity=0.2), Reason.SIMILARITY, "it does not mean what its quote says"),
        (replace(GOOD_AUDIT, support=0.1, flags=("not_entailed",)), Reason.SUPPORT, "the evidence does not say so"),
    ],
)
def test_given_a_claim_that_fails_then_the_finding_names_it_with_the_reason(
    audit: ClaimMeasurement, reason: Reason, words: str
) -> None:
    """S3-15, S3-16: a draft is written again with what was wrong with it."""
    one = next(finding for finding in found(view(GOOD_AUDIT, audit)) if finding.reason is reason)

    assert (one.claim, one.key) == (1, f"{reason}:1")
    assert one.text.startswith(f'"{BAD}": ')
    assert words in one.text
    assert GOOD not in one.text


def test_given_an_uncited_claim_then_it_is_named_and_nothing_else_is_said_of_it() -> None:
    """S2-9, S3-15: every sentence names its source; S3-18: one that does not is uncited and nothing else."""
    uncited = (claim(passage(1), GOOD), Claim(BAD))
    keys = [one.key for one in found(view(GOOD_AUDIT, measured_claim(overlap=0.0), claims=uncited))]

    assert keys == ["citations_complete:1"]


def test_given_verdicts_of_the_model_then_each_claim_without_a_yes_is_named() -> None:
    """S3-15."""
    said = found(view(GOOD_AUDIT, GOOD_AUDIT), attempt("unclear", "no"))

    assert [(one.key, one.text) for one in said] == [
        ("verification:0", f'"{GOOD}": it is not clear whether its source says so.'),
        ("verification:1", f'"{BAD}": its source does not say so.'),
    ]


def test_given_a_draft_of_the_wrong_language_or_length_then_it_is_told_what_it_must_be() -> None:
    """S0-20, S0-23, S2-23."""
    judged = view(
        GOOD_AUDIT,
        GOOD_AUDIT,
        chars=10,
        max_sentences=1,
        answer_language_mode=Mode.ENFORCE,
        answer_length_mode=Mode.ENFORCE,
    )

    texts = {one.reason: one.text for one in found(judged, replace(attempt(), language="de"))}

    assert texts[Reason.ANSWER_LANGUAGE] == "The answer is written in de; it must be in en."
    assert "at most 1 sentences and 150 tokens" in texts[Reason.ANSWER_LENGTH]
    assert "longer than the sources" in texts[Reason.LENGTH_RATIO]


def test_given_a_check_that_was_not_run_then_no_sentence_is_blamed() -> None:
    broken = judge(
        "support", None, 0.5, Direction.AT_LEAST, "support", Reason.SUPPORT, Mode.ENFORCE, found="the verifier failed"
    )

    assert findings(view(GOOD_AUDIT), [broken], attempt()) == (
        Finding(Reason.SUPPORT, None, "support could not be checked."),
    )


@pytest.mark.parametrize("problem", [Reason.EMPTY_DRAFT, Reason.MALFORMED_DRAFT, Reason.OFF_QUESTION, Reason.ONE_SIDED])
def test_given_a_reply_that_could_not_be_read_then_that_is_the_finding(problem: Reason) -> None:
    (one,) = findings(view(GOOD_AUDIT), [], attempt(problem=problem))

    assert (one.key, one.text.startswith(("The answer ", "None of its", "Another of"))) == (f"{problem}:-", True)


def test_given_a_quote_of_200_characters_then_it_is_named_whole_and_a_longer_one_is_cut() -> None:
    for length, shown in ((200, "a" * 200), (201, "a" * 200 + "…")):
        (one, *_) = found(view(replace(GOOD_AUDIT, quotes_missing=("a" * length,))))
        assert f'"{shown}"' in one.text, length
