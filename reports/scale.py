"""Measures how a library grows, and writes the table of `docs/scale.md`.

    python -m reports.scale [PASSAGES ...] [--folder FOLDER]

Libraries of any size are indexed as any text is: sentences of words drawn as words are in life (a few often, most
seldom, each page about a subject), names and numbers. A real embedding model would take hours, so a text's vector is
the sum of a vector of each of its words, and what a model takes is in none of the times. Each size is opened in a
process of its own, which measures everything there. `--folder` keeps the libraries, and takes up those that are there.
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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

import numpy as np
import regex

from rag_core import Settings
from rag_core.adapters.index.choose import vector_store
from rag_core.adapters.index.flat import CANDIDATES, DIM, SketchStore
from rag_core.domain.ports import TextKind, VectorIndex, Vectors
from rag_core.language import terms, words
from rag_core.library.library import Library
from rag_core.library.stored.sources import Source, text_source
from rag_core.retrieval.hybrid import retrieve
from reports import DOCS, ROOT, as_markdown, between_marks

PAGE = DOCS / "scale.md"
SIZES = (1_000, 10_000, 100_000)  # passages; half an hour of a busy machine
QUESTIONS = 40  # searches that are timed; chosen
WORDS = 9  # in a question; chosen
NEAREST = 10  # rows of which the recall is counted
NAMES = {
    "index_ms": "index a passage, without a model (ms)",
    "reopen_s": "reopen (s)",
    "reopen_cpu": "… processor time (s)",
    "cold_ms": "first search (ms)",
    "p50_ms": "search, p50 (ms)",
    "p95_ms": "search, p95 (ms)",
    "search_cpu": "… processor time, mean (ms)",
    "exact_cpu": "comparing all vectors, processor time (ms)",
    "sketch_cpu": "… with sketches (ms)",
    "recall": "… recall of the ten nearest",
    "add_s": "add 10 pages (s)",
    "add_cpu": "… processor time (s)",
    "delete_s": "delete one document (s)",
    "delete_cpu": "… processor time (s)",
    "memory_kb": "memory a passage (KB)",
    "disk_kb": "disk a passage (KB)",
}
T = TypeVar("T")
STORE = "faiss-flat"
VOCABULARY = 50_000  # words, about as many as large English collections use more than once; chosen
SUBJECTS, SHARED = 64, 200  # subjects of pages, and how many of the most frequent words belong to all; chosen
SENTENCES = 480  # a document: about fifty passages, thirty pages
PAGE_SENTENCES = 16  # a page; chosen
COMMON = "the of and to in for on with by from is are was were shall may not under section".split()
SYLLABLES = "ba ke lo mi nu ra ve ti so du fa gre pla ster con tor mel vin hol der".split()
TABLE = 1 << 14  # vectors of words; two words share one now and then, as words of a language mean the same
HEAD = 6  # letters of a word that its vector goes by: its index term has them too
_WORD = regex.compile(r"[a-z]+|\d+", regex.IGNORECASE)


class SummedWords:
    """An `Embedder` whose vector of a text is the sum of a vector of each of its words, at length 1. Shape (n, 384)."""

    name, tokenizer, max_tokens = "summed-words@float32", "words", 256

    @cached_property
    def table(self) -> Vectors:
        """The vectors; common words weigh a tenth."""
        drawn = np.random.default_rng(0).standard_normal((TABLE, DIM), dtype=np.float32)
        drawn[[_number(word) for word in COMMON]] *= np.float32(0.1)
        return drawn

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Words and two more, as a model marks both ends of a text."""
        return [len(text.split()) + 2 for text in texts]

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Vectors:
        """Unit vectors of shape (len(texts), 384)."""
        return self.summed([_WORD.findall(text.casefold()) for text in texts])

    def summed(self, rows: Sequence[Sequence[str]]) -> Vectors:
        """The same of the words of each text."""
        made = np.zeros((len(rows), DIM), dtype=np.float32)
        for at, row in enumerate(rows):
            made[at] = self.table[[_number(word) for word in row] or [0]].sum(axis=0)
        unit: Vectors = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
        return unit


@lru_cache(maxsize=1 << 18)
def _number(word: str) -> int:
    return crc32(word[:HEAD].encode()) % TABLE


