"""Finds what a rebuild can start from: the documents of the library's file, or, where that is damaged or missing, all
that can be read.

What no list names any more is a stored source. Nothing is deleted: a damaged file is put aside.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from rag_core.errors import IngestError, LibraryDamaged, LibraryError
from rag_core.library.disk.files import children
from rag_core.library.stored import stored_sources
from rag_core.library.stored.collection import READY, Collection, entry_of_row
from rag_core.library.stored.entry import Accepted
from rag_core.library.stored.stored_json import unpack

Problem = tuple[str, IngestError]
MAGIC_BYTES = 1024  # a PDF says what it is within so many
LOOK = "Look at its name and metadata, and describe it anew where they are wrong; delete it if it was deleted before."


def found_again(collection: Collection) -> tuple[list[Accepted], tuple[Problem, ...]]:
    """The sources of the documents, and what is lost; a damaged file gives way to a new one. Raises LibraryError."""
    path = collection.reader.path
    documents: dict[str, Accepted] = {}
    waiting: dict[str, Accepted] = {}
    if path.exists() or not children(collection.root / stored_sources.FOLDER):
        with suppress(LibraryDamaged):
            if _read(collection, documents, waiting):
                return list(documents.values()), ()
    problem = f"The list of documents ({path.name}) is damaged or missing."
    aside = collection.move_aside()
    if aside is not None:
        problem += f" It was put aside as {aside.name}."
    remedy = "Look through the documents: what was deleted or described last may not be known."
    problems = [(path.name, IngestError(problem, remedy=remedy))]
    documents |= waiting
    for file in sorted(children(collection.root / stored_sources.FOLDER)):
        if file.name not in documents and not file.name.endswith(stored_sources.DRAFT):
            documents[file.name] = row = _unnamed(file)
            problems.append(
                (row.name, IngestError("Its name and metadata are lost; only its stored file was there.", remedy=LOOK))
            )
    return list(documents.values()), tuple(problems)


def _read(collection: Collection, documents: dict[str, Accepted], waiting: dict[str, Accepted]) -> bool:
    """Read the lists, row by row as far as they can be; whether all of the file is sound."""
    with collection.reading() as db:
        whole: bool = db.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",)
        for row in db.execute(
            "SELECT id, key, entry, size, stamp FROM document WHERE state = ? ORDER BY place, id", (READY,)
        ):
            try:
                entry = entry_of_row(*row)
                documents[entry.source.digest] = replace(entry.source, metadata=entry.document.metadata)
            except LibraryError:
                whole = False
        for (source,) in db.execute("SELECT source FROM waiting ORDER BY id"):
            try:
                one = Accepted.from_json(unpack(source))
                waiting[one.digest] = one
            except (LibraryError, KeyError, TypeError):
                whole = False
    return whole


def _unnamed(path: Path) -> Accepted:
    """A stored file of which nothing but its digest is known; a text's own id, which would be a part of it, is not."""
    with suppress(OSError), path.open("rb") as file:
        if b"%PDF-" in file.read(MAGIC_BYTES):
            return Accepted(path.name, (f"{path.name[:12]}.pdf",), "pdf")
    return Accepted(path.name, (f"{path.name[:12]}.txt",), "text")
