"""The headings of documents as they are printed, with their places: what somebody who asks for a summary is shown
instead. Of a document without headings the first sentence of each part is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rag_core.compression.citing import cite
from rag_core.domain.claims import Citation, Claim, Evidence
from rag_core.domain.passages import Hit, Passage, Role
from rag_core.domain.ports import Corpus
from rag_core.grounding.units import evidence_of, units
from rag_core.ingest.normalise import normalise

# read, and told; chosen: a book of 500 pages, and a list that can be looked through
MAX_PASSAGES, MAX_HEADINGS = (
    2000,
    60,
)


def outline(corpus: Corpus, rows: Sequence[int] | None) -> dict[str, Citation]:
    """The headings of the searched documents, each once, in reading order, by `evidence_key`; none of too large a
    collection. A document without any is told by how its passages begin.
    """
    searched = range(len(corpus.passages)) if rows is None else rows
    if len(searched) > MAX_PASSAGES:
        return {}
    passages = [corpus.passages[row] for row in searched]
    known = {passage.id: passage for passage in passages}
    first: dict[tuple[str, str], Evidence] = {}
    headings = [(passage, tuple(_headings(passage, corpus))) for passage in passages]
    headed = {passage.document for passage, own in headings if own}
    for passage, own in headings:
        for evidence in own if passage.document in headed else _beginning(passage, corpus):
            first.setdefault((passage.document, normalise(evidence.quote).text), evidence)
    order = {document.id: number for number, document in enumerate(corpus.documents)}
    found = sorted(first.values(), key=lambda one: (order[one.document], one.spans[0].page, one.spans[0].start))[
        :MAX_HEADINGS
    ]
    hits = [Hit(known[one.passage], 0.0, 0.0, 0.0) for one in found]
    return cite([Claim(one.quote, (one,)) for one in found], hits, corpus)


def _headings(passage: Passage, corpus: Corpus) -> Iterator[Evidence]:
    for piece in passage.pieces:
        if piece.role is Role.HEADING:
            found = evidence_of(passage, piece.spans[0], corpus.page_text)
            if any(map(str.isalpha, found.quote)):
                yield found


def _beginning(passage: Passage, corpus: Corpus) -> Sequence[Evidence]:
    return next((unit.evidence(corpus.page_text) for unit in units(passage, corpus.page_text)), ())
