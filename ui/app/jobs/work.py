"""Starts the jobs of a session: each remembers the library that it was started for, whatever the session chooses
meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_core.domain.documents import Document
from rag_core.domain.ports import Cancel, Progress
from rag_core.errors import IngestError
from rag_core.library.library import AddReport, Library
from rag_core.library.stored.entry import Accepted
from rag_core.library.stored.sources import Source
from rag_core.settings import Settings
from rag_core.wiring import rebuild_library
from rag_core.work import loading
from rag_core.work.handing_in import HandingIn
from rag_core.work.jobs import File, Job, Place
from ui.app import state

# kinds of jobs; what the last one came to takes the place of others
ABOUT_DOCUMENTS = ("adding", "resuming", "rereading", "rebuilding")
On = Callable[..., AddReport]  # takes a library and settings, with `progress` and `cancelled`


@dataclass(frozen=True, slots=True)
class Here:
    """The library of a session, and what it is opened with."""

    folder: Path
    collection: str
    base: Settings

    @property
    def place(self) -> Place:
        """As the runner knows it."""
        return str(self.folder), self.collection

    def library(self) -> Library:
        """The library as it is opened now: between the start of a job and its turn it may have been built anew."""
        return loading.engine(self.folder, self.collection, self.base).library


def here() -> Here:
    """The library that this session has chosen."""
    return Here(state.library_folder(), state.session().collection, state.base_settings())


def start_add(handed_in: Sequence[Source | IngestError]) -> None:
    """Start a job that adds these sources; errors among them are told with what comes of the others."""
    sources = [source for source in handed_in if isinstance(source, Source)]
    names = {source.digest: source.name for source in sources}  # equal bytes are one document
    listed = [File(name, f"sha256:{digest}") for digest, name in names.items()]
    handed = HandingIn(here().folder, here().collection, state.session().settings(), sources)

    def add(library: Library, settings: Settings, **how: Any) -> AddReport:
        return library.add(handed_in, settings, listed=handed.listed(), **how)

    _start("adding", add, listed, sources, handed)


def start_resume(rows: Sequence[Accepted], passwords: Mapping[str, str]) -> None:
    """Start a job that finishes these interrupted files; passwords are by document id."""
    ids = {row.id for row in rows}

    def work(library: Library, settings: Settings, **how: Any) -> AddReport:
        return library.resume(settings, only=ids, passwords=passwords, **how)

    state.session().forget_results(*ABOUT_DOCUMENTS)
    at, settings = here(), state.session().settings()
    handed = HandingIn(at.folder, at.collection, settings, listed=[row.digest for row in rows])
    _start("resuming", work, [File(row.name, row.id) for row in rows], handing_in=handed)


def start_reread(documents: Sequence[Document], settings: Settings, passwords: Mapping[str, str]) -> None:
    """Start a job that reads these documents again under these settings; passwords are by document id."""
    ids = [document.id for document in documents]

    def work(library: Library, _: Settings, **how: Any) -> AddReport:
        return library.reread(ids, settings, passwords=passwords, **how)

    state.session().forget_results(*ABOUT_DOCUMENTS)
    _start("rereading", work, [File(document.name, document.id) for document in documents])


def start_rebuild(settings: Settings, listed: Sequence[File] = ()) -> Job:
    """Start a job that builds the whole library anew under these settings, with the model that they name."""
    at = here()

    def work(progress: Progress, stop: Cancel) -> AddReport:
        report = rebuild_library(at.folder, at.collection, settings, progress, stop, apart=True)
        if not report.cancelled:
            loading.forget(at.folder, at.collection)
        return report

    state.session().forget_results(*ABOUT_DOCUMENTS)
    job = state.runner().start("rebuilding", work, len(listed), kind="rebuilding", place=at.place, listed=listed)
    state.session().jobs.append(job)
    return job


def _start(
    kind: str, on: On, listed: Sequence[File], sources: Sequence[Source] = (), handing_in: HandingIn | None = None
) -> None:
    session, at = state.session(), here()
    settings = session.settings()
    job = state.runner().start(
        kind,
        lambda progress, stop: on(at.library(), settings, progress=progress, cancelled=stop),
        len(listed),
        sources,
        kind=kind,
        place=at.place,
        listed=listed,
        handing_in=handing_in,
    )
    session.jobs.append(job)
