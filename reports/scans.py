"""Measures how well scans are read, and prints the tables of `docs/scans.md`.

    python -m reports.scans [--rapidocr PYTHON] [--part 0.4] [--fine] [--before] [--only hi]

The second page of a sample in each of four languages, or a `--part` of its height, is drawn at 150 and 300 dots an inch: clean, with noise,
low in contrast, and turned by one and two degrees. Each picture is put on a page of a PDF and read as a scan is. What is read is held
against the page's own text: the share of wrong characters and of wrong words (edit distance over the length of the true text, white space
taken together), and of the true words that were read nowhere, in whatever order. Engines: Tesseract at the resolution that the product
draws at, with `--fine` at 300 too; with `--before` the Tesseract inside MuPDF; and RapidOCR at the first resolution, where `--rapidocr`
names a Python that has it installed. A second table says what share of the wrong words, and of the right ones,
a limit on Tesseract's confidence tells. Pictures and noise are the same in each run.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np
import pymupdf

from rag_core.domain.documents import Page
from rag_core.ingest.pdf_worker.scans.ocr import DPI
from rag_core.ingest.pdf_worker.scans.tesseract import Tesseract
from rag_core.ingest.reading.pdf import read_pdf
from rag_core.ingest.reading.tessdata import find_tessdata

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = {"en": "flow-meter-manual", "cs": "smlouva-o-dodavce", "de": "wissensdatenbank", "hi": "samantar-shreni"}
RESOLUTIONS = (150, 300)  # dots an inch: a quick scan, and a usual one
LIMITS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)  # on the confidence of a word, in [0, 1]
CONDITIONS = ("clean", "noise", "pale", "1 degree", "2 degrees")
BEFORE = "MuPDF's, before"
FIGURES = frozenset("0123456789०१२३४५६७८९§$€%")

# run by the Python that has RapidOCR: the path of a picture a line in, its text and seconds a line out
RAPIDOCR = """
import json, sys, time
import numpy as np
from rapidocr import RapidOCR
engine = RapidOCR()
print("{}", flush=True)
for line in sys.stdin:
    began = time.monotonic()
    found = engine(line.strip(), use_cls=False)  # what tells lines that stand on their head turns some that do not
    took = time.monotonic() - began
    lines = []
    if found.txts:
        boxes = np.array(found.boxes)  # four corners each, from the upper left one on
        along = boxes[:, 1] - boxes[:, 0]
        wide = along[:, 0] > np.median(along[:, 0])
        slope = np.median(along[wide, 1] / along[wide, 0]) if wide.any() else 0.0  # of a page that lies askew
        middles = boxes.mean(axis=1) @ np.array([[1, -slope], [slope, 1]])
        high = np.linalg.norm(boxes[:, 3] - boxes[:, 0], axis=1)
        for at in np.argsort(middles[:, 1]):  # what stands at one height is one line
            if lines and middles[at, 1] - lines[-1][0] < high[at] / 2:
                lines[-1][1].append((middles[at, 0], found.txts[at]))
            else:
                lines.append((middles[at, 1], [(middles[at, 0], found.txts[at])]))
    text = "\\n".join(" ".join(text for _, text in sorted(parts)) for _, parts in lines)
    print(json.dumps({"text": text, "seconds": took}), flush=True)
