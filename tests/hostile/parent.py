"""Plays the process that serves everybody: indexes the files that it is given into one library, and says what that cost
it.

    python parent.py FOLDER FILE...

Reading and embedding run in child processes, as they do under the page. For each file one line of JSON: its name, how
many passages it added, the problem, and `peak`, the most memory that this process ever took, in MiB (VmHWM).
"""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path

from quick_worker import DIM

from rag_core.adapters.child import process as embedding_process
from rag_core.adapters.child.process import ProcessEmbedder
from rag_core.adapters.index.flat import FaissStore
from rag_core.library.library import Library
from rag_core.library.stored.sources import sources_from
from rag_core.settings import Settings

# of data: so that a version of this program that fails the test does not take the machine with it
FENCE_BYTES = 3 << 30


def peak_mib() -> int:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) >> 10


def main(folder: Path, files: list[Path]) -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (FENCE_BYTES, FENCE_BYTES))
    embedding_process.WORKER = "quick_worker"
    os.environ["PYTHONPATH"] = str(Path(__file__).parent)
    embedder = ProcessEmbedder("quick")
    opened = Library.open(folder, "default", embedder=embedder, vectors=FaissStore(DIM))
    settings = Settings.load()
    for file in files:
        before = len(opened.snapshot.passages)
        report = opened.add(sources_from([file]), settings)
        problems = [error.problem for _, error in report.problems]
        row = {
            "name": file.name,
            "passages": len(opened.snapshot.passages) - before,
            "problems": problems,
            "peak": peak_mib(),
        }
        sys.stdout.write(json.dumps(row) + "\n")
        sys.stdout.flush()
    embedder.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]])
