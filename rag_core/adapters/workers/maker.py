"""A worker of Ray: a process that keeps the embedding model loaded, and makes documents of the sources that it is sent.

It writes nothing of a library. Each PDF is opened in a child process of its own, with the limits on memory and time that hold everywhere.
What comes in and goes out is JSON and bytes.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from rag_core.adapters.embedding.choose import load_embedder
from rag_core.adapters.index.choose import lexical_store, vector_store
from rag_core.adapters.workers.fingerprint import fingerprint
from rag_core.errors import Cancelled, IngestError, RagError
from rag_core.ingest.reading.recognition import use_cores
from rag_core.library.indexing.elsewhere import make
from rag_core.library.stored.inbox import Accepted
from rag_core.library.stored.manifest import UNSAID_STORE
from rag_core.library.stored.store import Store
from rag_core.settings import Settings

PREFIX = "plumbline-worker-"  # begins the name of a folder in which a worker makes a document; the number of its process follows

Head = dict[str, Any]


class Maker:
    """One worker. Two threads call it: one that makes documents, and one that asks how far it is.

    Args:
        model, precision: of the embedding model.
    """

    def __init__(self, model: str, precision: str) -> None:
        use_cores(1)
        _sweep()
        self._problem = ("", "")
        self._far: tuple[str, int, int] | None = None
        self._unwanted = 0  # orders up to this number are
        try:
            self._embedder = load_embedder(model, precision)
        except RagError as error:  # said when it is asked
            self._problem = error.problem, error.remedy

    def greeting(self, ocr: str) -> str:
        """The head of what it is: its fingerprint; or a problem with its remedy."""
        problem, remedy = self._problem
        if problem:
            return json.dumps({"problem": problem, "remedy": remedy})
        return json.dumps({"fingerprint": fingerprint(self._embedder, ocr=ocr)})

    def make(self, number: int, order: str, data: bytes) -> tuple[str, bytes]:
        """The files of a document, one after another, behind a head with their names and sizes; else a head that says what is wrong."""
        said = json.loads(order)
        try:
            with tempfile.TemporaryDirectory(prefix=f"{PREFIX}{os.getpid()}-") as folder:
                store = Store(Path(folder), "made", vector_store(UNSAID_STORE), lexical_store(UNSAID_STORE))
                row, settings = Accepted.from_json(said["row"]), Settings(**said["settings"])
                files = make(row, data, settings, self._embedder, store, self._told, lambda: number <= self._unwanted)
        except Cancelled:
            return json.dumps({"stopped": True}), b""
        except IngestError as error:
            return json.dumps({"failed": [error.kind, error.problem, error.remedy]}), b""
        except RagError as error:  # no fault of the file
            return json.dumps({"problem": error.problem, "remedy": error.remedy}), b""
        finally:
            self._far = None
        return json.dumps({"made": [[name, len(file)] for name, file in files.items()]}), b"".join(files.values())

    def look(self) -> tuple[str, int, int] | None:
        """How far the document is that is being made."""
        return self._far

    def stop(self, number: int) -> None:
        """Nobody wants the documents of orders up to this number any more."""
        self._unwanted = number

    def _told(self, what: str, done: int, total: int) -> None:
        self._far = what, done, total


def _sweep() -> None:
    """Remove the folders of workers that were killed: each holds somebody's document."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        number = path.name.removeprefix(PREFIX).partition("-")[0]
        with suppress(OSError, ValueError):
            if path.stat().st_uid == os.getuid() and not _runs(int(number)):
                shutil.rmtree(path, ignore_errors=True)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
