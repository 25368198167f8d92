"""One collection in the hands of one caller, and the settings of one call.

Every method asks for the scope that it needs, and none leads out of the collection. A caller may move numbers, switches
and choices. Free text is not theirs: it names models to load from this machine, and servers to ask.
"""

from __future__ import annotations

import os
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

from rag_core.domain.documents import Box, Document, Metadata
from rag_core.domain.ports import Cancel, Progress
from rag_core.engine import Engine
from rag_core.errors import InvalidSetting, PasswordNeeded
from rag_core.ingest.reading.pdf import render_page
from rag_core.ingest.reading.pdf_facts import form_of
from rag_core.library.erasing import Erased
from rag_core.library.library import AddReport
from rag_core.library.stored.sources import Source
from rag_core.records.stored import SavedPreset
from rag_core.service.jobs import Jobs
from rag_core.service.principal import NotFound, Principal, Scope, missing
from rag_core.settings import DEFAULT_PRESET, Cost, Settings
from rag_core.settings.configuration import load_settings, locked
from rag_core.settings.endpoints import model_environment
from rag_core.settings.knobs import AS_BUILT
from rag_core.settings.profiles import Profile, of_cost, require_domain
from rag_core.wiring import RecordStore, records
from rag_core.work import loading
from rag_core.work.handing_in import HandingIn
from rag_core.work.jobs import File, Job


def chosen(base: Settings, preset: str | None, values: Mapping[str, Any], costs: frozenset[Cost]) -> Settings:
    """The settings of a call: `base`, or another preset under the same environment, with `values` over it.

    Raises:
        InvalidSetting: an unknown preset or name, a value out of its range, one whose cost is not among `costs` or that
            is not the caller's to change, or a locked one.
    """
    start = load_settings(preset, environment=model_environment(os.environ)) if preset else base
    start = start.changed(**{name: getattr(base, name) for name in AS_BUILT})
    closed = {
        knob.name for knob in Settings.knobs() if knob.name in AS_BUILT or knob.cost not in costs or not knob.is_closed
    }
    for name in values:
        if name == "preset" or name in closed:
            raise InvalidSetting(
                f"The setting {name!r} cannot be changed by a call.", remedy="Whoever runs the service sets it."
            )
    return require_unlocked(base, start.changed(**values))


def require_unlocked(base: Settings, wanted: Settings) -> Settings:
    """The wanted settings; raises InvalidSetting where one that RAG_LOCKED names differs from the base."""
    for name in sorted(locked(os.environ)):
        if getattr(wanted, name) != getattr(base, name):
            remedy = (
                f"Leave it at {getattr(base, name)!s}, and take no preset that changes it. The service sets RAG_LOCKED."
            )
            raise InvalidSetting(f"The setting {name!r} is locked.", remedy=remedy)
    return wanted


SAVED = "saved:"  # before the name of a saved preset; no built-in one is called so
INDEXED = frozenset({Cost.INGEST})  # settings of documents that are added
DPI, MAX_PIXELS = 110.0, 4_000_000  # a page's picture: sharp on half a screen, 200 kB


