"""Lets the files of uploads be asked that wait for their turn, for as long as a call runs; and takes over what was made of its own."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence

from rag_core.domain.ports import Cancel
from rag_core.errors import Cancelled, IngestError
from rag_core.library.indexing.announced import Announced
from rag_core.library.indexing.behind import Behind, Offer, Row, Upload
from rag_core.library.indexing.indexer import Indexer, Prepared
from rag_core.library.stored.inbox import Accepted
from rag_core.library.stored.manifest import Entry

_log = logging.getLogger(__name__)


class Offering:
    """The uploads that wait while one call runs.

    Args:
        behind: those of the collection.
        announced: the documents of the call that are asked early, and now those of the uploads, too. Their turn may come after others'.
        published: the documents of the library, by id: no other form of one of these is offered.
        listed: the digests on the library's list now: what is not on it was deleted, between two calls or by another process.
    """

    def __init__(self, behind: Behind, announced: Announced, published: Mapping[str, Entry], listed: Callable[[], Collection[str]]) -> None:
        self.behind, self._announced, self._published, self._listed = behind, announced, published, listed

    def take(self, rows: Sequence[Accepted], ready: Mapping[str, Offer], indexer: Indexer) -> dict[str, Prepared]:
        """Those of these sources, whose turn has come, that were made before it and are as they were, by id. They can be asked at once."""
        own = [ready[row.id] for row in rows if row.id in ready and self._is_usable(ready[row.id], row, indexer)]
        if own:
            self._announced.announce([one.document for one in own])
        return {one.prepared.row.id: one.prepared for one in own}

    def renew(self, but: Collection[str]) -> dict[str, Upload]:
        """Let what an earlier call made for uploads that still wait be asked again, `but` these; their ids, each with its upload."""
        found = {
            offer.prepared.row.id: (upload, offer)
            for upload, offer in self.behind.made()
            if offer.prepared.row.id not in but and self._is_usable(offer, offer.prepared.row, upload.indexer)
        }
        if found:
            self._announced.announce([offer.document for _, offer in found.values()])
        return {id: upload for id, (upload, _) in found.items()}

    def make(self, upload: Upload, row: Row, stopped: Cancel, was_read: Callable[[], None]) -> Offer | None:
        """Read and cut a file of an upload, and let it be asked. None where that cannot be, or is done in a moment in its turn.

        What is wrong with a file is told to its job now, and is met again in its turn.
        """
        source, password = row
        indexer, announced = upload.indexer, self._announced
        if source.id in self._published or indexer.done(source, indexer.complete(source)) is not None:
            return None
        try:
            if source.digest not in self._listed():
                return None
            made = indexer.prepare(
                source, password, lambda draft: announced.announce([draft]),
                lambda: stopped() or source.id in announced.unwanted(), was_read,
            )  # fmt: skip
            offer = Offer(made, indexer.waiting(made))
            if stopped():
                raise Cancelled("Stopped behind another job.", remedy="It goes on in its turn.")
            announced.announce([offer.document])
        except Cancelled:  # what was announced is withdrawn by whoever stopped it, or at the end of the call
            upload.tell(source, "waiting")
            return None
        except Exception as error:
            announced.withdraw(source.id)
            upload.tell(source, "problem" if isinstance(error, IngestError) else "waiting")
            if not isinstance(error, IngestError):
                _log.info("a file could not be read before its turn", exc_info=error)
            return None
        return offer

    def _is_usable(self, offer: Offer, row: Accepted, indexer: Indexer) -> bool:
        return row.id not in self._published and indexer.is_usable(offer.prepared, row, offer.document.entry.files)
