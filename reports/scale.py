"""Measures how a library grows, and writes the table and the diagram of `docs/scale.md`.

    python -m reports.scale [PASSAGES ...] [--folder FOLDER]

Each size is built from documents of fifty passages or so, with texts of its own: sentences of words drawn as words are in life (a few
often, most seldom), names and numbers. A real embedding model would take hours, so that a text's vector is the sum of a vector of each of
its words: near for texts that share words, spread for the others. What a model takes for a question or a passage is in none of the times.
Each size is then opened in a process of its own, which measures everything else there. `--folder` keeps the libraries.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from rag_core import Settings
from rag_core.adapters.index.bm25 import Bm25Store
from rag_core.adapters.index.flat import DIM, FaissStore
from rag_core.domain.ports import Vectors
from rag_core.language import terms, words
from rag_core.library.library import Library
from rag_core.library.stored.sources import Source, text_source
from rag_core.retrieval.hybrid import retrieve

ROOT = Path(__file__).resolve().parent.parent
PAGE, PICTURE = ROOT / "docs" / "scale.md", ROOT / "docs" / "scale" / "growth.svg"
BEGIN, END = "<!-- written by python -m reports.scale -->", "<!-- end of what is written -->"
SIZES = (1_000, 10_000)  # passages; ten minutes of a busy machine
VOCABULARY = 50_000  # words, about as many as large English collections use more than once; chosen
SENTENCES = 480  # a document: about fifty passages, thirty pages
PAGE_SENTENCES = 16  # a page; chosen
QUESTIONS = 40  # searches that are timed; chosen
COMMON = "the of and to in for on with by from is are was were shall may not under section".split()
SYLLABLES = "ba ke lo mi nu ra ve ti so du fa gre pla ster con tor mel vin hol der".split()
NAMES = {
    "build_s": "build, without a model (s)", "reopen_s": "reopen (s)", "cold_ms": "first search (ms)", "p50_ms": "search, p50 (ms)",
    "p95_ms": "search, p95 (ms)", "add_s": "add 10 pages (s)", "delete_s": "delete one document (s)", "memory_kb": "memory a passage (KB)",
    "disk_kb": "disk a passage (KB)",
}  # fmt: skip


class SummedWords:
    """An `Embedder` whose vector of a text is the sum of a vector of each of its words, at length 1. Shape (n, 384)."""

    name, tokenizer, max_tokens = "summed-words@float32", "words", 256

    def __init__(self) -> None:
        self._table = np.random.default_rng(0).standard_normal((4096, DIM), dtype=np.float32)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Words and two more, as a model marks both ends of a text."""
        return [len(text.split()) + 2 for text in texts]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of shape (len(texts), 384)."""
        rows = [self._table[[crc32(word.encode()) % 4096 for word in text.casefold().split()] or [0]].sum(axis=0) for text in texts]
        made = np.stack(rows) if rows else np.zeros((0, DIM), dtype=np.float32)
        unit: Vectors = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
        return unit


@dataclass(frozen=True, slots=True)
class Texts:
    """Makes texts; the same seed makes the same ones."""

    seed: int

    def sentences(self, count: int) -> Iterator[str]:
        """Sentences of 8 to 24 words; a word of rank r comes with a frequency of about 1/r."""
        chance = random.Random(self.seed)
        for _ in range(count):
            drawn = [
                chance.choice(COMMON) if chance.random() < 0.5 else _word(int(VOCABULARY ** chance.random()))
                for _ in range(chance.randint(8, 24))
            ]
            if chance.random() < 0.4:
                drawn.insert(3, str(chance.randint(2, 90_000)))
            yield " ".join(drawn).capitalize() + "."

    def source(self, sentences: int = SENTENCES) -> Source:
        """A text document with a heading before every page's worth of sentences."""
        found = list(self.sentences(sentences))
        pages = [found[at : at + PAGE_SENTENCES] for at in range(0, len(found), PAGE_SENTENCES)]
        body = "\n\n".join(f"Section {number}\n\n" + " ".join(page) for number, page in enumerate(pages, 1))
        return text_source(f"document {self.seed}", body, id=f"document-{self.seed}", language="en")


def _word(rank: int) -> str:
    chance = random.Random(rank)
    return "".join(chance.choice(SYLLABLES) for _ in range(2 + rank % 3))


def opened(folder: Path) -> Library:
    """The library of one size."""
    return Library.open(folder, "growth", embedder=SummedWords(), vectors=FaissStore(), lexical=Bm25Store())


