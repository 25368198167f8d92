"""The checks that only a language model's draft has, after all others: its language, length and words, and a judgement.

What a model said can only take trust away: a draft that failed before is not looked at by it.
"""

from __future__ import annotations

from typing import NamedTuple

from rag_core.decision.checks.grounding import no_draft
from rag_core.decision.checks.row import Check, listed
from rag_core.domain.llm_trace import Attempt, Sufficiency
from rag_core.domain.measurements import Measurements
from rag_core.domain.status import Reason
from rag_core.domain.trace import Direction, several
from rag_core.grounding.feedback import unverified, wrong_languages
from rag_core.settings import Mode, Scale, Settings

_SHOWN_CHARS = 100  # a longer text of a model is cut where a check names it
_ADD = "Add the document that holds what is missing, or search all documents."
_CONFIGURE = "Let a language model draft and check its server, or choose settings that do not ask one first."


class Drafted(NamedTuple):
    """A draft of a model; `view` is the question with it as its own, and the passages of its round as its hits."""

    view: Measurements
    attempt: Attempt

    @property
    def settings(self) -> Settings:
        return self.view.settings


class Said(NamedTuple):
    """The judgement of a model on the passages of a question."""

    measurements: Measurements
    judgement: Sufficiency

    @property
    def settings(self) -> Settings:
        return self.measurements.settings

    @property
    def timings(self) -> dict[str, float]:
        """In milliseconds."""
        return {"sufficiency": self.judgement.call.ms}


def _no_score(d: Drafted) -> str:
    """Why a draft's own score refuses nothing: it is held against the limit of the extract's score where that one
    refuses.
    """
    if d.settings.correctness_mode is not Mode.ENFORCE:
        return "the probability of a right answer refuses nothing under these settings"
    return no_draft(d.view) or ("no score was taken of the draft" if d.attempt.correctness is None else "")


def _languages_in_words(d: Drafted, *_: float | None) -> str:
    others, asked = wrong_languages(d.view, d.attempt), d.view.understanding.language
    if others and asked == d.attempt.language:
        return f"written in {d.attempt.language}, its sources in {', '.join(others)}"
    return f"written in {d.attempt.language}, asked in {asked}"


def _length_in_words(d: Drafted, *_: float | None) -> str:
    s = d.settings
    return (
        f"{several(d.attempt.sentences, 'sentence')} of at most {s.max_sentences}, "
        f"{d.attempt.tokens} tokens of at most {s.max_tokens}"
    )


def _reworded_in_words(d: Drafted, value: float | None, _: float) -> str:
    if value is None:
        return "this was not measured"
    return (
        f"{value:g} of {several(len(d.view.draft.claims), 'sentence')} in words of the "
        f"model's own, or torn from the one before"
    )


def _verified(d: Drafted) -> float | None:
    """Share of the cited claims that the model finds in their passages, in [0, 1]; an unclear word is no yes."""
    cited = sum(bool(claim.evidence) for claim in d.view.draft.claims)
    wrong = unverified(d.view, d.attempt)
    return None if wrong is None or not cited else 1 - len(wrong) / cited


def _verification_in_words(d: Drafted, *_: float | None) -> str:
    wrong = unverified(d.view, d.attempt)
    if wrong is None:
        return (
            d.attempt.verification.call.failure if d.attempt.verification else ""
        ) or "the model was not asked about these claims"
    failing = [f"Unverified claim: {d.view.draft.claims[n].text[:_SHOWN_CHARS]}" for n in wrong]
    return listed(failing, "; ") if failing else "the model finds every claim in its passages"


def _sufficient(said: Said) -> float | None:
    """How sure the model says it is of its yes or partial, in [0, 1]; 0 for a no."""
    judgement = said.judgement
    if judgement.call.failure or not judgement.can_answer:
        return None
    return 0.0 if judgement.can_answer == "no" else judgement.confidence


def _sufficiency_in_words(said: Said, value: float | None, _: float) -> str:
    judgement = said.judgement
    if value is None:
        return judgement.call.failure or "the model was not asked"
    told = {
        "yes": "the model says that the passages answer the question",
        "partial": "the model says that they answer a part of it",
    }
    found = told.get(judgement.can_answer, "the model says that the passages do not answer the question")
    found += f", confidence {judgement.confidence:.2f}"
    if judgement.missing:
        things = "one thing" if len(judgement.missing) == 1 else f"{len(judgement.missing)} things"
        found += f"; it names {things} as missing, in its words in the trace"
    return found


