"""Feedback for the model that drafts again: each failing sentence with its exact reason, in words.

The words hold text of the model and of documents: they are data in a prompt, and inert on a screen. A finding's key
holds numbers only, so that a record without texts names the same findings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rag_core.domain.claims import Claim
from rag_core.domain.drafts import ClaimMeasurement
from rag_core.domain.llm_trace import Attempt, YesNo
from rag_core.domain.measurements import Measurements
from rag_core.domain.status import Reason
from rag_core.domain.trace import CheckResult, State
from rag_core.grounding.additions import added_to
from rag_core.grounding.citations import is_cited
from rag_core.grounding.wording import fact_in_words, flags_in_words

_QUOTE_CHARS = 200  # characters of a quote that is named


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with a draft."""

    reason: Reason  # the check that failed
    claim: int | None  # index of the failing claim; None where it is the whole draft
    text: str  # the failing sentence and what is wrong with it

    @property
    def key(self) -> str:
        """`facts:0`, or `answer_length:-` for the whole draft."""
        return f"{self.reason}:{'-' if self.claim is None else self.claim}"


def findings(view: Measurements, failed: Sequence[CheckResult], attempt: Attempt) -> tuple[Finding, ...]:
    """The blocking checks' findings, in order, on a draft; `view` has it as its own, with its round's hits."""
    if attempt.problem in _PROBLEMS:
        return (Finding(attempt.problem, None, _PROBLEMS[attempt.problem]),)
    return tuple(finding for check in failed for finding in _of(check, view, attempt))


def _of(check: CheckResult, view: Measurements, attempt: Attempt) -> Iterator[Finding]:
    if check.state is State.NOT_RUN:
        yield Finding(check.reason, None, f"{check.stage.replace('_', ' ')} could not be checked.")
        return
    both = enumerate(zip(view.draft.claims, view.draft.measured, strict=True))
    failing = [(n, text) for n, (claim, measured) in both if (text := _fault(check.reason, claim, measured, view))]
    if check.reason is Reason.VERIFICATION:
        failing = [(n, _ANSWERS[answer]) for n, answer in (unverified(view, attempt) or {}).items()]
    elif check.reason is Reason.ADDED_WORDS:
        failing = list(_added(view, attempt))
    elif check.reason is Reason.REWORDED:
        whole = [one.word_for_word for one in view.draft.measured]
        failing = [(n, _TORN if whole[n] else _REWORDED) for n, own in enumerate(attempt.reworded or ()) if own]
    for n, text in failing:
        yield Finding(check.reason, n, f'"{view.draft.claims[n].text}": {text}.')
    if not failing:
        yield Finding(check.reason, None, _whole(check, view, attempt))


def _fault(reason: Reason, claim: Claim, measured: ClaimMeasurement, view: Measurements) -> str:
    """The fault that the check of this reason found on a claim; empty where it found none."""
    match reason:
        case Reason.CITATIONS_COMPLETE if not is_cited(claim):
            return "it names no source"
        case Reason.CITATIONS_VALID if measured.fabricated:
            return f"there is no source {', '.join(map(_quoted, measured.fabricated))}"
        case Reason.VERBATIM:
            return "; ".join(
                f"its quote {_quoted(quote)} stands in another source than the one it names"
                if quote in measured.quotes_elsewhere
                else f"its quote {_quoted(quote)} does not stand word for word in the source it names"
                for quote in measured.quotes_missing or ()
            )
        case Reason.INDICATORS if measured.indicators:
            return f"it speaks of knowledge from elsewhere: {', '.join(map(_quoted, measured.indicators))}"
        case _:
            return _unlike(reason, measured, view) if claim.evidence else ""


