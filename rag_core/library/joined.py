"""Several collections as one corpus, so that a question is ranked over all of them together, and over no other.

The indexes are made anew in memory, since the weight of a word depends on all that is searched. A document that is in
several of the collections counts once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from rag_core.domain.documents import Document, WordBox
from rag_core.domain.passages import Passage
from rag_core.domain.ports import VectorIndex, VectorStore
from rag_core.library.indexing.embedding import terms_of
from rag_core.library.stored.snapshot import Snapshot
from rag_core.retrieval.bm25 import Bm25Index


@dataclass(frozen=True, eq=False)
class JoinedCorpus:
    """One version of each of several collections, in the order in which they were named."""

    parts: tuple[Snapshot, ...]
    documents: tuple[Document, ...]
    passages: tuple[Passage, ...]
    vectors: VectorIndex
    lexical: Bm25Index
    _of: Mapping[str, Snapshot] = field(repr=False)  # the collection that each document is read from, by its id

    @property
    def given(self) -> None:
        """None: a library holds all passages of its documents, and not only those that a caller gave."""

    @property
    def reading(self) -> Mapping[str, int]:
        """Nothing: only published versions are joined."""
        return {}

    @property
    def version(self) -> int:
        """The versions of all its collections together: it counts up with a change of any."""
        return sum(part.version for part in self.parts)

    @property
    def values(self) -> dict[str, Mapping[str, str]]:
        """The free metadata of the documents that have any, by id."""
        return {document.id: document.metadata.values for document in self.documents if document.metadata.values}

    def rows(self, documents: Collection[str] | None, filters: Mapping[str, str]) -> list[int] | None:
        """See `Snapshot.rows`; raises InvalidInput for a document that is in none of the collections."""
        if documents is None and not filters:
            return None
        for name in documents or ():
            if not any(part.find(name) for part in self.parts):
                self.parts[0].rows([name])  # it raises, and names the document
        wanted = set[str]()
        for part in self.parts:
            known = None if documents is None else [name for name in documents if part.find(name)]
            found = {part.passages[row].document for row in part.rows(known, filters) or ()}
            wanted |= {id for id in found if self._of[id] is part}
        return [row for row, passage in enumerate(self.passages) if passage.document in wanted]

    def page_text(self, document: str, page: int) -> str:
        return self._of.get(document, self.parts[0]).page_text(document, page)

    def words(self, document: str, page: int) -> Sequence[WordBox]:
        return self._of.get(document, self.parts[0]).words(document, page)


def joined(parts: Sequence[Snapshot], vectors: VectorStore) -> JoinedCorpus:
    """Collections of one embedding model, one at least, as one corpus; a document is read from the first that has it.

    The weights of words come from all of them.
    """
    of: dict[str, Snapshot] = {}
    for part in parts:
        for document in part.documents:
            of.setdefault(document.id, part)
    rows = [[row for row, passage in enumerate(part.passages) if of[passage.document] is part] for part in parts]
    documents = tuple(document for part in parts for document in part.documents if of[document.id] is part)
    passages = tuple(part.passages[row] for part, mine in zip(parts, rows, strict=True) for row in mine)
    titles = {document.id: document.title for document in documents}
    terms = [row for one in passages for row in terms_of("the collections", titles[one.document], [one])]
    matrix = (
        np.vstack([part.vectors.vectors(mine) for part, mine in zip(parts, rows, strict=True) if mine])
        if passages
        else None
    )
    index = vectors.build(parts[0].vectors.vectors([]) if matrix is None else matrix)
    return JoinedCorpus(tuple(parts), documents, passages, index, Bm25Index.of(terms), of)
