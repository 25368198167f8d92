"""The audits that only a model's draft has: its language, its length, and what a model says of it; after all others.

Like every check they only judge what was measured. What a model said can take trust away and never adds any: a draft that failed before
is not looked at by it.
"""

from __future__ import annotations

from dataclasses import replace

from rag_core.domain.llm_trace import Attempt, Sufficiency, Verdict
from rag_core.domain.measurements import Measurements
from rag_core.domain.status import Reason
from rag_core.domain.trace import CheckResult, Direction, State, judge

_SHOWN, _SHOWN_CHARS = 3, 100  # texts of a model named in a check, and characters of each


def model_audits(view: Measurements, attempt: Attempt) -> tuple[CheckResult, ...]:
    """The audits of a model's draft that cost no call, in their order.

    Args:
        view: the case with the attempt's draft as its draft, and the passages of its round as its hits.
        attempt: the draft with what was measured on it.
    """
    return answer_language(view, attempt), answer_length(view, attempt), added_words(view, attempt)


def answer_language(view: Measurements, attempt: Attempt) -> CheckResult:
    """The answer is in the question's language (S2-23), and unless it may translate in that of its sources.

    A draft whose language is not certain is not judged: a name, a number or two words are of no language.
    """
    others = wrong_languages(view, attempt)
    asked = view.understanding.language
    found = f"written in {attempt.language}, asked in {asked}"
    if others and asked == attempt.language:
        found = f"written in {attempt.language}, its sources in {', '.join(others)}"
    abstain = "" if view.draft.claims else "no draft to audit"
    return judge(
        Reason.ANSWER_LANGUAGE, float(len(others)), 0, Direction.AT_MOST, "count", Reason.ANSWER_LANGUAGE,
        view.settings.answer_language_mode, found=found, remedy="Ask in the documents' language, or search documents in yours.",
        abstain=abstain or ("" if attempt.language else "the draft is too short to tell its language"),
    )  # fmt: skip


def wrong_languages(view: Measurements, attempt: Attempt) -> tuple[str, ...]:
    """The languages it should be in and surely is not: the question's, and unless it may translate those of its evidence."""
    wanted = [view.understanding.language]
    if not view.settings.translate:
        cited = {one.passage for claim in view.draft.claims for one in claim.evidence}
        wanted += [hit.passage.language for hit in view.hits if hit.passage.id in cited]
    return tuple(one for one in dict.fromkeys(wanted) if attempt.language and one not in (attempt.language, "und"))


def answer_length(view: Measurements, attempt: Attempt) -> CheckResult:
    """The answer is no longer than it may be: at most `max_sentences` sentences (S0-23) and `max_tokens` tokens (S0-20)."""
    s = view.settings
    used = max(attempt.sentences / s.max_sentences, attempt.tokens / s.max_tokens)
    return judge(
        Reason.ANSWER_LENGTH, used, 1, Direction.AT_MOST, "ratio", Reason.ANSWER_LENGTH, s.answer_length_mode,
        found=f"{attempt.sentences} sentences of at most {s.max_sentences}, {attempt.tokens} tokens of at most {s.max_tokens}",
        remedy="Ask a narrower question, or raise max_sentences or max_tokens.", abstain="" if view.draft.claims else "no draft to audit",
    )  # fmt: skip


def added_words(view: Measurements, attempt: Attempt) -> CheckResult:
    """The answer is made of the words of its sources: a model may only compress them (S0-24)."""
    s, most = view.settings, max(attempt.added, default=0)
    return judge(
        Reason.ADDED_WORDS, float(most), s.max_added_words, Direction.AT_MOST, "count", Reason.ADDED_WORDS, s.added_words_mode,
        found=f"at most {most} words in a row that no cited passage has",
        remedy="Compare the answer with its sources, or raise max_added_words.", abstain="" if view.draft.claims else "no draft to audit",
    )  # fmt: skip


def verification(view: Measurements, attempt: Attempt) -> CheckResult:
    """The model says of each cited claim that its passages say so (S3-15); an unclear verdict is no yes.

    A claim without a citation is reported as uncited, and not as unverified as well (S3-18).
    """
    cited = [n for n, claim in enumerate(view.draft.claims) if claim.evidence]
    wrong = unverified(view, attempt)
    share = None if wrong is None or not cited else 1 - len(wrong) / len(cited)
    failing = [f"Unverified claim: {view.draft.claims[n].text[:_SHOWN_CHARS]}" for n in wrong or ()]
    found = _listed(failing, "; ") if failing else "the model finds every claim in its passages"
    if wrong is None:
        found = (attempt.verification.call.failure if attempt.verification else "") or "the model was not asked about these claims"
    return judge(
        Reason.VERIFICATION, share, 1, Direction.AT_LEAST, "share", Reason.VERIFICATION, view.settings.verification_mode,
        found=found, remedy="Compare the answer with its sources, or ask for less at once.",
        abstain="" if cited else "no claim with a citation",
    )  # fmt: skip


def unverified(view: Measurements, attempt: Attempt) -> dict[int, Verdict] | None:
    """The cited claims, by index, that the model does not find in their passages, with its verdicts; None where it said nothing of them."""
    verdicts = attempt.verification.verdicts if attempt.verification else ()
    if len(verdicts) != len(view.draft.claims):
        return None
    told = enumerate(zip(view.draft.claims, verdicts, strict=True))
    return {n: verdict for n, (claim, verdict) in told if claim.evidence and verdict != "yes"}


def sufficiency(case: Measurements, verdict: Sufficiency) -> CheckResult:
    """The model says that the passages answer the question (S1-9, S3-10); a part of it is enough unless `refuse_partial` (S3-12).

    Judges:  how sure the model says it is of its yes or partial, in [0, 1]; 0 for a no.
    Limit:   `min_sufficiency`. A no fails whatever the limit.
    """
    s, answers = case.settings, verdict.can_answer
    said = {"yes": "the model says that the passages answer the question", "partial": "the model says that they answer a part of it"}
    found = said.get(answers, "the model says that the passages do not answer the question") + f", confidence {verdict.confidence:.2f}"
    if verdict.missing:
        things = "one thing" if len(verdict.missing) == 1 else f"{len(verdict.missing)} things"
        found += f"; it names {things} as missing, in its words in the trace"
    value = None if verdict.call.failure or not answers else 0.0 if answers == "no" else verdict.confidence
    check = judge(
        "sufficiency", value, s.min_sufficiency, Direction.AT_LEAST, "share", Reason.SUFFICIENCY, s.sufficiency_mode,
        found=found if value is not None else verdict.call.failure or "the model was not asked",
        remedy="Add the document that holds what is missing, or search all documents.", ms=verdict.call.ms,
    )  # fmt: skip
    refused = answers == "no" or (answers == "partial" and s.refuse_partial)
    return replace(check, state=State.FAILED) if refused and check.state is State.PASSED else check


def _listed(texts: list[str], between: str) -> str:
    """The first of these texts, and how many more there are."""
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return between.join(texts[:_SHOWN]) + more
