"""The faults of a language model's draft in its language, and those that a model finds in its claims."""

from __future__ import annotations

from rag_core.domain.llm_trace import Attempt, YesNo
from rag_core.domain.measurements import Measurements


def wrong_languages(view: Measurements, attempt: Attempt) -> tuple[str, ...]:
    """The languages it should be in and surely is not: the question's, and unless it may translate those of its evidence."""
    wanted = [view.understanding.language]
    if not view.settings.translate:
        cited = {one.passage for claim in view.draft.claims for one in claim.evidence}
        wanted += [hit.passage.language for hit in view.hits if hit.passage.id in cited]
    return tuple(one for one in dict.fromkeys(wanted) if attempt.language and one not in (attempt.language, "und"))


def unverified(view: Measurements, attempt: Attempt) -> dict[int, YesNo] | None:
    """The cited claims, by index, that the model does not find in their passages, with its answers; None where it said nothing of them."""
    answers = attempt.verification.answers if attempt.verification else ()
    if len(answers) != len(view.draft.claims):
        return None
    told = enumerate(zip(view.draft.claims, answers, strict=True))
    return {n: answer for n, (claim, answer) in told if claim.evidence and answer != "yes"}