class Collection:
    """A collection that `Service.enter` gave to a caller. Safe to share between threads.

    Every method raises Forbidden where the caller lacks the scope, NotFound where there is no such thing for them, and
    any RagError of the library and its models.
    """

    def __init__(self, folder: Path, base: Settings, jobs: Jobs, principal: Principal, name: str) -> None:
        self.name, self.principal = name, principal
        self._folder, self._standard, self._jobs = folder, base, jobs

    def documents(self) -> tuple[Document, ...]:
        self.principal.require(Scope.ASK)
        return self.fresh().library.snapshot.documents

    def document(self, id: str) -> Document:
        self.principal.require(Scope.ASK)
        return self._find(id)

    def counts(self, ids: Container[str]) -> dict[str, int]:
        """How many passages each of these documents has; of those that are still there."""
        snapshot = self.fresh().library.snapshot
        return {one.id: len(snapshot.rows_of(one.id)) for one in snapshot.documents if one.id in ids}

    def picture(self, id: str, page: int, boxes: Sequence[Box] = ()) -> bytes:
        """A page of a PDF as PNG, with these boxes marked; a text, or a file that a password locks, has none."""
        document = self.document(id)
        if not 1 <= page <= document.page_count:
            raise missing("page")
        if not self.fresh().library.view.page(id, page).width:
            raise NotFound(
                "This document is a text: its pages have no picture.", remedy="Ask for the text of the page."
            )
        try:
            source, form = self.fresh().library.source(id), form_of(document.name)
            return render_page(source, page, boxes, dpi=DPI, max_pixels=MAX_PIXELS, form=form)
        except PasswordNeeded:
            raise missing("page") from None

    def text(self, id: str, page: int) -> str:
        if not 1 <= page <= self.document(id).page_count:
            raise missing("page")
        return self.fresh().library.view.page_text(id, page)

    def describe(self, id: str, metadata: Metadata) -> Document:
        self.principal.require(Scope.INDEX)
        self._find(id)
        with self.principal.acting():
            self.fresh().library.set_metadata(id, metadata)
        return self._find(id)

    def delete(self, id: str) -> None:
        self.principal.require(Scope.INDEX)
        self._find(id)
        with self.principal.acting():
            self.fresh().library.delete(id)

    def erase(self, id: str) -> Erased:
        """Delete a document, or what is left of a deleted one, everywhere: also from questions, labels and feedback."""
        self._require_erasing()
        if not self.records.deleted(id) and not self.fresh().library.remembers(id):
            raise missing("document")
        with self.principal.acting():
            return self.fresh().library.erase(id)

    def drop(self) -> None:
        """Delete the collection with everything in it and all that was kept about it."""
        self._require_erasing()
        with self.principal.acting():
            if not self._jobs.drop(self._folder, self.name):
                raise missing("collection")

    def add(
        self, sources: Sequence[Source], preset: str | None, values: Mapping[str, Any], domain: str | None = None
    ) -> Job:
        """Start a job that adds these sources; see `Library.add`. A domain's profile says how they are cut."""
        self.principal.require(Scope.INDEX)
        profile = of_cost(require_domain(domain).values, INDEXED) if domain else {}
        settings = self.settings(preset, {**profile, **values}, INDEXED)
        listed = [File(source.name, f"sha256:{source.digest}") for source in sources]
        handed = HandingIn(self._folder, self.name, settings, sources)

        def work(progress: Progress, stop: Cancel) -> AddReport:
            return self.fresh().library.add(
                sources, settings, progress=progress, cancelled=stop, listed=handed.listed()
            )

        with self.principal.acting():
            place = str(self._folder), self.name
            return self._jobs.start(self.principal, place, "Adding documents", work, len(sources), listed, handed)

    def settings(
        self, preset: str | None, values: Mapping[str, Any], costs: frozenset[Cost], profile: Profile | None = None
    ) -> Settings:
        """As `chosen`, with the collection's models; a profile comes over the preset, which may be `saved:NAME`."""
        base = self._base
        if preset is not None and preset.startswith(SAVED):
            known = {one.name: one for one in self.records.presets()}
            if preset.removeprefix(SAVED) not in known:
                raise missing("preset")
            base, preset = self.saved(known[preset.removeprefix(SAVED)]), None
        if profile is None:
            found = chosen(base, preset, values, costs)
        else:
            found = chosen(profile.over(chosen(base, preset, {}, costs)), None, values, costs)
        return require_unlocked(self._base, found)

    def saved(self, preset: SavedPreset) -> Settings:
        """The settings of a saved preset, with the models and the store that the collection was built with."""
        values = {name: value for name, value in preset.values.items() if name not in (*AS_BUILT, "preset")}
        return self._base.changed(**{"preset": DEFAULT_PRESET, **values})

    def fresh(self) -> Engine:
        """Its engine, one in the process, with the newest version; opened at the first call, which may take seconds."""
        return loading.fresh(self._folder, self.name, self._standard)

    @property
    def records(self) -> RecordStore:
        return records(self._folder, self.name)

    @property
    def _base(self) -> Settings:
        self.fresh()
        opened = loading.known(self._folder, self.name)
        return opened.settings if opened else self._standard

    def _require_erasing(self) -> None:
        self.principal.require(Scope.INDEX)
        if self.principal.actor is None:  # else the right to delete is asked for where it is done
            self.principal.require(Scope.LABEL)

    def _find(self, id: str) -> Document:
        found = next((one for one in self.fresh().library.view.documents if one.id == id), None)
        if found is None:
            raise missing("document")
        return found
