"""Processor time of each stage of indexing, over the samples or the PDFs that are named: `python -m tests.bench.stages
[PDF...]`.

Each stage is a function of the indexing whose processor time is taken, of all threads of this process, less that of the
stages within it. Reading is split in two: what the processes that read take, and what this process does with what they
send. The batches of a PDF that is asked while it is read count as cutting and listing. A second run in the same process
(`--again`) shows what only the first one pays for.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from rag_core.adapters.embedding.embedded import EmbeddedModel
from rag_core.ingest.passages import strategies
from rag_core.library.indexing import batches, documents, indexer
from rag_core.library.stored.collection import Collection
from rag_core.library.stored.sources import Source
from rag_core.settings import Settings
from rag_core.wiring import open_engine

SAMPLES = Path(__file__).resolve().parents[2] / "data" / "samples"
STAGES: tuple[tuple[str, Any, str], ...] = (
    ("reading, this process", indexer, "read"),
    ("language", documents, "detect"),
    ("structuring: choosing the strategy", strategies, "choose"),
    ("cutting", indexer, "passages_of"),
    ("cutting", batches, "passages_of"),
    ("counting tokens", EmbeddedModel, "count_tokens"),
    ("listing words", indexer, "terms_of"),
    ("listing words", batches, "terms_of"),
    ("embedding", EmbeddedModel, "embed"),
    ("writing pages", Collection, "put_pages"),
    ("writing a document", Collection, "put"),
)


class Clock:
    """Processor seconds by stage; one stage may stand within another."""

    def __init__(self) -> None:
        self.taken: dict[str, float] = {}
        self._within: list[float] = []

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count what is done within, but for the stages in it."""
        self._within.append(0.0)
        started = time.process_time()
        try:
            yield
        finally:
            taken = time.process_time() - started
            self.taken[name] = self.taken.get(name, 0.0) + taken - self._within.pop()
            if self._within:
                self._within[-1] += taken

    def around(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, counted."""

        def counted(*args: Any, **named: Any) -> Any:
            with self.stage(name):
                return function(*args, **named)

        return counted


def stages(paths: list[Path], settings: Settings) -> tuple[dict[str, float], int, int, float]:
    """Processor seconds by stage, pages, passages, and seconds on the wall."""
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as patched:
        engine = open_engine(Path(folder), "bench", settings)
        engine.tools.embedder.embed(["warm"])
        for name, place, function in STAGES:
            patched.enter_context(patch.object(place, function, clock.around(name, getattr(place, function))))
        before, started = _children(), time.perf_counter()
        with clock.stage("all the rest"):
            report = engine.library.add([Source.from_path(path) for path in paths], settings)
        seconds = time.perf_counter() - started
        clock.taken["reading, its processes"] = _children() - before
        return clock.taken, sum(one.page_count for one in report.added), len(engine.library.snapshot.passages), seconds


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(arguments: list[str]) -> None:
    """Print the table."""
    paths = [Path(one) for one in arguments if one != "--again"] or sorted(SAMPLES.glob("*.pdf"))
    for _ in range(2 if "--again" in arguments else 1):
        taken, pages, passages, seconds = stages(paths, Settings.load())
        whole = sum(taken.values())
        print(
            f"{len(paths)} files, {pages} pages, {passages} passages: {seconds:.1f} s, {whole:.1f} s of processor time"
        )
        for name, part in sorted(taken.items(), key=lambda row: -row[1]):
            print(f"  {name:36} {part:7.2f} s {100 * part / whole:5.1f} %")


if __name__ == "__main__":
    main(sys.argv[1:])