def _unlike(reason: Reason, measured: ClaimMeasurement, view: Measurements) -> str:
    """In what a claim is unlike its evidence, as far as the check of this reason compares them."""
    s = view.settings
    match reason:
        case Reason.OVERLAP if measured.overlap is not None and measured.overlap < s.min_sentence_overlap:
            return f"only {measured.overlap:.0%} of its words stand in what it quotes; use the words of the source"
        case Reason.FACTS | Reason.OVERLAP if reason is Reason.FACTS or measured.overlap is not None:
            return "; ".join(fact_in_words(kind, text) for kind, text in measured.changed_facts or ())
        case Reason.SIMILARITY if measured.similarity is not None and measured.similarity < s.min_similarity:
            return "it does not mean what its quote says"
        case Reason.SUPPORT if measured.support is not None and measured.support < s.min_support:
            return flags_in_words(measured.flags) or "its source does not say so clearly enough"
        case _:
            return ""


_REWORDED = "it is not a whole sentence that it quotes; copy that whole sentence word for word"
_TORN = (
    "it says something else without the heading above it or the sentence beside it in its source; where it speaks of "
    "what stands before it, put that sentence right before it; where the next sentence takes it back, put that right "
    "behind it; or leave it away"
)
_ANSWERS: Mapping[YesNo, str] = {
    "no": "its source does not say so",
    "unclear": "it is not clear whether its source says so",
}
_PROBLEMS: Mapping[Reason, str] = {
    Reason.EMPTY_DRAFT: "The answer was empty.",
    Reason.OFF_QUESTION: "None of its sentences answers the question.",
    Reason.ONE_SIDED: "Another of the documents contradicts one of its sentences; leave that sentence away.",
    Reason.MALFORMED_DRAFT: "The answer did not have the form that was asked for.",
}


def _added(view: Measurements, attempt: Attempt) -> Iterator[tuple[int, str]]:
    for n, (claim, count) in enumerate(zip(view.draft.claims, attempt.added, strict=False)):
        if count > view.settings.max_added_words:
            added = _quoted(" ".join(added_to(claim, view)))
            yield n, f"what it cites does not say {added}; use the words of the source"


def _whole(check: CheckResult, view: Measurements, attempt: Attempt) -> str:
    s = view.settings
    match check.reason:
        case Reason.CITATIONS_PRESENT:
            return "The answer names no source at all."
        case Reason.DRAFT_CORRECTNESS:
            return "Its sentences do not answer the question well enough."
        case Reason.LENGTH_RATIO:
            return "The answer is much longer than the sources it was made from."
        case Reason.ANSWER_LENGTH:
            return f"The answer is too long: at most {s.max_sentences} sentences and {s.max_tokens} tokens."
        case Reason.ANSWER_LANGUAGE:
            wanted = ", ".join(wrong_languages(view, attempt))
            return f"The answer is written in {attempt.language}; it must be in {wanted}."
        case _:
            return f"{check.stage.replace('_', ' ')}: {check.found or check.note}."


def _quoted(text: str) -> str:
    short = text if len(text) <= _QUOTE_CHARS else f"{text[:_QUOTE_CHARS]}…"
    return f'"{short}"'


def wrong_languages(view: Measurements, attempt: Attempt) -> tuple[str, ...]:
    """The languages it should be in and surely is not: the question's, and its evidence's unless it may translate."""
    wanted = [view.understanding.language]
    if not view.settings.translate:
        cited = {one.passage for claim in view.draft.claims for one in claim.evidence}
        wanted += [hit.passage.language for hit in view.hits if hit.passage.id in cited]
    return tuple(one for one in dict.fromkeys(wanted) if attempt.language and one not in (attempt.language, "und"))


def unverified(view: Measurements, attempt: Attempt) -> dict[int, YesNo] | None:
    """The cited claims, by index, that the model does not find in their passages; None for no word."""
    answers = attempt.verification.answers if attempt.verification else ()
    if len(answers) != len(view.draft.claims):
        return None
    told = enumerate(zip(view.draft.claims, answers, strict=True))
    return {n: answer for n, (claim, answer) in told if claim.evidence and answer != "yes"}
