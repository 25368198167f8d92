"""A library's folder: its collections with their records, logs and counts, each opened once a process."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path

from rag_core.adapters.act_log import ActLog
from rag_core.adapters.embedding.by_name import precision_here
from rag_core.adapters.index.choose import VECTOR_STORES, vector_store
from rag_core.adapters.index.choose import forget as forget_rows
from rag_core.adapters.records.store import FILE, RecordStore
from rag_core.adapters.workers.ray_workers import workers_of
from rag_core.decision.summary import Counts
from rag_core.domain.acts import Action, Note, actor, permit, require_entry
from rag_core.domain.ports import Embedder, VectorStore
from rag_core.errors import IngestError, LibraryError, QuotaExceeded, RagError, StoreMismatch
from rag_core.gating import scores as calibrate
from rag_core.library import dropping
from rag_core.library.erasing import Erased, Mentions
from rag_core.library.library import Library, Uses
from rag_core.library.loading import Loader
from rag_core.library.stored import titles
from rag_core.library.stored.bounds import admitted
from rag_core.library.stored.collection import Collection as File
from rag_core.library.stored.collection import Contents, Values
from rag_core.library.stored.entry import EXACT_STORE, Accepted
from rag_core.library.stored.named import collections, create_collection, is_name
from rag_core.library.stored.sources import Source
from rag_core.settings import Settings
from rag_core.settings.configuration import auditing, most_collections

_log = logging.getLogger(__name__)
_counts: dict[tuple[Path, str], Counts] = {}
_counting = threading.Lock()
_making = threading.Lock()


def open_library(folder: Path, collection: str, model: Embedder, new: str = EXACT_STORE) -> Library:
    """A library on local disk, in the vector store that it was built in; an empty one takes the store `new`.

    Raises:
        StoreMismatch: it was built in a store that this version does not know.
        InvalidSetting, MissingDependency: as `adapters.index.choose.vector_store`.
        LibraryError: it cannot be used; see `Library.open`.
    """
    built = contents_of(folder, collection)
    name = built.vector_store if built else new
    if name not in VECTOR_STORES and built:
        raise StoreMismatch(
            f"The library {collection!r} was built in the vector store {name!r}, which is not known here.",
            remedy="Use the version of Plumbline that built it, or rebuild the library; its documents are kept.",
        )
    clear_dropped(folder)
    return Library.open(folder, collection, **uses(folder, collection, model, vector_store(name)))


def uses(folder: Path, collection: str, model: Embedder, vectors: VectorStore) -> Uses:
    return {
        "embedder": model,
        "vectors": vectors,
        "on_delete": partial(_forget, folder, collection),
        "note": noting(folder, collection),
        "on_erase": partial(_erase, folder, collection),
        "forget_rows": forget_rows,
        "workers": workers_of,
    }


def _erase(folder: Path, collection: str, documents: Collection[str], version: int, mentions: Mentions) -> Erased:
    """Delete what speaks of documents that are being deleted everywhere."""
    return records(folder, collection).erase(documents, version, mentions)


def _forget(folder: Path, collection: str, documents: Collection[str], version: int) -> None:
    """Delete what a language model wrote from documents that are being deleted: it may hold their words."""
    records(folder, collection).forget_documents(documents, version)


def records(folder: Path, collection: str) -> RecordStore:
    """The records of a collection; one store in the process for each, opened when it is used."""
    require_entry(collection)
    return _records(folder, collection)


@lru_cache(maxsize=8)
def _records(folder: Path, collection: str) -> RecordStore:
    return RecordStore(File(folder, collection).root / FILE, noting(folder, collection))


def make_titled(folder: Path, title: str) -> str:
    """Make an empty collection with a title as a person writes it; its name, or that of one with this title."""
    title = titles.cleaned(title)
    known = collections(folder)
    same = (
        name
        for name in known
        if titles.title_of(folder, name).casefold() == title.casefold() and actor().may_enter(name)
    )
    if found := next(same, None):
        return found
    name = title if is_name(title) else titles.name_for(title, known)
    make_collection(folder, name, title)
    return name


def make_collection(folder: Path, name: str, title: str = "") -> None:
    """Make an empty collection, titled or not, which is noted first; raises InvalidInput, or QuotaExceeded."""
    with _making:  # two at once would both find room for one
        known = collections(folder)
        if is_name(name) and name not in known:
            if len(known) >= (most := most_collections(os.environ)):
                raise QuotaExceeded(
                    f"The library has {len(known):,} collections, and may have {most:,}.",
                    remedy="Use one that is there, or have whoever runs this raise RAG_QUOTA_COLLECTIONS.",
                )
            noting(folder, name)(Action.COLLECTION, ())
        create_collection(folder, name)
        if title and name not in known:
            titles.keep_title(folder, name, title)


def drop_collection(folder: Path, name: str, wait: float) -> bool:
    """Delete a collection, which is noted first; whether there was one.

    Whoever has it open in this process lets go of it first: see `rag_core.work.runner`.
    """
    root = File(folder, name).root
    note = noting(folder, name)
    permit(Action.DROP, name)
    if root.is_dir():
        _records(folder, name).close()
    with _counting:
        _counts.pop((folder, name), None)
    return dropping.drop(folder, name, forget_rows=forget_rows, note=lambda: note(Action.DROP, ()), wait=wait)


def clear_dropped(folder: Path) -> None:
    """Delete what a killed process left of collections that it was deleting, as far as that can be done now."""
    try:
        dropping.clear(folder, forget_rows)
    except RagError as error:
        _log.warning("a deleted collection is not quite gone: %s", error.kind)


def finish_deletions(folder: Path) -> None:
    """Finish deletions that were cut off, as far as that can be done now; opens no index but those in a database."""
    clear_dropped(folder)
    for name in collections(folder):
        try:
            file = File(folder, name)
            if (facts := file.facts()).deleting:
                loader = Loader(file, vector_store(facts.vector_store or EXACT_STORE), facts.embedder)
                file.finish_deletion(partial(loader.clear_databases, None, (), forget_rows))
        except RagError as error:
            _log.warning("a deletion could not be finished: %s", error.kind)


def noting(folder: Path, collection: str = "") -> Note:
    """The way into the audit log, if any, that all done to a library passes; raises NotAllowed."""

    def note(action: Action, objects: Sequence[str] = ()) -> None:
        permit(action, collection)
        if auditing(os.environ):
            act_log(folder).note(action, collection, objects)

    return note


def counts(folder: Path, collection: str) -> Counts:
    """The counts of a collection's questions since this process began."""
    with _counting:
        return _counts.setdefault((folder, collection), Counts())


