"""Opening a library and loading its model beside the page: the page appears at once and says what is still missing.

Engines are kept by folder and namespace, for the whole process. The module's own state is the process's: Streamlit imports it once.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path

from rag_core.engine import Engine
from rag_core.errors import RagError
from rag_core.language import early
from rag_core.settings import Settings
from rag_core.wiring import as_built, languages, open_engine
from ui.app import first_run

PATIENCE_SECONDS = 0.3  # what a page waits before it says that it waits: opening a library with a loaded model takes less
MAX_COUNT = 8  # namespaces kept open; the least recently used one goes
_log = logging.getLogger(__name__)


class Opening:
    """One library that is being opened, was opened, or could not be; with the model that it was built with, when it is open."""

    def __init__(self, folder: Path, namespace: str, settings: Settings) -> None:
        self.engine: Engine | None = None
        self.settings = settings
        self.error: RagError | None = None
        self._done = threading.Event()
        threading.Thread(target=self._open, args=(folder, namespace, settings), daemon=True, name="opening a library").start()

    def wait(self, seconds: float) -> bool:
        """Whether it ended within so many seconds."""
        return self._done.wait(seconds)

    def _open(self, folder: Path, namespace: str, settings: Settings) -> None:
        try:
            self.settings = as_built(folder, namespace, settings)
            threading.Thread(target=_load_languages, args=(folder, namespace), daemon=True, name="loading dictionaries").start()
            self.engine = open_engine(folder, namespace, self.settings, apart=True)
            if self.settings.drafter == "model":
                threading.Thread(target=_load_client, args=(self.engine, self.settings), daemon=True, name="loading a client").start()
        except RagError as error:
            self.error = error
        except Exception as error:
            _log.exception("a library could not be opened")
            problem = f"Opening the library stopped because of a fault in this program ({type(error).__name__})."
            self.error = RagError(problem, remedy="Nothing was changed. Report it with the log.")
        finally:
            self._done.set()


def _load_languages(folder: Path, namespace: str) -> None:
    """Load the dictionaries that the first questions need, while a child loads the embedding model."""
    early.load(languages(folder, namespace) or first_run.languages())


def _load_client(engine: Engine, settings: Settings) -> None:
    """Import the client of the language model, which takes a second, before a question needs it; what is wrong, the question says."""
    with suppress(RagError):
        if engine.tools.model is not None:
            engine.tools.model(settings)


_lock = threading.Lock()
_openings: OrderedDict[tuple[Path, str], Opening] = OrderedDict()


def opening(folder: Path, namespace: str, settings: Settings) -> Opening:
    """The library's opening, started at the first call."""
    with _lock:
        key = (folder, namespace)
        if key not in _openings:
            _openings[key] = Opening(folder, namespace, settings)
        _openings.move_to_end(key)
        while len(_openings) > MAX_COUNT:
            _openings.popitem(last=False)
        return _openings[key]


def known(folder: Path, namespace: str) -> Opening | None:
    """The library's opening if there is one already; starts none."""
    with _lock:
        return _openings.get((folder, namespace))


def engine(folder: Path, namespace: str, settings: Settings) -> Engine:
    """The engine over a library, one in the process for each; waits until it is there.

    Raises:
        RagError: the model or the library cannot be used.
    """
    opened = opening(folder, namespace, settings)
    while not opened.wait(1):
        pass
    if opened.engine is None:
        assert opened.error is not None
        raise opened.error
    return opened.engine


def forget(folder: Path | None = None, namespace: str = "") -> None:
    """Open this library anew at the next call, all of them without a folder: after an error, or when it was rebuilt."""
    with _lock:
        if folder is None:
            _openings.clear()
        else:
            _openings.pop((folder, namespace), None)
