"""Reads the marked words back from PDFs, and says how often they are the quoted ones.

    python -m reports.marks FILE.pdf FOLDER [...] [--most 300] [--show 10]

Every sentence and table row of a file's passages (or `--most` of them, evenly spread) is cited as an answer would cite
it: found on its page, each of its rows one rectangle. Then the letters under those rectangles are read from the PDF,
    letter by letter, by their own places
and not by the boxes of words that the library keeps. Two figures come out for each kind of place (over several rows,
hyphenated, in two columns, a ligature, a table, over a page break): the share of citations of which every quoted word
was read back in its order, and the share of the letters under the marks that were not quoted. Kinds of failure are
counted; `--show` prints places of failures, and no text.

Files are opened in this process: run it on files that you trust.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from unicodedata import decomposition, normalize

import numpy as np
import pymupdf

from rag_core import wiring
from rag_core.adapters.index.flat import FaissStore
from rag_core.compression.citing import boxes_of
from rag_core.domain.claims import Evidence
from rag_core.domain.documents import Box, Document, Span
from rag_core.domain.passages import PassageKind
from rag_core.domain.ports import Embedder, TextKind, Vectors
from rag_core.grounding.units import units
from rag_core.library.disk.private import blocks_of
from rag_core.library.library import Library
from rag_core.library.stored.snapshot import Snapshot
from rag_core.library.stored.sources import Source, sources_from
from rag_core.settings import Settings

FLAGS = pymupdf.TEXT_PRESERVE_LIGATURES | pymupdf.TEXT_PRESERVE_WHITESPACE  # a ligature is quoted as it stands
LIGATURES = frozenset("ﬀﬁﬂﬃﬄﬅﬆ")
HYPHENS = frozenset("-\u2010\u00ad")
ROUNDED = 0.01  # points; boxes are kept to two decimals, and a sign above another letter has no width
MUCH = 0.1  # share of letters under the marks that were not quoted: more is a failure of its own kind
KINDS = ("all", "one row", "several rows", "hyphenated", "columns", "ligature", "table", "page break")


class Letter(NamedTuple):
    """One letter of a page and the middle of its box, in points as the page is shown."""

    text: str
    x: float
    y: float


@dataclass(frozen=True)
class Read:
    """The reading of one citation: its kinds, the letters under the marks, the quoted ones; `failure` or ""."""

    document: str
    page: int
    kinds: frozenset[str]
    marked: int = 0
    quoted: int = 0
    failure: str = ""


@dataclass
class Tally:
    """Citations of one kind of place."""

    citations: int = 0
    contained: int = 0
    marked: int = 0
    others: int = 0
    failures: Counter[str] = field(default_factory=Counter)

    def add(self, read: Read) -> None:
        """Count one citation; what was marked in vain counts as letters that were not quoted."""
        self.citations += 1
        self.contained += read.failure in ("", "much else marked")
        self.marked += read.marked
        self.others += read.marked - read.quoted
        self.failures.update([read.failure] if read.failure else [])


class TokensOnly:
    """The embedded model's tokenizer, which decides where passages end; no vector is computed."""

    def __init__(self, model: Embedder) -> None:
        self.name, self.max_tokens, self.tokenizer, self.count_tokens = (
            model.name,
            model.max_tokens,
            model.tokenizer,
            model.count_tokens,
        )

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Vectors:
        """Vectors of one number each."""
        return np.ones((len(texts), 1), dtype=np.float32)


def indexed(paths: Sequence[Path], folder: Path) -> Snapshot:
    """The files as the library holds them; what cannot be read is told."""
    settings = Settings.load()
    model = TokensOnly(wiring.embedder(settings.embedding_model, settings.embedding_precision))
    library = Library.open(folder, "marks", embedder=model, vectors=FaissStore())
    report = library.add([source for source in sources_from(paths) if isinstance(source, Source)], settings)
    for name, problem in report.problems:
        sys.stderr.write(f"{name}: {problem.problem} {problem.remedy}\n")
    return library.snapshot


def citations_of(corpus: Snapshot, document: Document, most: int) -> Iterator[tuple[PassageKind, tuple[Evidence, ...]]]:
    """The texts that answers would quote from a document, at most `most` sentences and rows, evenly spread."""
    found = [unit for passage in corpus.passages_of(document.id) for unit in units(passage, corpus.page_text)]
    step = max(1.0, len(found) / most)
    for number in range(min(most, len(found))):
        unit = found[int(number * step)]
        yield unit.passage.kind, unit.evidence(corpus.page_text)


def read_back(corpus: Snapshot, document: Document, kind: PassageKind, cited: Sequence[Evidence], pages: Pages) -> Read:
    """Mark the quotes of one sentence as the product does, and read what stands under the marks."""
    spans = [span for evidence in cited for span in evidence.spans]
    boxes = [boxes_of(evidence, corpus.words) for evidence in cited]
    kinds = frozenset({"all", *kinds_of(corpus, document, kind, spans)})
    if not all(boxes):
        return Read(document.name, spans[0].page, kinds, failure="nothing marked")
    marked = quoted = 0
    failure = ""
    for number in {span.page for span in spans}:
        under = "".join(
            letter.text
            for letter in pages.under([box for some in boxes for page, box in some if page == number], number)
        )
        texts = [corpus.page_text(document.id, number)[span.start : span.end] for span in spans if span.page == number]
        marked += len(under)
        quoted += min(len(under), len("".join("".join(texts).split())))
        failure = failure or (
            "" if all(stands_in(text, under) for text in texts) else "a quoted word not under the marks"
        )
    if not failure and marked - quoted > MUCH * marked:
        failure = "much else marked"
    return Read(document.name, spans[0].page, kinds, marked, quoted, failure)


