"""Draws a page as a picture to be read, and reads the text of such a picture by the engine that is asked for.

It knows no hidden text.

Both are done by different processes: the one that has opened the PDF draws; another, that never sees the PDF, reads one
picture and ends. So a picture on which an engine hangs, crashes or takes all memory costs that page alone.
`ingest.reading.recognition` is between them.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

import base64
import math
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..rows import build, packed
from ..words import CELL_GAP_EM, EVEN_EM, Rect, Run, Word
from .tesseract import OSD, Found, NoTesseract, Tesseract

DPI = 200  # enough for 8-pt print; docs/scans.md has what 150 and 300 give
LOWEST_DPI = 70  # below it the letters of ordinary print are under 7 pixels high, and what comes out is noise
DRAWING_S = 2.0  # CPU that one page may take to be drawn: a scan in JPEG 2000 takes up to a second

# the end of a sentence that begins "This page is a picture"
NOT_BY_RAPIDOCR = (
    "and RapidOCR cannot read it: it has no text, is in a script that RapidOCR does not know, or does not stand "
    "upright. Tesseract reads "
    "such pages, and no language data of Tesseract that fit it are installed."
)
NO_LIBRARY = "and the library of Tesseract (libtesseract.so.5) is not installed."
# Shares of a page's letters that RapidOCR doubts (docs/scans.md has the measurement): beyond the first Tesseract reads
# the page too, beyond the second alone.
SOME_DOUBT, MOST_DOUBT = 0.005, 0.50
# a word that Tesseract is sure of, and the share of letters that RapidOCR does not know; chosen
SURE_WORD, FOREIGN = 0.70, 0.01
MIN_BULLETS = 3  # one below the other; chosen
INK = 128  # grey levels below it are letters and not paper; chosen
ABOVE, BELOW = 0.78, 0.22  # shares of a line's height, from its baseline: what ordinary fonts have
_SMALL_SIGN = re.compile(r"[^\dA-Z]{1,2}")
_STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1))  # the reading direction by quarter turns clockwise


class Reading(NamedTuple):
    """The lines of a page, and which engine read them."""

    runs: list[Run]
    engine: str

    @property
    def words(self) -> list[tuple[Word, Run]]:
        return [(word, run) for run in self.runs for word in run.words]


class Unreadable(Exception):
    """The picture cannot be read; the message ends a sentence that begins "This page is a picture"."""


@dataclass
class Drawer:
    """Draws pages that are to be read: whether they are, and how large, the `request` of the child's parent says.

    `allow_cpu` is told how many more seconds of CPU the process may take.
    """

    request: Mapping[str, Any]
    allow_cpu: Callable[[float], None]

    def draw(self, page: Any, known: Sequence[Rect] = ()) -> dict[str, object]:
        """The page in grey: `zip` (base64 of packed pixels, a byte each, row by row), `width`, `height` and `dpi`.

        Where words are `known` already, in points, it is left white.

        Raises:
            Unreadable: it cannot be read, with the reason.
        """
        dpi = self._dpi(page)
        self.allow_cpu(DRAWING_S)
        import pymupdf  # here, as the process that reads pictures has no use for it

        picture = page.get_pixmap(dpi=dpi, colorspace=pymupdf.csGRAY, alpha=False)
        for box in known:
            picture.clear_with(255, (pymupdf.Rect(box) * (dpi / 72)).irect & picture.irect)
        small = zlib.compress(picture.samples, 1)  # a page of print to a tenth
        packed_pixels = base64.b64encode(small).decode("ascii")
        return {"zip": packed_pixels, "width": picture.width, "height": picture.height, "dpi": dpi}

    def _dpi(self, page: Any) -> int:
        if not self.request["ocr"]:
            raise Unreadable("and reading pictures is switched off.")
        if not (self.request["languages"] or self.request["weights"]):
            raise Unreadable("and no language data of Tesseract are installed.")
        pixels = self.request["pixels"]
        dpi = min(DPI, int(72 * math.sqrt(pixels / max(1.0, page.rect.width * page.rect.height))))
        if dpi < LOWEST_DPI:
            raise Unreadable(f"and too large to be read with {pixels:,} pixels.")
        return dpi


def recognise(request: dict[str, Any], data: bytes) -> dict[str, object]:
    """The event `recognised`: text and layout of a picture, as those of a page. `data` are its packed pixels.

    Each word's seventh number says how sure the engine is of it, from 0 to 1. With `weights` RapidOCR reads it, and
    Tesseract what RapidOCR cannot.

    Raises:
        ValueError: the pixels are not those of such a picture, or the engine gave up on it.
    """
    found = _read(_unpacked(request, data), request)
    if found is None:
        return {"event": "recognised", "unreadable": NOT_BY_RAPIDOCR if request["weights"] else NO_LIBRARY}
    read = build(with_bullets(found.runs), request["page_chars"], request["page_words"])
    for word in read.words:  # signs of empty cells, which the engine did not read
        word[6] = abs(word[6])
    said = {"text": read.text, "problem": read.problem, "engine": found.engine}
    return {"event": "recognised", **said, **packed(read.words, read.lines)}


def with_bullets(runs: list[Run]) -> list[Run]:
    """The runs, with bullets for the small signs that stand apart from the words of several rows, one below the other.

    An engine takes a bullet for "e", "©" or "*", and mostly for the same one more than once.
    """
    first = {
        at: run.words[0]
        for at, run in enumerate(runs)
        if len(run.words) > 1 and _SMALL_SIGN.fullmatch(run.words[0].text)
        if run.words[1].box[0] - run.words[0].box[2] > CELL_GAP_EM * run.words[1].size
    }
    found = list(runs)
    for at, sign in first.items():
        column = [one.text for one in first.values() if abs(one.box[0] - sign.box[0]) <= EVEN_EM * sign.size]
        if len(column) >= MIN_BULLETS and len(set(column)) < len(column):
            found[at] = runs[at]._replace(words=[sign._replace(text="•"), *runs[at].words[1:]])
    return found


def look(request: dict[str, Any], data: bytes) -> dict[str, object]:
    """The event `looked`: the script of a picture, and some of its text, for its language; both "" where not found.

    `languages` are those to read it with by the script, with "" where none was found. Of a page whose script was, its
    middle is read, as that says the language; raises as `recognise`.
    """
    grey, width, height = _unpacked(request, data), request["width"], request["height"]
    try:
        engine = Tesseract(OSD, request["tessdata"])
        script, turns = engine.script(grey, width, height, request["dpi"])
        for _ in range(turns):  # clockwise
            grey = b"".join(grey[column::width][::-1] for column in range(width))
            width, height = height, width
        if turns:
            script, _ = engine.script(grey, width, height, request["dpi"])
    except (NoTesseract, ValueError):  # the library, or its data for scripts, are not installed
        script = ""
    if languages := request["languages"].get(script):
        first, last = _middle(grey, width, height) if script else (0, height)
        part = {**request, "languages": languages, "width": width, "height": last - first}
        read = _read_by_tesseract(grey[first * width : last * width], part)
        words = read.words if read else []
        sure = [word.text for word, _ in words if script or word.sure >= SURE_WORD]
        return {"event": "looked", "script": script, "text": " ".join(sure)}
    return {"event": "looked", "script": script, "text": ""}


def _middle(grey: bytes, width: int, height: int) -> tuple[int, int]:
    """The middle third of the rows of pixels that have ink; of a short text all of them."""
    inked = [row for row in range(height) if min(grey[row * width : (row + 1) * width]) < INK]
    third = len(inked) // 3 if len(inked) > height // 2 else 0
    return (inked[third], inked[-third - 1] + 1) if inked else (0, height)


def _unpacked(request: dict[str, Any], data: bytes) -> bytes:
    pixels = request["width"] * request["height"]
    unpacking = zlib.decompressobj()
    grey = unpacking.decompress(data, pixels)
    if len(grey) != pixels or unpacking.unconsumed_tail:
        raise ValueError("the pixels do not fit the picture")
    return grey


def _read(grey: bytes, request: dict[str, Any]) -> Reading | None:
    """The page by the engine that reads it best; None where only Tesseract could read it, and it is not installed.

    Where RapidOCR doubts some of a page, what Tesseract reads says whether the script is one that RapidOCR does not
    know, or the page is turned. If neither, RapidOCR's reading stands: of bad print Tesseract reads less.
    """
    if not request["weights"]:
        return _read_by_tesseract(grey, request)
    from .rapidocr import RapidOcr, doubtful

    engine = RapidOcr(request["weights"])
    lines = engine.lines(grey, request["width"], request["height"])
    doubt = doubtful(lines)
    other = _read_by_tesseract(grey, request) if doubt > SOME_DOUBT and request["languages"] else None
    if doubt > MOST_DOUBT or (other is not None and _is_for_tesseract(other, engine.letters)):
        return other
    return Reading(_runs(engine.read(lines), 72 / request["dpi"]), "rapidocr")


def _is_for_tesseract(read: Reading, known: Set[str]) -> bool:
    """Whether Tesseract read, and was sure of, letters that RapidOCR does not know, or found the page turned."""
    sure = [(word.text, run.direction) for word, run in read.words if word.sure >= SURE_WORD]
    letters = [sign for text, _ in sure for sign in text if sign.isalpha()]
    unknown = sum(sign not in known for sign in letters)
    return unknown > FOREIGN * len(letters) or 2 * sum(direction != (1, 0) for _, direction in sure) > len(sure) > 0


def _read_by_tesseract(grey: bytes, request: dict[str, Any]) -> Reading | None:
    try:
        engine = Tesseract(request["languages"], request["tessdata"])
    except NoTesseract:
        return None
    found = engine.read(grey, request["width"], request["height"], request["dpi"])
    return Reading(_runs(found, 72 / request["dpi"]), "tesseract")


def _runs(found: Iterable[Found], points: float) -> list[Run]:
    """The lines of the engine's words. `points` is the width of a pixel; the order of the words stays."""
    runs: list[Run] = []
    block = 0
    for one in found:
        block += one.starts[0]
        if one.starts[1] or not runs:
            runs.append(Run([], block, _STEPS[one.turn]))
        box = tuple(edge * points for edge in _as_high_as_its_line(one))
        size = round(one.size * points, 1)
        runs[-1].words.append(Word(one.text, box, size, bold=False, mono=False, sure=round(one.sure, 3)))  # type: ignore[arg-type]
    return runs


def _as_high_as_its_line(one: Found) -> Rect:
    """The box of a word, as high as any of its line: rows are told by heights, and a full stop has hardly any.

    On an upright page by the word's own baseline, since the lines of a skewed scan run across each other.
    """
    left, top, right, bottom = one.box
    if one.turn == 0:
        return left, min(top, one.base - ABOVE * one.size), right, max(bottom, one.base + BELOW * one.size)
    if one.turn == 2:
        return left, min(top, one.line[1]), right, max(bottom, one.line[3])
    return min(left, one.line[0]), top, max(right, one.line[2]), bottom