@lru_cache(maxsize=8)
def act_log(folder: Path) -> ActLog:
    """The audit log of the library in `folder`; one in the process for each."""
    return ActLog(folder)


def as_built(folder: Path, collection: str, settings: Settings) -> Settings:
    """The settings with the library's model, precision and store, unless it is empty or cannot be read."""
    built = contents_of(folder, collection)
    if built is None:
        return settings
    if built.vector_store != settings.vector_store:
        settings = settings.changed(vector_store=built.vector_store)
    if built.embedder == f"{settings.embedding_model}@{precision_here(settings.embedding_precision)}":
        return settings
    model, _, precision = built.embedder.rpartition("@")
    return settings.changed(embedding_model=model, embedding_precision=precision)


def hand_in(folder: Path, collection: str, sources: Sequence[Source], values: Values) -> frozenset[str]:
    """The digests of the sources stored and listed now; none where that cannot be done. Opens no index."""
    file, note, refused = File(folder, collection), noting(folder, collection), list[tuple[str, IngestError]]()

    def noted(rows: Iterable[Accepted]) -> None:
        if ids := [row.id for row in rows]:
            note(Action.INDEX, ids)

    try:
        taken = file.accept(admitted(sources, refused), noted, taken_up=values)
        return frozenset(row.digest for row, _ in taken)
    except RagError as error:
        _log.warning("files could not be listed before their turn: %s", error.kind)
        return frozenset()


def cut_off(folder: Path, collection: str) -> list[tuple[Accepted, Values]]:
    """The sources that an end of the process cut off, but for those that need a password."""
    try:
        return [(row, values) for row, values in File(folder, collection).cut_off() if not row.needs_password]
    except LibraryError:  # opening it says why
        return []


def hold_back(folder: Path, collection: str, digests: Collection[str]) -> None:
    """Leave these sources to a person, who stopped their job."""
    with suppress(LibraryError):
        File(folder, collection).hold_back(digests)


def contents_of(folder: Path, collection: str) -> Contents | None:
    """The library in figures; opens no index. None for nothing, or where it cannot be read."""
    with suppress(LibraryError):
        return File(folder, collection).contents()
    return None


def calibration_files(folder: Path, collection: str) -> tuple[Path, Path]:
    """Where a library's calibration is looked for: in its own folder, then in the one that is shipped."""
    return folder / collection / "calibration.json", calibrate.FILE
