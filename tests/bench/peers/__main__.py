"""The figures beside LangChain and LlamaIndex alone: `python -m tests.bench.peers [PDF or folder of PDFs ...]`; `make
bench` has them too.

Without PDFs it measures over pages that it sets from the samples' text. `make peers` installs the peers.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rag_core.domain.passages import Passage
from rag_core.ingest.passages.context import embedding_text
from rag_core.library.stored.sources import Source
from rag_core.settings import Settings
from rag_core.wiring import embedder, open_engine
from tests.bench.peers import memory, pdfs, turns, vectors
from tests.bench.peers.turns import Figure


def named(arguments: Sequence[str]) -> list[Path]:
    """The PDFs of these files and folders."""
    paths = map(Path, arguments)
    return [pdf for path in paths for pdf in (sorted(path.glob("*.pdf")) if path.is_dir() else [path])]


def measured(paths: Sequence[Path], passages: Sequence[Passage], settings: Settings) -> tuple[list[Figure], list[str]]:
    """All figures of this folder over these PDFs, or such as it makes, and what was not measured, with how to get
    it.
    """
    missing = []
    print("indexing, by turns:")
    if turns.DONE.exists():
        with tempfile.TemporaryDirectory() as folder:
            found = turns.figures(paths or pdfs.make(Path(folder)))
    else:
        found = []
        missing.append("ingest beside LangChain and LlamaIndex: they are not installed; run: make peers")
    print("embedding, by turns:")
    texts = [embedding_text(passage, "") for passage in passages]
    found += vectors.figures(texts, embedder(settings.embedding_model, settings.embedding_precision))
    print("memory:")
    held = memory.figures()
    if not held:
        missing.append("memory of the process tree: only Linux says it (/proc/PID/smaps_rollup)")
    return found + held, missing


def told(figures: Sequence[Figure], missing: Sequence[str]) -> int:
    """Print every figure with its target and what was not measured; how many figures are past twice their target."""
    late = 0
    for name, value, target, unit in figures:
        late += value > 2 * target
        shown = f"{value:8.2f}" if value >= 0.01 else f"{value:8.5f}"
        print(f"{name:58} {shown} {unit:3} target {target:g}{'' if value <= target else '  PAST TARGET'}")
    for what in missing:
        print(f"NOT MEASURED: {what}")
    if missing:
        print(f"{len(missing)} of {len(figures) + len(missing)} figures not measured: nothing is said of them")
    return late


def main(arguments: Sequence[str]) -> int:
    """Print these figures; 1 when one is past twice its target."""
    settings = Settings.load()
    paths = named(arguments)
    with tempfile.TemporaryDirectory() as folder:
        engine = open_engine(Path(folder), "bench", settings)
        engine.library.add([Source.from_path(path) for path in sorted(pdfs.SAMPLES.glob("*.pdf"))], settings)
        passages = engine.library.snapshot.passages
        return int(told(*measured(paths, passages, settings)) > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
