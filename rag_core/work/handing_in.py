"""Files that wait for the turn of their job: they are on the library's list meanwhile, so that no end of the process
loses them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from rag_core.library.stored.sources import Source
from rag_core.settings import Cost, Settings
from rag_core.settings.knobs import AS_BUILT, BY_OPERATOR
from rag_core.wiring import hand_in, hold_back
from rag_core.work.background import Background


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
        self._known = frozenset[str]()  # that are on the list
        self._given_up = False

    def begin(self, ended: Callable[[], None] = lambda: None) -> None:
        """Hand them in, for whoever acts now; `ended` is called once they are handed in."""

        def handed_in(stopped: object) -> frozenset[str]:
            listed = self._listed
            if self._sources and not self._given_up:
                listed |= hand_in(self._folder, self._collection, self._sources, of_documents(self._settings))
            self._sources = ()  # the job has them; here they would only hold memory
            self._known = listed  # before that is asked: whoever calls them off from here on holds them back
            if self.stopping:
                hold_back(self._folder, self._collection, listed)
            return listed

        self.start(handed_in, ended=ended)

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
