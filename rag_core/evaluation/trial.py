"""Tries a language model on questions: what becomes of its drafts, what they cost, and what was shown, for a person to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rag_core.domain.decision import Decision
from rag_core.domain.trace import several
from rag_core.engine import Engine
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.settings import Settings


class Ended(StrEnum):
    """The end of the model's drafts for one question; in words, for a report."""

    AT_ONCE = "its first draft was shown"
    AFTER_FINDINGS = "a later draft was shown"
    EXTRACT = "the extract stood in"
    REFUSED = "refused after drafting"
    UNANSWERED = "it could not be asked, or did not answer"
    NOT_ASKED = "no draft was asked for"  # a gate refused, the passages are short, or they contradict each other


@dataclass(frozen=True, slots=True)
class Tried:
    """One question with its decision: how it ended, and what it cost.

    Args:
        question: with what its labels say of it.
        decision: as it was shown.
        ended: in words.
        calls: prompts that were sent; those from the cache are none.
        tokens: in and out, of all calls.
        seconds: that the model took.
    """

    question: LabelledQuestion
    decision: Decision
    ended: Ended
    calls: int
    tokens: int
    seconds: float


def try_model(engine: Engine, questions: Sequence[LabelledQuestion], settings: Settings) -> Iterator[Tried]:
    """Ask each question in its turn, of its own documents where it names some."""
    for question in questions:
        decision = engine.ask(question.question, settings, question.documents or None)
        calls = [view.attempt.call for view in decision.attempts]
        calls += [view.attempt.verification.call for view in decision.attempts if view.attempt.verification]
        sent = [call for call in (*calls, *(one.call for one in decision.judgements)) if call.sent]
        tokens, seconds = sum(call.tokens_in + call.tokens_out for call in sent), sum(call.ms for call in sent) / 1000
        yield Tried(question, decision, ended(decision), len(sent), tokens, seconds)


def ended(decision: Decision) -> Ended:
    """The end of the model's drafts, by the decision."""
    if not decision.attempts:
        return Ended.NOT_ASKED
    if decision.attempts[-1].outcome == "failed":
        return Ended.UNANSWERED
    if not decision.answered:
        return Ended.REFUSED
    if decision.metadata["drafter"] != "model":
        return Ended.EXTRACT
    return Ended.AT_ONCE if len(decision.attempts) == 1 else Ended.AFTER_FINDINGS


def spread(questions: Sequence[LabelledQuestion], count: int) -> list[LabelledQuestion]:
    """So many of the questions, evenly over the file; all of them where there are no more."""
    return [questions[at * len(questions) // count] for at in range(count)] if count < len(questions) else list(questions)


def summary(tried: Sequence[Tried]) -> list[str]:
    """The counts of a trial, in lines of text."""
    counts = Counter(one.ended for one in tried)
    asked = [one for one in tried if one.ended is not Ended.NOT_ASKED]
    lines = [f"{several(len(tried), 'question')}, {len(asked)} of them asked the model for a draft."]
    lines += [f"{counts[one]:5}  {one}" for one in Ended]
    drafts = Counter(view.outcome for one in tried for view in one.decision.attempts)
    lines.append(f"Drafts: {drafts.total()}" + "".join(f", {count} {outcome}" for outcome, count in drafts.most_common()) + ".")
    findings = Counter(check.reason for one in tried for view in one.decision.attempts for check in view.checks if check.blocks)
    if findings:
        lines.append("Rejected by: " + ", ".join(f"{reason} {count}" for reason, count in findings.most_common()) + ".")
    calls, tokens, seconds = (sum(getattr(one, name) for one in tried) for name in ("calls", "tokens", "seconds"))
    lines.append(f"Calls: {calls}, {tokens} tokens, {seconds:.0f} seconds" + (f", {seconds / calls:.1f} a call." if calls else "."))
    return lines


def to_read(number: int, tried: Tried) -> list[str]:
    """A question with each sentence that was shown and the words that it rests on, in lines of text; all of it untrusted."""
    question, decision = tried.question, tried.decision
    lines = [f"{number}. {question.question}", f"   {tried.ended}"]
    expected = "; ".join(question.answers) if question.answerable else "the documents do not answer it"
    lines += [f"   labelled: {expected}"] if expected else []
    if not decision.answered:
        return [*lines, f"   no answer: {decision.reason}"]
    cited = {citation.chunk_id: citation for citation in decision.citations}
    if not decision.claims:
        return [*lines, f"   > {decision.answer}"]
    for claim in decision.claims:
        lines.append(f"   > {claim.text}")
        lines += [
            f"     {cited[one.passage].document if one.passage in cited else one.document}, page {one.spans[0].page}: {one.quote!r}"
            for one in claim.evidence
        ]
    return lines