def built(folder: Path, passages: int) -> float:
    """Build a library of at least so many passages; the seconds that it took, without making the texts."""
    library, settings, seed, took = opened(folder), Settings.load(), 0, 0.0
    while (missing := passages - len(library.snapshot.passages)) > 0:
        sources = [Texts(seed + number).source() for number in range(max(1, min(missing // 60, 100)))]
        seed += len(sources)
        begun = time.perf_counter()
        library.add(sources, settings)
        took += time.perf_counter() - begun
    return took


def measured(folder: Path) -> dict[str, float]:
    """Everything but building, of the library in this folder; to be called in a process that did nothing before."""
    settings, embedder = Settings.load(), SummedWords()
    Texts(1).source(16)
    terms("What was it?", "en")  # the words of a language are read once a process
    before, begun = _memory(), time.perf_counter()
    library = opened(folder)
    reopen = time.perf_counter() - begun
    snapshot = library.snapshot
    count = len(snapshot.passages)
    times = []
    for question in Texts(10**6).sentences(QUESTIONS):
        asked = " ".join(word.text for word in words(question)[:9])
        vector = embedder.embed([asked])[0]
        begun = time.perf_counter()
        retrieve(asked, vector, terms(asked, "en"), snapshot, settings)
        times.append(1000 * (time.perf_counter() - begun))
    memory = _memory() - before
    disk = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    begun = time.perf_counter()
    report = library.add([Texts(10**7).source(10 * PAGE_SENTENCES)], settings)
    add = time.perf_counter() - begun
    begun = time.perf_counter()
    library.delete(report.added[0].id)
    delete = time.perf_counter() - begun
    p50, p95 = np.percentile(times[1:], [50, 95])
    return {
        "passages": count, "documents": len(snapshot.documents), "reopen_s": reopen, "cold_ms": times[0], "p50_ms": float(p50),
        "p95_ms": float(p95), "add_s": add, "delete_s": delete, "memory_kb": memory / count / 1024, "disk_kb": disk / count / 1024,
    }  # fmt: skip


def _memory() -> int:
    """The bytes that this process holds in memory; of Linux."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def table(rows: Sequence[dict[str, Any]]) -> str:
    """The figures as Markdown: one column a size."""
    head = ["", *(f"{row['passages']:,} passages" for row in rows)]
    body = [["documents", *(f"{row['documents']:,}" for row in rows)]]
    body += [[name, *(_shown(row[key]) for row in rows)] for key, name in NAMES.items()]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [head, ["---"] * len(head), *body])


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


def drawn(rows: Sequence[dict[str, Any]], file: Path) -> None:
    """The seconds of each act over the passages, both in powers of ten, as an SVG."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4))
    FigureCanvasSVG(figure)
    axes = figure.add_subplot()
    sizes = [row["passages"] for row in rows]
    for key, name, factor in (
        ("reopen_s", "reopen", 1), ("add_s", "add 10 pages", 1), ("delete_s", "delete one document", 1), ("p50_ms", "search, p50", 1e-3),
        ("p95_ms", "search, p95", 1e-3),
    ):  # fmt: skip
        axes.plot(sizes, [row[key] * factor for row in rows], marker="o", label=name)
    axes.set(xscale="log", yscale="log", xlabel="passages", ylabel="seconds")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    file.parent.mkdir(exist_ok=True)
    figure.savefig(file, format="svg", metadata={"Date": None}, bbox_inches="tight")


def written(page: str, rows: Sequence[dict[str, Any]], day: str) -> str:
    """The page with these figures between its two marks.

    Raises:
        ValueError: the page has no such marks.
    """
    head, begin, rest = page.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{PAGE.name} has no place for the figures.")
    picture = "![Seconds of each act over the passages of a library](scale/growth.svg)"
    return f"{head}{BEGIN}\n\nMeasured on {day}:\n\n{table(rows)}\n\n{picture}\n\n{END}{tail}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Build, measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("passages", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--folder", type=Path, help="where the libraries are kept; else in a folder that is deleted")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)  # the process of one size
    options = parser.parse_args(arguments)
    if options.measure:
        sys.stdout.write(json.dumps(measured(options.measure)))
        return
    rows = []
    with tempfile.TemporaryDirectory() as passing:
        for size in options.passages:
            folder = (options.folder or Path(passing)) / str(size)
            build = built(folder, size)
            command = [sys.executable, "-m", "reports.scale", "--measure", str(folder)]
            said = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
            rows.append({"build_s": build, **json.loads(said)})
            sys.stderr.write(f"{rows[-1]}\n")
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), rows, date.today().isoformat()), encoding="utf-8")
    drawn(rows, PICTURE)


if __name__ == "__main__":
    main()
