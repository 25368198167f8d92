"""Files that wait for the turn of their job: they are on the library's list meanwhile, so that no end of the process
loses them.

They are read meanwhile, so that they can be asked by their words (`rag_core.library.indexing.ahead`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from rag_core.domain.ports import Cancel, Progress
from rag_core.library.indexing.ahead import Upload
from rag_core.library.stored.entry import Row, accepted
from rag_core.library.stored.sources import Source
from rag_core.settings import Cost, Settings
from rag_core.settings.knobs import AS_BUILT, BY_OPERATOR
from rag_core.wiring import hand_in, hold_back
from rag_core.work import loading
from rag_core.work.background import Background

LOOK_SECONDS = 0.2  # between two looks at whether files are still to be read early, while their library is being opened


def of_documents(settings: Settings) -> dict[str, Any]:
    """The settings that say how a document is read and cut, by name; not what the library was built with, nor on which
    machines.
    """
    names = [
        knob.name
        for knob in Settings.knobs()
        if knob.cost is Cost.INGEST and knob.name not in (*AS_BUILT, *BY_OPERATOR)
    ]
    return {name: getattr(settings, name) for name in names}


class HandingIn(Background[frozenset[str]]):
    """The files of one job. `begin` is called once the job is taken, and hands them in beside it.

    Args:
        folder: of the library.
        collection: that they go to.
        settings: that its files are indexed under; the next start of the program keeps to them.
        sources: to be handed in.
        listed: digests of files that are on the list already.
    """

    def __init__(
        self,
        folder: Path,
        collection: str,
        settings: Settings,
        sources: Sequence[Source] = (),
        listed: Collection[str] = (),
    ) -> None:
        super().__init__("handing in files")
        self._folder, self._collection, self._settings = folder, collection, settings
        self._sources, self._listed = sources, frozenset(listed)
        self._turn, self._lock = threading.Event(), threading.Lock()
        self._upload: Upload | None = None
        self._known = frozenset[str]()  # that are on the list
        self._given_up = False

    def begin(
        self,
        progress: Progress | None = None,
        cancelled: Cancel | None = None,
        ended: Callable[[], None] = lambda: None,
    ) -> None:
        """Hand them in, for whoever acts now.

        `progress` and `cancelled` are those of the job, which is told of them before its turn; `ended` is called once
        they are handed in.
        """

        def handed_in(stopped: object) -> frozenset[str]:
            listed = self._listed
            if self._sources and not self._given_up:
                listed |= hand_in(self._folder, self._collection, self._sources, of_documents(self._settings))
            rows = [(row, password) for row, password in accepted(self._sources) if row.digest in listed]
            self._sources = ()  # the job has them; here they would only hold memory
            self._known = listed  # before that is asked: whoever calls them off from here on holds them back
            if self.stopping:
                hold_back(self._folder, self._collection, listed)
            elif rows and progress is not None and cancelled is not None:
                reading = Background[None]("having files read early")
                reading.start(lambda _: self._expect(rows, progress, cancelled))
            return listed

        self.start(handed_in, ended=ended)

    def _expect(self, rows: Sequence[Row], progress: Progress, cancelled: Cancel) -> None:
        """Have these, which are on the list, read, once their library is open."""
        opened = loading.known(self._folder, self._collection)
        while opened is not None and not opened.wait(LOOK_SECONDS):
            if self._turn.is_set() or cancelled():
                return
        if opened is not None and opened.engine is not None:
            with self._lock:
                if not (self._turn.is_set() or cancelled()):
                    self._upload = opened.engine.library.expect(rows, self._settings, progress, cancelled)

    def upload(self) -> Upload | None:
        """The turn of their job has come: what was made of them before it, if anything was.

        None are expected from now on.
        """
        with self._lock:
            self._turn.set()
            return self._upload

    def leave(self) -> None:
        """Their job has ended: nothing of them is read early any more."""
        if (upload := self.upload()) is not None:
            upload.leave()

    def listed(self) -> frozenset[str]:
        """The digests of those that are on the list; waits until that is known."""
        while not self.wait(1):
            pass
        return self.result or frozenset()

    def call_off(self) -> None:
        """Leave them to a person, who stopped their job: no start takes them up."""
        self.stop()
        if self._known:
            hold_back(self._folder, self._collection, self._known)

    def give_up(self) -> None:
        """Their collection goes: none is handed in from now on. Whoever deletes it waits for the end of this."""
        self._given_up = True
        self.stop()
