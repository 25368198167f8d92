"""The page's server, whose jobs embed nothing until a file named by $HELD_UNTIL is there; questions are embedded as ever."""

from __future__ import annotations

import os
import runpy
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from rag_core.adapters.child.process import ProcessEmbedder
from rag_core.domain.ports import TextKind, Vectors

LOOK_SECONDS = 0.05
_embed = ProcessEmbedder.embed


def _held(self: ProcessEmbedder, texts: Sequence[str], kind: TextKind = "passage") -> Vectors:
    if threading.current_thread().name == "a job":
        while not Path(os.environ["HELD_UNTIL"]).exists():
            time.sleep(LOOK_SECONDS)
    return _embed(self, texts, kind)


if __name__ == "__main__":
    ProcessEmbedder.embed = _held  # type: ignore[method-assign]
    runpy.run_module("ui.serve", run_name="__main__", alter_sys=True)
