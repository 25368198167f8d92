"""The LLM trace of a question as rows of a record, and back: keys, states and numbers.

Whatever the model wrote goes into `own`, and its hash into the row.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import Any

from rag_core.domain.llm_trace import Attempt, Call, LlmTrace, Step, Sufficiency, Verification
from rag_core.domain.measurements import Measurements
from rag_core.domain.passages import Hit, Passage
from rag_core.domain.status import Reason
from rag_core.records.drafts import Row, conflict_of, conflict_row, draft_of, draft_row, hit_of, hit_row
from rag_core.records.texts import OwnWords, Texts, hash_own


def retrieved(case: Measurements) -> dict[str, Passage]:
    """The passages of all rounds by id."""
    later = case.generation.expanded if case.generation else ()
    return {hit.passage.id: hit.passage for hits in (case.hits, *later) for hit in hits}


def generation_row(case: Measurements, rejected: Collection[int], own: OwnWords, of_rejected: OwnWords) -> dict[str, Any] | None:
    """The row of an LLM trace; None where no model was asked. The words of attempts with an index in `rejected` go into `of_rejected`."""
    asked = case.generation
    if asked is None:
        return None
    passages = retrieved(case)
    return {
        "context_words": asked.context_words,
        "verdicts": [_verdict_row(verdict, passages, own) for verdict in asked.verdicts],
        "expanded": _rounds(case.hits, asked.expanded),
        "attempts": [
            _attempt_row(attempt, passages, of_rejected if number in rejected else own) for number, attempt in enumerate(asked.attempts)
        ],
    }


def generation_of(row: Row | None, hits: tuple[Hit, ...], texts: Texts) -> LlmTrace | None:
    """The same again; `hits` are those of the first round."""
    if row is None:
        return None
    passages = {hit.passage.id: hit.passage for hit in hits}
    expanded = []
    for one in row["expanded"]:
        expanded.append(tuple(hit_of(hit, texts, passages) for hit in one))
        passages |= {hit.passage.id: hit.passage for hit in expanded[-1]}
    return LlmTrace(
        row["context_words"],
        tuple(_verdict_of(one, passages, texts) for one in row["verdicts"]),
        tuple(expanded),
        tuple(_attempt_of(one, passages, texts) for one in row["attempts"]),
    )


def _rounds(first: tuple[Hit, ...], later: tuple[tuple[Hit, ...], ...]) -> list[list[dict[str, Any]]]:
    """The later rounds; a passage is described where it was found first."""
    known = {hit.passage.id for hit in first}
    rows = []
    for hits in later:
        rows.append([hit_row(hit, known) for hit in hits])
        known |= {hit.passage.id for hit in hits}
    return rows


def _verdict_row(verdict: Sufficiency, passages: Mapping[str, Passage], own: OwnWords) -> dict[str, Any]:
    sides = verdict.sides
    return {
        "call": asdict(verdict.call),
        "passages": verdict.passages,
        "can_answer": verdict.can_answer,
        "confidence": verdict.confidence,
        "missing": [hash_own(text, own) for text in verdict.missing],
        "reasoning": hash_own(verdict.reasoning, own),
        "contradicts": verdict.contradicts,
        "sides": draft_row(sides, passages, own) if sides else None,
        "conflict": conflict_row(verdict.conflict, sides.claims) if sides and verdict.conflict else None,
    }


def _verdict_of(row: Row, passages: Mapping[str, Passage], texts: Texts) -> Sufficiency:
    sides = draft_of(row["sides"], passages, texts) if row["sides"] else None
    return Sufficiency(
        call=_call_of(row["call"]),
        passages=row["passages"],
        can_answer=row["can_answer"],
        confidence=row["confidence"],
        missing=tuple(texts.own(one) for one in row["missing"]),
        reasoning=texts.own(row["reasoning"]),
        contradicts=row["contradicts"],
        sides=sides,
        conflict=conflict_of(row["conflict"], sides.claims) if sides and row["conflict"] else None,
    )


def _attempt_row(attempt: Attempt, passages: Mapping[str, Passage], own: OwnWords) -> dict[str, Any]:
    verified = attempt.verification
    return {
        "asked": attempt.asked,
        "call": asdict(attempt.call),
        "draft": draft_row(attempt.draft, passages, own),
        "problem": attempt.problem,
        "refusal": hash_own(attempt.refusal, own),
        "language": attempt.language,
        "sentences": attempt.sentences,
        "tokens": attempt.tokens,
        "added": attempt.added,
        "verification": {"call": asdict(verified.call), "verdicts": verified.verdicts} if verified else None,
    }


def _attempt_of(row: Row, passages: Mapping[str, Passage], texts: Texts) -> Attempt:
    verified = row["verification"]
    return Attempt(
        asked=tuple(row["asked"]),
        call=_call_of(row["call"]),
        draft=draft_of(row["draft"], passages, texts),
        problem=Reason(row["problem"]),
        refusal=texts.own(row["refusal"]),
        language=row["language"],
        sentences=row["sentences"],
        tokens=row["tokens"],
        added=tuple(row["added"]),
        verification=Verification(_call_of(verified["call"]), tuple(verified["verdicts"])) if verified else None,
    )


def _call_of(row: Row) -> Call:
    return Call(**{**row, "step": Step(row["step"]), "tried": tuple(row["tried"])})
