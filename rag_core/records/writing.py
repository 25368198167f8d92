"""From measurements to their record."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from rag_core.domain.measurements import Measurements
from rag_core.records.drafts import conflict_row, draft_row, hit_row
from rag_core.records.llm_traces import generation_row, retrieved
from rag_core.records.texts import OwnWords

SCHEMA_VERSION = 1

_BY_DOCUMENT = ("names", "titles", "dates", "authority")


@dataclass(frozen=True, slots=True)
class Written:
    """A record, and beside it what a language model wrote in words of its own, by hash: such texts are kept apart, and shorter.

    Args:
        record: JSON values.
        own: words of the model that was asked, its verdicts and its drafts, but for the next.
        rejected: words of its rejected drafts.
        documents: ids of the documents that any of these words may come from, sorted.
    """

    record: dict[str, Any]
    own: OwnWords
    rejected: OwnWords
    documents: tuple[str, ...]


def to_record(case: Measurements) -> dict[str, Any]:
    """The record of a case as JSON values; about 8 KB for a question with ten passages, and a third of that compressed.

    With three rounds of retrieval and four drafts of a model it is about 46 KB, and a fifth of that compressed.
    """
    return write(case).record


def write(case: Measurements, rejected: Collection[int] = ()) -> Written:
    """The record with the words of a model beside it; `rejected` are the indexes of the attempts that were."""
    passages, named = retrieved(case), _documents(case)
    own: OwnWords = {}
    of_rejected: OwnWords = {}
    extract = draft_row(case.draft, passages, {})  # no model's
    record = _record(case, named) | {"draft": extract, "generation": generation_row(case, rejected, own, of_rejected)}
    return Written(record, own, of_rejected, tuple(sorted(named)))


def _record(case: Measurements, named: Collection[str]) -> dict[str, Any]:
    """All but the drafts."""
    facts = case.library
    return {
        "schema_version": SCHEMA_VERSION,
        "question": case.question,
        "settings": case.settings.model_dump(mode="json"),
        "understanding": asdict(case.understanding),
        "library": {
            "documents": facts.documents,
            "passages": facts.passages,
            "pages": facts.pages,
            "unreadable": {id: _runs(pages) for id, pages in facts.unreadable.items()},
            "languages": facts.languages,
            **{name: {id: value for id, value in getattr(facts, name).items() if id in named} for name in _BY_DOCUMENT},
            "generation": facts.generation,
            "model": facts.model,
            "unknown_languages": facts.unknown_languages,
        },
        "hits": [hit_row(hit) for hit in case.hits],
        "signals": dict(case.signals),
        "answerability": case.answerability,
        "relevance": case.relevance,
        "keywords": asdict(case.keywords),
        "missing_entities": case.missing_entities,
        "conflicts": [conflict_row(conflict, case.draft.claims) for conflict in case.conflicts],
        "answer": case.answer,
        "failure": case.failure,
        "timings": dict(case.timings),
        "metadata": dict(case.metadata),
    }


def _documents(case: Measurements) -> set[str]:
    """The documents that a decision on this case can name; a model cites what was retrieved for it, or nothing."""
    cited = {evidence.document for claim in case.draft.claims for evidence in claim.evidence}
    return {passage.document for passage in retrieved(case).values()} | cited | {id for one in case.conflicts for id in one.documents}


def _runs(numbers: Sequence[int]) -> list[list[int]]:
    """Ascending runs as [first, last]: a scan of 300 pages is one."""
    grouped = groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])
    return [[run[0][1], run[-1][1]] for _, group in grouped if (run := list(group))]
