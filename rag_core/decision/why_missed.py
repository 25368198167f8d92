"""Says where the page that holds the answer ranked: every step that could have lost it is named.

All searched passages get a dense and a lexical rank, not only the candidates; fusion and cut are those of the question
itself, by the same code. Nothing is judged anew.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rag_core.compression.scoring import PASSAGES
from rag_core.decision.decide import decide
from rag_core.decision.find import find, read_query
from rag_core.decision.measure import measure
from rag_core.decision.tools import Tools
from rag_core.domain.claims import Claim
from rag_core.domain.decision import Decision
from rag_core.domain.documents import Document
from rag_core.domain.measurements import Measurements
from rag_core.domain.passages import Passage
from rag_core.domain.ports import Corpus
from rag_core.domain.status import Reason
from rag_core.errors import InvalidInput
from rag_core.settings import Settings

LAST = sys.maxsize  # behind all ranks: of a passage that shares no word with the question and has no vector yet


class LostAt(StrEnum):
    """The step at which a page was lost, or that it was not."""

    QUOTED = "quoted"  # the answer quotes it
    REFUSED = "refused"  # drafted from it, and a gate or grounding check refused
    DROPPED = "dropped"  # drafted from it, and the sentence was dropped for the distance of its passage
    NOT_CHOSEN = "not_chosen"  # its sentences were read, and others were chosen
    NOT_READ = "not_read"  # retrieved, but behind the passages whose sentences are read
    CUT = "cut"  # a candidate, but behind the cut at top_k
    NOT_CANDIDATE = "not_candidate"  # too far down in both the dense and the lexical ranking
    NOT_SEARCHED = "not_searched"  # its document was not among those searched
    NOT_INDEXED = "not_indexed"  # nothing on it was indexed
    UNREADABLE = "unreadable"  # it has no text that could be read
    NOT_ASKED = "not_asked"  # answered without a search, like a greeting
    NOT_MEASURED = "not_measured"  # a failure of ours


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """A passage of the page, and how far it came. Ranks are 1-based, over all searched passages."""

    passage: Passage  # as indexed
    dense_rank: int  # by cosine
    lexical_rank: int  # by BM25; 0 when it shares no word with the question
    fused_rank: int  # in the final order of all candidates; 0 when it is none
    within_top_k: bool  # whether it was retrieved


@dataclass(frozen=True, slots=True)
class Missed:
    """The fate of a page."""

    document: str  # id
    page: int  # 1-based
    lost_at: LostAt  # the step at which it was lost
    passages: tuple[RankedPassage, ...] = ()  # those with text on the page, the one that came furthest first
    searched: int = 0  # how many passages were ranked
    candidates: int = 0  # how many are taken from each ranking, `top_k` x `over_retrieve`
    top_k: int = 0  # how many passages are retrieved
    reason: Reason = Reason.NONE  # with which the question ended; `none` for an answer
    drafter: str = "none"  # who drafted: extract, raw or none
    quoted: tuple[str, int] | None = None  # (document id, page) of the drafted sentence that bears most on the question


def why_missed(
    question: str,
    settings: Settings,
    corpus: Corpus,
    tools: Tools,
    document_id: str,
    page: int,
    *,
    documents: Collection[str] | None = None,
    filters: Mapping[str, str] | None = None,
) -> Missed:
    """The fate of the page, from 1, that holds the answer, for this question under these settings.

    `documents` are ids or names that were searched, None for all; `filters` is metadata that a document had to have.

    Raises:
        InvalidInput: no such document or page, or a question that `measure` refuses.
    """
    document = _document(corpus, document_id, page)
    there = [
        row
        for row, passage in enumerate(corpus.passages)
        if passage.document == document_id and any(span.page == page for span in passage.spans)
    ]
    measurements = measure(question, settings, corpus, tools, documents=documents, filters=filters)
    decision = decide(measurements)
    rows = corpus.rows(documents, filters or {})
    early = _never_ranked(document, page, there, rows, measurements)
    if early is not None:
        return Missed(document_id, page, early, reason=decision.reason)
    ranked = _ranked(measurements, corpus, tools, rows, there)
    return Missed(
        document_id,
        page,
        _lost_at(document_id, page, ranked, measurements, decision),
        ranked,
        searched=measurements.library.passages,
        candidates=settings.top_k * settings.over_retrieve,
        top_k=settings.top_k,
        reason=decision.reason,
        drafter=measurements.draft.drafter,
        quoted=_best_place(measurements.draft.claims),
    )


def _document(corpus: Corpus, document_id: str, page: int) -> Document:
    document = next((document for document in corpus.documents if document.id == document_id), None)
    if document is None:
        raise InvalidInput(
            f"There is no document {document_id!r} in the library.",
            remedy="List the documents; it may have been deleted.",
        )
    if not 1 <= page <= document.page_count:
        raise InvalidInput(
            f"The document has pages 1 to {document.page_count}, got {page}.", remedy="Choose one of its pages."
        )
    return document


def _never_ranked(
    document: Document, page: int, there: Sequence[int], rows: Sequence[int] | None, measurements: Measurements
) -> LostAt | None:
    if not there:
        return LostAt.UNREADABLE if page in document.unreadable_pages else LostAt.NOT_INDEXED
    if rows is not None and not set(there) & set(rows):
        return LostAt.NOT_SEARCHED
    if measurements.failure:
        return LostAt.NOT_MEASURED
    return LostAt.NOT_ASKED if measurements.answer else None


def _ranked(
    measurements: Measurements, corpus: Corpus, tools: Tools, rows: list[int] | None, there: Sequence[int]
) -> tuple[RankedPassage, ...]:
    query, every = read_query(measurements, tools.embedder), max(1, measurements.library.passages)
    ranking = find(measurements, query, corpus, tools, rows)
    meaning = _places([row for row, _ in corpus.vectors.search(query.vector, every, rows)])
    by_words = _places([row for row, _ in corpus.lexical.search(query.terms, every, rows)])
    fused = _places(ranking.candidates)
    found = [
        RankedPassage(
            corpus.passages[row],
            meaning[row],
            by_words.get(row, 0),
            fused.get(row, 0),
            row in ranking.rows,
        )
        for row in there
    ]
    return tuple(sorted(found, key=_furthest))


def _places(rows: Sequence[int]) -> dict[int, int]:
    return {row: place for place, row in enumerate(rows, 1)}


def _furthest(ranked: RankedPassage) -> tuple[bool, int]:
    """Candidates by their final rank, then the others by the better of their two ranks."""
    candidate = ranked.fused_rank > 0
    better = min(filter(None, (ranked.dense_rank, ranked.lexical_rank)), default=LAST)
    return not candidate, ranked.fused_rank if candidate else better


def _lost_at(
    document: str, page: int, ranked: Sequence[RankedPassage], measurements: Measurements, decision: Decision
) -> LostAt:
    best = ranked[0]
    if not best.within_top_k:
        return LostAt.CUT if best.fused_rank else LostAt.NOT_CANDIDATE
    if _quotes(decision.claims, document, page):
        return LostAt.QUOTED
    if _quotes(measurements.draft.claims, document, page):
        return LostAt.DROPPED if decision.answered or decision.reason is Reason.ALL_CLAIMS_CUT else LostAt.REFUSED
    read = measurements.draft.drafter == "raw" or best.fused_rank <= PASSAGES
    return LostAt.NOT_CHOSEN if read else LostAt.NOT_READ


def _quotes(claims: Sequence[Claim], document: str, page: int) -> bool:
    """Whether a claim's own words stand on the page; a table's header that its row brings along does not count."""
    return any(
        piece.document == document and piece.spans[0].page == page for claim in claims for piece in claim.evidence
    )


def _best_place(claims: Sequence[Claim]) -> tuple[str, int] | None:
    cited = [claim for claim in claims if claim.evidence]
    if not cited:  # pragma: no cover - a page is ranked where something was retrieved, and the extract takes a sentence of any passage  # noqa: E501
        return None
    first = max(cited, key=lambda claim: claim.relevance).evidence[0]
    return first.document, first.spans[0].page
