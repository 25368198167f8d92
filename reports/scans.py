"""Measures how well scans are read, and prints the tables of `docs/scans.md`.

    python -m reports.scans [--part 0.4] [--fine] [--only hi]

The second page of a sample in each of four languages, or a `--part` of its height, is drawn at 150 and 300 dots an
inch: clean, with noise, low in contrast, and turned by one and two degrees. Each picture is put on a page of a PDF and
    read as a scan is. What is read is held
against the page's own text: the share of wrong characters and of wrong words (edit distance over the length of the true
text, white space taken together, ligatures as their letters), and of the true words that were read nowhere, in whatever
order. Engines: Tesseract at the resolution that the product draws at, with `--fine` at 300 too; RapidOCR where it is
installed (`make rapidocr`), as the product reads by it. A second table for each engine says what share of the wrong
words, and of the right ones, a limit on its confidence tells. Pictures and noise are the same in each run.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

import argparse
import sys
import time
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any

import numpy as np
import pymupdf

from rag_core.domain.documents import Page
from rag_core.ingest.layout import received
from rag_core.ingest.limits import DEFAULT_LIMITS
from rag_core.ingest.pdf_worker.scans.ocr import DPI, look, recognise
from rag_core.ingest.reading.ocr_engines import find_tessdata, find_weights, fitting, tried
from rag_core.ingest.reading.pdf import read_pdf
from rag_core.settings import DATA

SAMPLES = {"en": "flow-meter-manual", "cs": "smlouva-o-dodavce", "de": "wissensdatenbank", "hi": "samantar-shreni"}
LATIN = ("en", "cs", "de")  # what RapidOCR reads
RESOLUTIONS = (150, 300)  # dots an inch: a quick scan, and a usual one
LIMITS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.97, 0.99)  # on the confidence of a word, in [0, 1]
CONDITIONS = ("clean", "noise", "pale", "1 degree", "2 degrees")
FIGURES = frozenset("0123456789०१२३४५६७८९§$€%")

Word = tuple[str, float]  # and how sure it is
# the words of a page that is a picture, and the CPU seconds
Engine = Callable[[pymupdf.Page], tuple[list[Word], float]]


@dataclass
class Tally:
    """The errors of one engine under one condition."""

    wrong_characters: int = 0
    characters: int = 0
    wrong_words: int = 0
    missing_words: int = 0
    words: int = 0
    seconds: list[float] = field(default_factory=list)

    def add(self, read: Sequence[str], true: Sequence[str], seconds: float) -> None:
        """Count one page."""
        self.wrong_characters += distance(" ".join(read), " ".join(true))
        self.wrong_words += distance(read, true)
        self.missing_words += (Counter(true) - Counter(read)).total()
        self.characters += len(" ".join(true))
        self.words += len(true)
        self.seconds.append(seconds)

    def __str__(self) -> str:
        wrong = self.wrong_characters / self.characters, self.wrong_words / self.words, self.missing_words / self.words
        return " / ".join(f"{one:.1%}" for one in wrong)


Tallies = dict[tuple[str, int, str, str], Tally]  # by language, resolution, condition and engine


def distance(read: Sequence[str], true: Sequence[str]) -> int:
    """How many signs, or words, have to be changed, added or left out to make one of the other."""
    numbers: dict[str, int] = {}
    a, b = (np.array([numbers.setdefault(one, len(numbers)) for one in side]) for side in (read, true))
    steps = np.arange(len(b) + 1)
    row = steps.copy()
    for number, one in enumerate(a, 1):
        best = np.minimum(row[1:] + 1, row[:-1] + (b != one))
        row = np.minimum.accumulate(np.concatenate(([number], best)) - steps) + steps
    return int(row[-1])


def text_of(page: Page, part: float) -> list[str]:
    """The words of the rows that lie in this part of a page's height, from above."""
    rows = [page.text[line.start : line.end] for line in page.lines if line.box.y1 <= part * page.height]
    return plain(" ".join(rows)).split()


def plain(text: str) -> str:
    """A text with a sign for each letter: a font's one sign for "fl" looks like two letters, and is read as two."""
    return unicodedata.normalize("NFKC", text)


def drawn(page: pymupdf.Page, dpi: int, condition: str, part: float) -> pymupdf.Pixmap:
    """A page as a scanner would see it."""
    turn = float(condition[0]) if condition[0].isdigit() else 0.0
    matrix = pymupdf.Matrix(dpi / 72, dpi / 72).prerotate(turn)
    cut = pymupdf.Rect(0, 0, page.rect.width, page.rect.height * part)
    seen = pymupdf.open()  # so that what is cut off does not come back when the page is turned
    sheet = seen.new_page(width=cut.width, height=cut.height)
    sheet.show_pdf_page(sheet.rect, page.parent, page.number, clip=cut)
    picture = sheet.get_pixmap(matrix=matrix, colorspace=pymupdf.csGRAY, alpha=False)
    grey = (
        np.frombuffer(picture.samples, np.uint8)
        .reshape(picture.height, picture.stride)[:, : picture.width]
        .astype(np.float64)
    )
    random = np.random.default_rng(19)
    if condition == "noise":
        grey = grey + random.normal(0, 30, grey.shape)
        specks = random.random(grey.shape)
        grey = np.where(specks < 0.0005, 0, np.where(specks > 0.9995, 255, grey))
    if condition == "pale":
        grey = 150 + grey * 60 / 255 + random.normal(0, 4, grey.shape)
    data = np.clip(grey, 0, 255).astype(np.uint8).tobytes()
    return pymupdf.Pixmap(pymupdf.csGRAY, picture.width, picture.height, data, False)