"""

Word = tuple[str, float]  # and how sure it is
Engine = Callable[[pymupdf.Page, Path], tuple[list[Word], float]]  # the words of a page that is a picture, and the seconds


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
    return " ".join(rows).split()


def drawn(page: pymupdf.Page, dpi: int, condition: str, part: float) -> pymupdf.Pixmap:
    """A page as a scanner would see it."""
    turn = float(condition[0]) if condition[0].isdigit() else 0.0
    matrix = pymupdf.Matrix(dpi / 72, dpi / 72).prerotate(turn)
    cut = pymupdf.Rect(0, 0, page.rect.width, page.rect.height * part)
    seen = pymupdf.open()  # so that what is cut off does not come back when the page is turned
    sheet = seen.new_page(width=cut.width, height=cut.height)
    sheet.show_pdf_page(sheet.rect, page.parent, page.number, clip=cut)
    picture = sheet.get_pixmap(matrix=matrix, colorspace=pymupdf.csGRAY, alpha=False)
    grey = np.frombuffer(picture.samples, np.uint8).reshape(picture.height, picture.stride)[:, : picture.width].astype(np.float64)
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


def by_tesseract(dpi: int) -> Engine:
    """Tesseract as the product calls it, on a drawing at `dpi`."""
    languages, tessdata = find_tessdata()

    def read(page: pymupdf.Page, _: Path) -> tuple[list[Word], float]:
        began = time.monotonic()
        picture = page.get_pixmap(dpi=dpi, colorspace=pymupdf.csGRAY, alpha=False)
        engine = Tesseract("+".join(languages), tessdata)
        words = [(one.text, one.sure) for one in engine.read(picture.samples, picture.width, picture.height, dpi)]
        return words, time.monotonic() - began

    return read


def by_mupdf(page: pymupdf.Page, _: Path) -> tuple[list[Word], float]:
    """The Tesseract inside MuPDF; words are parted at gaps, as they were before."""
    from rag_core.ingest.pdf_worker.scans.ocr import words_of

    languages, tessdata = find_tessdata()
    began = time.monotonic()
    text = page.get_textpage_ocr(flags=pymupdf.TEXT_PRESERVE_LIGATURES, language="+".join(languages), dpi=DPI, full=True, tessdata=tessdata)
    return [(word[4], 0.0) for word in words_of(text)], time.monotonic() - began


@contextmanager
def by_rapidocr(python: str, dpi: int) -> Iterator[Engine]:
    """RapidOCR in a Python of its own, on a drawing at `dpi`, as the product would hand it one; to the end of the block."""
    calm = {**os.environ, "ORT_DISABLE_TELEMETRY": "1"}  # else onnxruntime writes to the home folder and asks a name server
    with subprocess.Popen(
        [python, "-c", RAPIDOCR], env=calm, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdout.readline()
        to, out = child.stdin, child.stdout

        def read(page: pymupdf.Page, path: Path) -> tuple[list[Word], float]:
            page.get_pixmap(dpi=dpi, colorspace=pymupdf.csGRAY, alpha=False).save(path)
            to.write(f"{path}\n")
            to.flush()
            found = json.loads(out.readline())
            return [(word, 0.0) for word in found["text"].split()], found["seconds"]

        yield read
        to.close()


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
    parser.add_argument("--rapidocr", metavar="PYTHON", help="a Python that has RapidOCR installed")
    parser.add_argument("--part", type=float, default=1.0, help="of the page's height, from above (default 1, the whole page)")
    parser.add_argument(
        "--before", action="store_true", help="measure the Tesseract inside MuPDF too, which takes twice as long as all others"
    )
    parser.add_argument("--fine", action="store_true", help="measure Tesseract on drawings at 300 dots an inch too")
    parser.add_argument("--only", choices=SAMPLES, help="one language")
    options = parser.parse_args()
    engines: dict[str, Engine] = {f"Tesseract at {DPI}": by_tesseract(DPI)}
    if options.fine:
        engines["Tesseract at 300"] = by_tesseract(300)
    if options.before:
        engines[BEFORE] = by_mupdf
    tallies: Tallies = {}
    sure: list[tuple[float, bool, bool]] = []
    with tempfile.TemporaryDirectory() as folder, ExitStack() as running:
        if options.rapidocr:
            engines[f"RapidOCR at {DPI}"] = running.enter_context(by_rapidocr(options.rapidocr, DPI))
        path = Path(folder) / "page.png"
        for language, name in SAMPLES.items():
            if options.only not in (None, language):
                continue
            data = (ROOT / "data" / "samples" / f"{name}.pdf").read_bytes()
            true = text_of(read_pdf(data, name, ocr=False).pages[1], options.part)
            document = pymupdf.open(stream=data)
            for dpi in RESOLUTIONS:
                for condition in CONDITIONS:
                    picture = drawn(document[1], dpi, condition, options.part)
                    picture.save(path)
                    page = as_scan(picture, dpi)
                    for engine, read in engines.items():
                        words, seconds = read(page, path)
                        tally = tallies.setdefault((language, dpi, condition, engine), Tally())
                        tally.add([text for text, _ in words], true, seconds)
                        if engine == f"Tesseract at {DPI}":
                            sure += sureness(words, true)
                print_errors(tallies, list(engines), (language, dpi))
    print_seconds(tallies, list(engines))
    print_sureness(sure)


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
    """The median seconds that a page took."""
    say = sys.stdout.write
    medians = [np.median([one for key, tally in tallies.items() if key[3] == engine for one in tally.seconds]) for engine in engines]
    say("| seconds a page, median | " + " | ".join(f"{median:.1f}" for median in medians) + " |\n\n")


def print_sureness(sure: Sequence[tuple[float, bool, bool]]) -> None:
    """How well limits on the confidence tell wrong and right words, and of wrong and right figures."""
    say = sys.stdout.write
    say("| below | wrong words told | right words told | wrong figures told | right figures told |\n|---|---|---|---|---|\n")
    for limit in LIMITS:
        cells = []
        for figures in (False, True):
            for is_right in (False, True):
                of = [one for one, right, figure in sure if right == is_right and (figure or not figures)]
                cells.append(f"{sum(one < limit for one in of)} of {len(of)}")
        say(f"| {limit:.2f} | " + " | ".join(cells) + " |\n")


if __name__ == "__main__":
    main()
