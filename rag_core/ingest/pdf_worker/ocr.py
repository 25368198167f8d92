"""Reads the text of a page's picture with the Tesseract that is built into MuPDF. It knows nothing of rows or hidden text.

Recognition runs inside this process (only the language data come from an installed Tesseract), so the process's limits hold for it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

DPI = 200  # enough for 8-pt print; Tesseract's own advice is 300, at about twice the time
LOWEST_DPI = 70  # below it the letters of ordinary print are under 7 pixels high, and what comes out is noise


WORD_GAP_EM = 0.1  # recognised letters of one word touch; words stand at least 0.15 em apart


class Unreadable(Exception):
    """The picture could not be read; the message says why, as the end of a sentence that begins "This page is a picture"."""


@dataclass
class Reader:
    """Reads pictures until `seconds` of recognition are spent. `languages`: Tesseract's codes joined by "+", or ""."""

    languages: str
    tessdata: str
    seconds: float
    max_pixels: int
    enabled: bool
    allow_cpu: Callable[[float], None]  # told how much CPU time recognition may use in all
    spent: float = 0.0

    def read(self, page: Any, flags: int) -> Any:
        """A text page with the words of the page's picture.

        Raises:
            Unreadable: it cannot be done, with the reason.
        """
        dpi = self._dpi(page)
        self.allow_cpu(self.seconds)
        started = time.monotonic()
        try:
            return page.get_textpage_ocr(flags=flags, language=self.languages, dpi=dpi, full=True, tessdata=self.tessdata)
        except Exception as error:  # MuPDF has no common class for what it raises; whatever it is, this page stays unread and says so
            raise Unreadable("and text recognition failed on it.") from error
        finally:
            self.spent += time.monotonic() - started
            self.allow_cpu(min(self.spent, self.seconds))

    def _dpi(self, page: Any) -> int:
        if not self.enabled:
            raise Unreadable("and reading pictures is switched off.")
        if not self.languages:
            raise Unreadable("and no language data of Tesseract are installed.")
        if self.spent >= self.seconds:
            raise Unreadable(f"and the {self.seconds:g} s allowed for reading pictures in one file are spent.")
        dpi = min(DPI, int(72 * math.sqrt(self.max_pixels / max(1.0, page.rect.width * page.rect.height))))
        if dpi < LOWEST_DPI:
            raise Unreadable(f"and too large to be read with {self.max_pixels:,} pixels.")
        return dpi


def words_of(text_page: Any) -> Iterator[tuple[float, float, float, float, str, int, int]]:
    """The words of a recognised page, as MuPDF's own list of words has them: x0, y0, x1, y1, text, block, line.

    MuPDF's list loses the spaces of Devanagari ("अवधिचौबीसमाह"), because Tesseract's text layer has gaps instead of blanks and MuPDF
    expects none in that script. Here a gap parts words in every script.
    """
    for block in text_page.extractRAWDICT()["blocks"]:
        for index, line in enumerate(block.get("lines", ())):
            place = block["number"], index
            letters: list[Any] = []
            for letter, size in ((letter, span["size"]) for span in line["spans"] for letter in span["chars"]):
                blank = letter["c"].isspace()
                if letters and (blank or letter["bbox"][0] - letters[-1]["bbox"][2] > WORD_GAP_EM * size):
                    yield _word(letters, place)
                    letters = []
                if not blank:
                    letters.append(letter)
            if letters:
                yield _word(letters, place)


def _word(letters: list[Any], place: tuple[int, int]) -> tuple[float, float, float, float, str, int, int]:
    boxes = [letter["bbox"] for letter in letters]
    top, bottom = min(box[1] for box in boxes), max(box[3] for box in boxes)
    return boxes[0][0], top, boxes[-1][2], bottom, "".join(letter["c"] for letter in letters), *place