def as_scan(picture: pymupdf.Pixmap, dpi: int) -> pymupdf.Page:
    """A page of a PDF that is nothing but this picture."""
    document = pymupdf.open()
    page = document.new_page(width=picture.width * 72 / dpi, height=picture.height * 72 / dpi)
    page.insert_image(page.rect, pixmap=picture)
    return page


def by_engine(dpi: int, weights: str = "") -> Engine:
    """The engine as the product calls it, on a drawing at `dpi`: RapidOCR with weights, else Tesseract."""
    languages, tessdata = find_tessdata()
    most = {"page_chars": DEFAULT_LIMITS.page_chars, "page_words": DEFAULT_LIMITS.page_words}

    def read(page: pymupdf.Page) -> tuple[list[Word], float]:
        picture = page.get_pixmap(dpi=dpi, colorspace=pymupdf.csGRAY, alpha=False)
        shape = {"width": picture.width, "height": picture.height, "dpi": dpi}
        data = zlib.compress(picture.samples)
        began = time.process_time()
        request = {**shape, **most, "tessdata": tessdata, "weights": weights}
        looked: Any = look({**request, "languages": tried(languages, weights)}, data)
        fits = fitting(looked["script"], looked["text"], languages)
        event: Any = recognise({**request, "languages": fits.languages}, data)
        seconds = time.process_time() - began
        words, _lines = received(event["words"], event["lines"], event["cells"], len(event["text"]))
        return [(plain(event["text"][word.start : word.end]), word.sure or 0.0) for word in words], seconds

    return read


def sureness(words: Sequence[Word], true: Sequence[str]) -> Iterator[tuple[float, bool, bool]]:
    """How sure each word is, whether it is right, and whether it is a figure or holds a sign such as §."""
    right: set[int] = set()
    for block in SequenceMatcher(None, [text for text, _ in words], list(true), autojunk=False).get_matching_blocks():
        right.update(range(block.a, block.a + block.size))
    for at, (text, sure) in enumerate(words):
        yield sure, at in right, not FIGURES.isdisjoint(text)


def main() -> None:
    """Measure, and print both tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--part", type=float, default=1.0, help="of the page's height, from above (default 1, the whole page)"
    )
    parser.add_argument("--fine", action="store_true", help="measure Tesseract on drawings at 300 dots an inch too")
    parser.add_argument("--only", choices=SAMPLES, help="one language")
    options = parser.parse_args()
    engines: dict[str, Engine] = {f"Tesseract at {DPI}": by_engine(DPI)}
    if weights := find_weights():
        engines[f"RapidOCR at {DPI}"] = by_engine(DPI, weights)
    if options.fine:
        engines["Tesseract at 300"] = by_engine(300)
    wanted = {options.only: SAMPLES[options.only]} if options.only else SAMPLES
    tallies: Tallies = {}
    sure: dict[str, list[tuple[float, bool, bool]]] = {
        engine: [] for engine in list(engines)[:2] if engine.endswith(f" {DPI}")
    }
    for language, name in wanted.items():
        data = (DATA / "samples" / f"{name}.pdf").read_bytes()
        true = text_of(read_pdf(data, name, ocr=False).pages[1], options.part)
        document = pymupdf.open(stream=data)
        for dpi in RESOLUTIONS:
            for condition in CONDITIONS:
                picture = drawn(document[1], dpi, condition, options.part)
                page = as_scan(picture, dpi)
                for engine, read in engines.items():
                    words, seconds = read(page)
                    tally = tallies.setdefault((language, dpi, condition, engine), Tally())
                    tally.add([text for text, _ in words], true, seconds)
                    if engine in sure and language in LATIN:  # the rest is Tesseract's with both
                        sure[engine] += sureness(words, true)
            print_errors(tallies, list(engines), (language, dpi))
    print_seconds(tallies, list(engines))
    for engine, found in sure.items():
        print_sureness(engine, found)


def print_errors(tallies: Tallies, engines: Sequence[str], of: tuple[str, int]) -> None:
    """Character and word error rates of one language at one resolution."""
    say = sys.stdout.write
    if of == next(iter(tallies))[:2]:
        say("| | " + " | ".join(engines) + " |\n|---|" + "---|" * len(engines) + "\n")
    for condition in CONDITIONS:
        cells = [str(tallies.get((*of, condition, engine), "")) for engine in engines]
        say(f"| {of[0]}, {of[1]} dpi, {condition} | " + " | ".join(cells) + " |\n")
    sys.stdout.flush()


def print_seconds(tallies: Tallies, engines: Sequence[str]) -> None:
    """The median seconds of CPU that a page took."""
    say = sys.stdout.write
    medians = [
        np.median([one for key, tally in tallies.items() if key[3] == engine for one in tally.seconds])
        for engine in engines
    ]
    say("| CPU seconds a page, median | " + " | ".join(f"{median:.1f}" for median in medians) + " |\n\n")


def print_sureness(engine: str, sure: Sequence[tuple[float, bool, bool]]) -> None:
    """How well limits on the confidence of an engine tell wrong and right words, and of wrong and right figures."""
    say = sys.stdout.write
    say(
        f"| {engine}, below | wrong words told | right words told | wrong figures told | right figures told "
        f"|\n|---|---|---|---|---|\n"
    )
    for limit in LIMITS:
        cells = []
        for figures in (False, True):
            for is_right in (False, True):
                of = [one for one, right, figure in sure if right == is_right and (figure or not figures)]
                cells.append(f"{sum(one < limit for one in of)} of {len(of)}")
        say(f"| {limit:.2f} | " + " | ".join(cells) + " |\n")


if __name__ == "__main__":
    main()
