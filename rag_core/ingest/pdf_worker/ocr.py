"""Reads the text of a page's picture with the Tesseract that is built into MuPDF. It knows nothing of rows or hidden text.

Recognition runs inside this process (only the language data come from an installed Tesseract), so the process's limits hold for it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

DPI = 200  # enough for 8-pt print; Tesseract's own advice is 300, at about twice the time
LOWEST_DPI = 70  # below it the letters of ordinary print are under 7 pixels high, and what comes out is noise


class Unreadable(Exception):
    """The picture could not be read; the message says why, as the end of a sentence that begins "This page is a picture"."""


@dataclass
class Reader:
    """Reads pictures until `seconds` of recognition are spent. `languages`: Tesseract's codes joined by "+", "" without Tesseract."""

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
        except (RuntimeError, ValueError) as error:
            raise Unreadable("and text recognition failed on it.") from error
        finally:
            self.spent += time.monotonic() - started
            self.allow_cpu(min(self.spent, self.seconds))

    def _dpi(self, page: Any) -> int:
        if not self.enabled:
            raise Unreadable("and reading pictures is switched off.")
        if not self.languages:
            raise Unreadable("and no text recognition (Tesseract) is installed.")
        if self.spent >= self.seconds:
            raise Unreadable(f"and the {self.seconds:g} s allowed for reading pictures in one file are spent.")
        dpi = min(DPI, int(72 * math.sqrt(self.max_pixels / max(1.0, page.rect.width * page.rect.height))))
        if dpi < LOWEST_DPI:
            raise Unreadable(f"and too large to be read with {self.max_pixels:,} pixels.")
        return dpi
