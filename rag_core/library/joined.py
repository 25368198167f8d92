"""Several collections as one corpus, so that a question is ranked over all of them together, and over no other.

The indexes are made anew in memory, since the weight of a word depends on all that is searched. A document that is in
several of the collections counts once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from rag_core.domain.ports import VectorStore
from rag_core.library.indexing.embedding import terms_of
from rag_core.library.stored.entry import Entry
from rag_core.library.stored.packed import Passages
from rag_core.library.stored.snapshot import Snapshot
from rag_core.retrieval.bm25 import Bm25Index


@dataclass(frozen=True, eq=False)
class Joined(Snapshot):
    """One version of each of several collections; `version`, the sum of theirs, counts up with a change of any."""

    of: Mapping[str, Snapshot] = field(default_factory=dict, repr=False)  # where each document is read from, by its id

    def _stored(self, document_id: str, number: int, columns: str) -> tuple[bytes, ...]:
        return self.of[self._entry(document_id).document.id]._stored(document_id, number, columns)


def joined(parts: Sequence[Snapshot], vectors: VectorStore) -> Joined:
    """Collections of one embedding model, one at least, as one corpus; a document is read from the first that has it.

    The weights of words come from all of them.
    """
    of: dict[str, Snapshot] = {}
    entries: dict[str, Entry] = {}
    for part in parts:
        for entry in part.entries:
            of.setdefault(entry.document.id, part)
            first = entries.setdefault(entry.document.id, entry)
            names = tuple(dict.fromkeys((*entry.names, *first.names)))  # the first one's name stays the current one
            entries[entry.document.id] = replace(first, source=replace(first.source, names=names))
    rows = [[row for id in entries if of[id] is part for row in part.rows_of(id)] for part in parts]
    index = vectors.build(np.vstack([part.vectors.vectors(mine) for part, mine in zip(parts, rows, strict=True)]))
    groups = {id: part.passages_of(id) for id, part in of.items()}
    terms = [row for id, group in groups.items() for row in terms_of(id, entries[id].document.title, group)]
    version, passages = sum(part.version for part in parts), Passages(tuple(groups.values()))
    return Joined(version, passages, index, Bm25Index.of(terms), tuple(entries.values()), parts[0].file, of=of)