@dataclass(frozen=True, slots=True)
class Texts:
    """Makes texts; the same seed makes the same ones."""

    seed: int

    def sentences(self, count: int) -> Iterator[str]:
        """Sentences of 8 to 24 words; a word of rank r comes with a frequency of about 1/r."""
        chance = random.Random(self.seed)
        for number in range(count):
            if number % PAGE_SENTENCES == 0:
                subject = chance.randrange(SUBJECTS)
            drawn = [
                chance.choice(COMMON)
                if chance.random() < 0.5
                else _word(_of(int(VOCABULARY ** chance.random()), subject))
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


def _of(rank: int, subject: int) -> int:
    return rank if rank < SHARED else rank - rank % SUBJECTS + subject


@lru_cache(maxsize=VOCABULARY)
def _word(rank: int) -> str:
    chance = random.Random(rank)
    return "".join(chance.choice(SYLLABLES) for _ in range(2 + rank % 3))


def opened(folder: Path, store: str = STORE) -> Library:
    """The library of one size."""
    return Library.open(folder, "growth", embedder=SummedWords(), vectors=vector_store(store))


def built(folder: Path, passages: int) -> float:
    """Build a library of at least so many passages; the seconds that indexing took a passage."""
    library, settings, seed, took = opened(folder), Settings.load(), 0, 0.0
    while (missing := passages - len(library.snapshot.passages)) > 0:
        sources = [Texts(seed + number).source() for number in range(max(1, min(missing // 60, 100)))]
        seed += len(sources)
        begun = time.perf_counter()
        library.add(sources, settings)
        took += time.perf_counter() - begun
    return took / len(library.snapshot.passages)


def timed(act: Callable[[], T]) -> tuple[T, float, float]:
    """The result of an act, and the seconds that it took: on the clock, and of the processor."""
    begun, worked = time.perf_counter(), time.process_time()
    made = act()
    return made, time.perf_counter() - begun, time.process_time() - worked


def measured(folder: Path) -> dict[str, float]:
    """Everything but building, of the library in this folder; to be called in a process that did nothing before."""
    settings, embedder = Settings.load(), SummedWords()
    Texts(1).source(16)
    terms("What was it?", "en")  # the words of a language are read once a process
    embedder.embed(["What was it?"])
    before = _memory()
    library, reopen, reopen_cpu = timed(lambda: opened(folder))
    snapshot = library.snapshot
    count, questions, times = len(snapshot.passages), [], []
    for sentence in Texts(10**6).sentences(QUESTIONS):
        asked = " ".join(word.text for word in words(sentence)[:WORDS])
        vector, sought = embedder.embed([asked])[0], terms(asked, "en")
        times.append(timed(partial(retrieve, asked, vector, sought, snapshot, settings))[1:])
        questions.append(vector)
    memory = _memory() - before
    report, add, add_cpu = timed(lambda: library.add([Texts(10**7).source(10 * PAGE_SENTENCES)], settings))
    _, delete, delete_cpu = timed(lambda: library.delete(report.added[0].id))
    disk = library.size_bytes()
    wall, cpu = (1000 * np.asarray(kind[1:]) for kind in zip(*times, strict=True))
    return {
        "passages": count,
        "documents": len(snapshot.documents),
        "reopen_s": reopen,
        "reopen_cpu": reopen_cpu,
        "cold_ms": 1000 * times[0][0],
        "p50_ms": float(np.percentile(wall, 50)),
        "p95_ms": float(np.percentile(wall, 95)),
        "search_cpu": float(cpu.mean()),
        "add_s": add,
        "add_cpu": add_cpu,
        "delete_s": delete,
        "delete_cpu": delete_cpu,
        "memory_kb": memory / count / 1024,
        "disk_kb": disk / count / 1024,
        **sketched(snapshot.vectors, count, questions),
    }


def sketched(exact: VectorIndex, count: int, questions: Sequence[Vectors]) -> dict[str, float]:
    """Milliseconds of comparing all vectors, and of doing so with sketches, and the recall of the ten nearest."""
    index = SketchStore().build(exact.vectors(range(count)))
    flat: list[list[tuple[int, float]]] = []
    near: list[list[tuple[int, float]]] = []
    _, _, exact_cpu = timed(lambda: flat.extend(exact.search(one, NEAREST, None) for one in questions))
    _, _, sketch_cpu = timed(lambda: near.extend(index.nearest(one, NEAREST, None, CANDIDATES) for one in questions))
    # a row that ties with the last one counts: any of them is as near
    found = [sum(cosine >= best[-1][1] for _, cosine in got) for got, best in zip(near, flat, strict=True)]
    each = 1000 / len(questions)
    return {"exact_cpu": exact_cpu * each, "sketch_cpu": sketch_cpu * each, "recall": sum(found) / sum(map(len, flat))}


def _memory() -> int:
    """The bytes that this process holds in memory; of Linux."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def table(rows: Sequence[dict[str, Any]]) -> str:
    """The figures as Markdown: one column a size."""
    body = [["documents", *(f"{row['documents']:,}" for row in rows)]]
    body += [[name, *(_shown(row[key]) for row in rows)] for key, name in NAMES.items()]
    return as_markdown(["", *(f"{row['passages']:,} passages" for row in rows)], body)


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}" if 0.9 < value <= 1 else f"{value:.2g}"


def written(page: str, rows: Sequence[dict[str, Any]], day: str) -> str:
    """The page with these figures between its two marks."""
    return between_marks(page, "scale", f"Measured on {day}:\n\n{table(rows)}")


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
            note = folder / "indexed.json"  # what cannot be measured again
            if not note.exists():
                note.write_text(json.dumps({"index_ms": 1000 * built(folder, size)}))
            command = [sys.executable, "-m", "reports.scale", "--measure", str(folder)]
            said = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
            rows.append({**json.loads(note.read_text()), **json.loads(said)})
            sys.stderr.write(f"{rows[-1]}\n")
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), rows, date.today().isoformat()), encoding="utf-8")


if __name__ == "__main__":
    main()
