"""Opening a library and loading its model beside a caller: a page appears at once and says what is still missing.

Engines are kept by folder and collection, for the whole process. The module's own state is the process's.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from rag_core.domain.acts import actor, require_entry
from rag_core.domain.ports import Cancel
from rag_core.engine import Engine
from rag_core.errors import ModelMismatch, RagError, StoreMismatch
from rag_core.language import LANGUAGES
from rag_core.language.detection import load_early
from rag_core.settings import Settings
from rag_core.wiring import as_built, contents_of, open_engine
from rag_core.work.background import Background

# what a page waits before it says that it waits: opening a library with a loaded model takes less
PATIENCE_SECONDS = 0.3
MAX_COUNT = 8  # collections kept open; the least recently used one goes


class Opening(Background[Engine]):
    """One library that is being opened, was opened, or could not be, with the model it was built with."""

    def __init__(self, folder: Path, collection: str, settings: Settings) -> None:
        super().__init__("opening a library", "Opening the library")
        self.settings = settings

        def opened(_: Cancel) -> Engine:
            self.settings = as_built(folder, collection, settings)
            Background[None]("loading dictionaries").start(lambda _: _load_languages(folder, collection))
            engine = open_engine(folder, collection, self.settings, apart=True)
            if self.settings.drafter == "model":
                Background[None]("loading a client").start(lambda _: _load_client(engine, self.settings))
            engine.library.on_version = lambda version: _told[-1](folder, collection, version)
            engine.library.on_version(engine.library.snapshot.version)
            return engine

        self.start(opened)

    @property
    def engine(self) -> Engine | None:
        return self.result


def _load_languages(folder: Path, collection: str) -> None:
    """Load the dictionaries that the first questions need, while a child loads the embedding model."""
    found = contents_of(folder, collection)
    load_early(found.languages if found else tuple(code for code, info in LANGUAGES.items() if info.replies))


def _load_client(engine: Engine, settings: Settings) -> None:
    """Import the client of the language model, which takes a second, before a question needs it."""
    with suppress(RagError):
        if engine.tools.model is not None:
            engine.tools.model(settings)


OnVersion = Callable[[Path, str, int], None]  # folder, collection, and the version of the library
_told: list[OnVersion] = [lambda folder, collection, version: None]  # the last one


def on_version(told: OnVersion) -> None:
    """Tell this one, from now on, of each version of a library that this process comes to know."""
    _told[:] = [told]


_lock = threading.Lock()
_openings: OrderedDict[tuple[Path, str], Opening] = OrderedDict()


def opening(folder: Path, collection: str, settings: Settings) -> Opening:
    """The library's opening, started at the first call."""
    require_entry(collection)
    with _lock:
        key = (folder, collection)
        if key not in _openings:
            _openings[key] = Opening(folder, collection, settings)
        _openings.move_to_end(key)
        while len(_openings) > MAX_COUNT:
            _openings.popitem(last=False)
        return _openings[key]


def known(folder: Path, collection: str) -> Opening | None:
    """The library's opening if there is one already, and it is open to whoever acts; starts none."""
    if not actor().may_enter(collection):
        return None
    with _lock:
        return _openings.get((folder, collection))


def engine(folder: Path, collection: str, settings: Settings) -> Engine:
    """The engine over a library, one in the process for each, once it is there; raises RagError."""
    opened = opening(folder, collection, settings)
    while not opened.wait(1):
        pass
    if opened.engine is None:
        assert opened.error is not None
        raise opened.error
    return opened.engine


def fresh(folder: Path, collection: str, settings: Settings) -> Engine:
    """As `engine`, with the newest version; one that failed is opened anew at the next call."""
    try:
        found = engine(folder, collection, settings)
    except RagError:
        forget(folder, collection)
        raise
    try:
        found.library.refresh()
    except (ModelMismatch, StoreMismatch):  # built anew meanwhile, with another model
        forget(folder, collection)
        return engine(folder, collection, settings)
    return found


def forget(folder: Path | None = None, collection: str = "") -> None:
    """Open this library anew at the next call, all of them without a folder: after an error, or when it was rebuilt."""
    with _lock:
        if folder is None:
            _openings.clear()
        else:
            _openings.pop((folder, collection), None)