def _refuses(said: Said) -> bool:
    return said.judgement.can_answer == "no" or (
        said.judgement.can_answer == "partial" and said.settings.refuse_partial
    )


SUFFICIENCY: Check[Said] = Check(
    name="sufficiency",
    asks="Does the model say that the passages answer the question? A no fails whatever the threshold.",
    reason=Reason.SUFFICIENCY,
    scale=Scale.SHARE,
    passes=Direction.AT_LEAST,
    value=_sufficient,
    threshold="min_sufficiency",
    mode="sufficiency_mode",
    also=("refuse_partial", "expand_searches"),
    vetoes=_refuses,
    said=_sufficiency_in_words,
    remedy=lambda said, value: _ADD if value is not None else _CONFIGURE,
    timing="sufficiency",
)

LLM_DRAFT: tuple[Check[Drafted], ...] = (
    Check(
        name="answer_language",
        asks="Is the answer in the question's language, and unless it may translate in that of its sources?",
        reason=Reason.ANSWER_LANGUAGE,
        scale=Scale.COUNT,
        passes=Direction.AT_MOST,
        value=lambda d: float(len(wrong_languages(d.view, d.attempt))),
        threshold=0,
        mode="answer_language_mode",
        also=("translate",),
        abstains=lambda d: (
            no_draft(d.view) or ("" if d.attempt.language else "the draft is too short to tell its language")
        ),
        said=_languages_in_words,
        remedy="Ask in the documents' language, or search documents in yours.",
    ),
    Check(
        name="answer_length",
        asks="Is the answer no longer than it may be, in sentences and tokens?",
        reason=Reason.ANSWER_LENGTH,
        scale=Scale.RATIO,
        passes=Direction.AT_MOST,
        value=lambda d: max(d.attempt.sentences / d.settings.max_sentences, d.attempt.tokens / d.settings.max_tokens),
        threshold=1,
        mode="answer_length_mode",
        also=("max_sentences", "max_tokens"),
        abstains=lambda d: no_draft(d.view),
        said=_length_in_words,
        remedy="Ask a narrower question, or raise max_sentences or max_tokens.",
    ),
    Check(
        name="added_words",
        asks="Is the answer made of the words of its sources? A model may only compress them.",
        reason=Reason.ADDED_WORDS,
        scale=Scale.COUNT,
        passes=Direction.AT_MOST,
        value=lambda d: float(max(d.attempt.added, default=0)),
        threshold="max_added_words",
        mode="added_words_mode",
        abstains=lambda d: no_draft(d.view),
        said=lambda d, value, _: f"at most {value:g} words in a row that no cited passage has",
        remedy="Compare the answer with its sources, or raise max_added_words.",
    ),
    Check(
        name="reworded",
        asks="Does the model only leave out: is each sentence a whole sentence, or whole cells of a row, that it cites?",  # noqa: E501
        reason=Reason.REWORDED,
        scale=Scale.COUNT,
        passes=Direction.AT_MOST,
        value=lambda d: None if d.attempt.reworded is None else float(sum(d.attempt.reworded)),
        threshold=0,
        also=("rewording",),
        abstains=lambda d: (
            no_draft(d.view)
            or ("" if d.settings.rewording == "none" else "these settings let a model use words of its own")
        ),
        said=_reworded_in_words,
        remedy="Read the sources themselves, or set rewording to audited.",
    ),
    Check(
        name="draft_correctness",
        asks="Is the model's draft right, by the calibrated score of the sentences that it cites?",
        reason=Reason.DRAFT_CORRECTNESS,
        scale=Scale.CORRECTNESS,
        value=lambda d: d.attempt.correctness,
        threshold="min_correctness",
        also=("correctness_mode",),
        abstains=_no_score,
        said=lambda d, value, at: "" if value is None else f"probability {value:.2f}, {at:.2f} required",
        remedy="Read what was found, or ask for less certainty.",
    ),
)

VERIFICATION: Check[Drafted] = Check(
    name="verification",
    asks="Does the model say of each cited claim that its passages say so?",
    reason=Reason.VERIFICATION,
    scale=Scale.SHARE,
    passes=Direction.AT_LEAST,
    value=_verified,
    threshold=1,
    mode="verification_mode",
    abstains=lambda d: "" if any(claim.evidence for claim in d.view.draft.claims) else "no claim with a citation",
    said=_verification_in_words,
    remedy="Compare the answer with its sources, or ask for less at once.",
)
