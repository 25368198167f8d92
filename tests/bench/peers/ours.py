"""Indexes PDFs with Plumbline into a folder that is thrown away, as `frameworks.py` does with its peers: the same line
of JSON.

    python -m tests.bench.peers.ours PDF...

What is counted has more in it than theirs: places of words on each page, headings and tables, a lexical index by stems,
and all of it written to disk with checksums.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from pathlib import Path

from rag_core.library.stored.sources import Source
from rag_core.settings import Settings
from rag_core.wiring import open_engine


def main(pdfs: list[str]) -> None:
    """Index once and print what it took."""
    settings = Settings.load()
    with tempfile.TemporaryDirectory() as folder:
        engine = open_engine(Path(folder), "bench", settings)
        engine.tools.embedder.embed(["warm"])
        started, before = time.perf_counter(), _processor_seconds()
        report = engine.library.add([Source.from_path(Path(pdf)) for pdf in pdfs], settings)
        seconds, processor = time.perf_counter() - started, _processor_seconds() - before
        if report.problems:
            raise SystemExit(f"not indexed: {report.problems}")
        pages = sum(document.page_count for document in report.added)
        passages = len(engine.library.snapshot.passages)
    print(json.dumps({"pages": pages, "passages": passages, "seconds": seconds, "processor": processor}))


def _processor_seconds() -> float:
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


if __name__ == "__main__":
    main(sys.argv[1:])