def stands_in(quote: str, under: str) -> bool:
    """Whether the words of a quote follow one another in letters without white space; raised signs may move."""
    at = 0
    for word in quote.split():
        found = under.find(word, at)
        if found >= 0:
            at = found + len(word)
        elif (plain := _lowered(word)) == word or plain not in under:
            return False
    return True


def _lowered(word: str) -> str:
    """A word with its raised and lowered signs on the line."""
    return "".join(
        normalize("NFKC", sign) if decomposition(sign).startswith(("<super>", "<sub>")) else sign for sign in word
    )


def kinds_of(corpus: Snapshot, document: Document, kind: PassageKind, spans: Sequence[Span]) -> Iterator[str]:
    """The things that make this place easy or hard to mark."""
    texts = [corpus.page_text(document.id, span.page)[span.start : span.end] for span in spans]
    broken = any("\n" in text for text in texts)
    if kind is PassageKind.TABLE:
        yield "table"
    elif broken or len(spans) > 1:
        yield "several rows"
    else:
        yield "one row"
    if any(_is_parted(row, following) for text in texts for row, following in pairwise(text.split("\n"))):
        yield "hyphenated"
    if any(_climbs(corpus, document, span) for span in spans) and kind is not PassageKind.TABLE:
        yield "columns"
    if LIGATURES.intersection("".join(texts)):
        yield "ligature"
    if len({span.page for span in spans}) > 1:
        yield "page break"


def _is_parted(row: str, following: str) -> bool:
    """Whether a hyphen at the end of a row parts a word, or joins two."""
    return row[-1:] in HYPHENS and row[-2:-1].isalpha() and following[:1].isalpha()


def _climbs(corpus: Snapshot, document: Document, span: Span) -> bool:
    """Whether a quote goes on further up on its page, as from one column to the next."""
    rows = [
        line.box
        for line in corpus.page(document.id, span.page).lines
        if line.start < span.end and span.start < line.end
    ]
    return any(following.y1 < row.y0 for row, following in pairwise(rows))


class Pages:
    """The letters of a PDF's pages, each page read once."""

    def __init__(self, data: bytes) -> None:
        self._file = pymupdf.open(stream=data, filetype="pdf")  # type: ignore[no-untyped-call]
        self._letters = lru_cache(maxsize=8)(self._read)

    def under(self, boxes: Sequence[Box], number: int) -> list[Letter]:
        """The letters of page `number` (from 1) whose middle lies in one of these boxes, in the order of the file."""
        return [
            letter
            for letter in self._letters(number)
            if any(box.x0 - ROUNDED <= letter.x <= box.x1 + ROUNDED and box.y0 <= letter.y <= box.y1 for box in boxes)
        ]

    def _read(self, number: int) -> list[Letter]:
        page = self._file[number - 1]
        text_page = page.get_textpage(clip=pymupdf.INFINITE_RECT(), flags=FLAGS)  # type: ignore[no-untyped-call]
        found = []
        for block in text_page.extractRAWDICT()["blocks"]:
            for line in block.get("lines", ()):
                for span in line["spans"]:
                    for char in span["chars"]:
                        box = pymupdf.Rect(char["bbox"]) * page.rotation_matrix  # type: ignore[no-untyped-call]
                        found.append(Letter(char["c"], (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2))
        return [letter for letter in found if letter.text.strip()]


def measure(corpus: Snapshot, data: dict[str, bytes], most: int) -> Iterator[Read]:
    """Every citation of every document, read back, but for pages that were read by OCR."""
    for document in corpus.documents:
        pages = Pages(data[document.id])
        for kind, cited in citations_of(corpus, document, most):
            if not any(evidence.spans[0].page in document.ocr_pages for evidence in cited):
                yield read_back(corpus, document, kind, cited, pages)


def tallies(reads: Iterable[Read]) -> dict[str, Tally]:
    """The counts by kind of place."""
    found = {kind: Tally() for kind in KINDS}
    for read in reads:
        for kind in read.kinds:
            found[kind].add(read)
    return found


def table(found: dict[str, Tally]) -> str:
    """The figures in Markdown."""
    rows = [
        "| Place | citations | every quoted word under the marks | other letters under the marks |",
        "|---|---|---|---|",
    ]
    for kind, tally in found.items():
        if tally.citations:
            share, others = tally.contained / tally.citations, tally.others / max(1, tally.marked)
            rows.append(f"| {kind} | {tally.citations:,} | {share:.4f} | {others:.4f} |")
    return "\n".join([*rows, "", *(f"{count:,} × {failure}" for failure, count in found["all"].failures.most_common())])


def main(paths: Sequence[Path], most: int, show: int) -> None:
    """Index, mark, read back, tell."""
    files = [source for source in sources_from(paths) if isinstance(source, Source)]
    data = {f"sha256:{source.digest}": b"".join(blocks_of(source.data)) for source in files}
    with tempfile.TemporaryDirectory() as folder:
        reads = list(measure(indexed(paths, Path(folder)), data, most))
    sys.stdout.write(table(tallies(reads)) + "\n")
    for read in [read for read in reads if read.failure][:show]:
        sys.stdout.write(
            f"{read.document}, page {read.page}: {read.failure} ({', '.join(sorted(read.kinds - {'all'}))})\n"
        )


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description="Reads back from PDFs what citations mark in them.")
    arguments.add_argument("paths", nargs="+", type=Path, help="PDF files, and folders of them")
    arguments.add_argument("--most", type=int, default=300, help="citations of a file (default: %(default)s)")
    arguments.add_argument(
        "--show", type=int, default=0, help="failures whose places are printed (default: %(default)s)"
    )
    given = arguments.parse_args()
    main(given.paths, given.most, given.show)
