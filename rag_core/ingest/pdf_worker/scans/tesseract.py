"""Tesseract's own library, called in this process: words of a picture with their boxes and how sure it is of each.

It knows no PDF.

MuPDF has a Tesseract inside, which tells neither; the one that is installed reads two to three times as fast as well.
It is called through its C interface (`tesseract/capi.h`), so that nothing has to be started or written: the limits of
this process hold for it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from ctypes import POINTER, c_char_p, c_float, c_int, c_void_p
from typing import Any, NamedTuple

LIBRARIES = (
    "libtesseract.so.5",
    "libtesseract.5.dylib",
    "/opt/homebrew/lib/libtesseract.5.dylib",
    "/usr/local/lib/libtesseract.5.dylib",
)
WITH_ORIENTATION = 1  # PSM_AUTO_OSD: blocks are found, and which way they stand, where data for that are installed
OSD = "osd"  # the data that tell scripts, in place of a language
# what Tesseract says of a script at least: 2.8 to 43 on pages that it told rightly, 0.2 on the one that it did not
SURE_SCRIPT = 1.0
PARAGRAPH, LINE, WORD = 1, 2, 3  # RIL_PARA, RIL_TEXTLINE, RIL_WORD
_NUMBERS = [POINTER(c_int)]

# the functions that are called: what they give, and what they take after the handle
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "TessBaseAPIInit3": (c_int, [c_char_p, c_char_p]),
    "TessBaseAPISetPageSegMode": (None, [c_int]),
    "TessBaseAPISetImage": (None, [c_char_p, c_int, c_int, c_int, c_int]),
    "TessBaseAPISetSourceResolution": (None, [c_int]),
    "TessBaseAPIRecognize": (c_int, [c_void_p]),
    "TessBaseAPIDetectOrientationScript": (
        c_int,
        [POINTER(c_int), POINTER(c_float), POINTER(c_char_p), POINTER(c_float)],
    ),
    "TessBaseAPIGetIterator": (c_void_p, []),
    "TessResultIteratorNext": (c_int, [c_int]),
    "TessResultIteratorGetUTF8Text": (c_void_p, [c_int]),
    "TessResultIteratorConfidence": (c_float, [c_int]),
    "TessResultIteratorGetPageIterator": (c_void_p, []),
    "TessResultIteratorWordFontAttributes": (c_void_p, _NUMBERS * 8),
    "TessPageIteratorBoundingBox": (c_int, [c_int, *_NUMBERS * 4]),
    "TessPageIteratorBaseline": (c_int, [c_int, *_NUMBERS * 4]),
    "TessPageIteratorOrientation": (None, [*_NUMBERS * 3, POINTER(c_float)]),
    "TessPageIteratorIsAtBeginningOf": (c_int, [c_int]),
    "TessDeleteText": (None, []),
}

Pixels = tuple[int, int, int, int]  # left, top, right, bottom


class Found(NamedTuple):
    """A word as Tesseract found it."""

    text: str  # without white space
    sure: float  # 0 to 1, as Tesseract says; what it says is no probability
    box: Pixels  # around its ink
    line: Pixels  # around the ink of its line
    base: float  # height of its baseline, the mean of both ends
    size: float  # its line's letters in pixels, from the lowest to the highest
    turn: int  # quarter turns clockwise from upright that the text was turned by
    starts: tuple[bool, bool]  # whether a paragraph and a line start with it


class NoTesseract(Exception):
    """Tesseract's library is not installed."""


class Tesseract:
    """Tesseract with its language data, started once; raises NoTesseract, or ValueError or OSError."""

    def __init__(self, languages: str, tessdata: str) -> None:
        self._library = _library()
        create = self._library.TessBaseAPICreate
        create.restype, create.argtypes = c_void_p, []
        self._handle = create()
        if self._call("TessBaseAPIInit3", self._handle, tessdata.encode(), languages.encode()):
            raise ValueError(f"Tesseract does not start with {languages}")
        self._call("TessBaseAPISetPageSegMode", self._handle, WITH_ORIENTATION)

    def read(self, grey: bytes, width: int, height: int, dpi: int) -> Iterator[Found]:
        """The words of a picture of one byte a pixel, in reading order; raises ValueError where it gives up."""
        self._call("TessBaseAPISetImage", self._handle, grey, width, height, 1, width)
        self._call("TessBaseAPISetSourceResolution", self._handle, dpi)
        if self._call("TessBaseAPIRecognize", self._handle, None):
            raise ValueError("Tesseract gave up")
        results = self._call("TessBaseAPIGetIterator", self._handle)
        page = results and self._call("TessResultIteratorGetPageIterator", results)
        more = bool(results)
        while more:
            text = self._text(results)
            if text:
                yield self._found(text, results, page, dpi)
            more = bool(self._call("TessResultIteratorNext", results, WORD))

    def script(self, grey: bytes, width: int, height: int, dpi: int) -> tuple[str, int]:
        """The script of most of a picture's letters, "" where it is not sure, and the quarter turns to set it upright.

        Of letters that lie on their side the script is often wrong. It has to be started with OSD.
        """
        self._call("TessBaseAPISetImage", self._handle, grey, width, height, 1, width)
        self._call("TessBaseAPISetSourceResolution", self._handle, dpi)
        name, turned, scores = c_char_p(), c_int(), (c_float(), c_float())
        told = [ctypes.byref(one) for one in (turned, scores[0], name, scores[1])]
        found = self._call("TessBaseAPIDetectOrientationScript", self._handle, *told)
        sure = found and scores[1].value >= SURE_SCRIPT
        return (name.value or b"").decode() if sure else "", turned.value // 90

    def _text(self, results: int) -> str:
        raw = self._call("TessResultIteratorGetUTF8Text", results, WORD)
        if not raw:
            return ""
        try:
            return "".join(ctypes.string_at(raw).decode("utf-8", "replace").split())
        finally:
            self._call("TessDeleteText", raw)

    def _found(self, text: str, results: int, page: int, dpi: int) -> Found:
        _, y0, _, y1 = self._numbers("TessPageIteratorBaseline", page, WORD)
        font = [c_int() for _ in range(8)]
        self._call("TessResultIteratorWordFontAttributes", results, *map(ctypes.byref, font))
        stands = [c_int() for _ in range(3)]
        self._call("TessPageIteratorOrientation", page, *map(ctypes.byref, stands), ctypes.byref(c_float()))
        starts = (bool(self._call("TessPageIteratorIsAtBeginningOf", page, level)) for level in (PARAGRAPH, LINE))
        return Found(
            text=text,
            sure=min(1.0, max(0.0, self._call("TessResultIteratorConfidence", results, WORD) / 100)),
            box=self._numbers("TessPageIteratorBoundingBox", page, WORD),
            line=self._numbers("TessPageIteratorBoundingBox", page, LINE),
            base=(y0 + y1) / 2,
            size=font[6].value * dpi / 72,  # the size is told in points
            turn=stands[0].value % 4,
            starts=(next(starts), next(starts)),
        )

    def _numbers(self, name: str, page: int, level: int) -> Pixels:
        found = [c_int() for _ in range(4)]
        self._call(name, page, level, *map(ctypes.byref, found))
        left, top, right, bottom = (number.value for number in found)
        return left, top, right, bottom

    def _call(self, name: str, handle: int, *others: Any) -> Any:
        return getattr(self._library, name)(handle, *others)


def _library() -> ctypes.CDLL:
    for name in LIBRARIES:
        try:
            library = ctypes.CDLL(name)
            for function, (gives, takes) in _FUNCTIONS.items():
                called = getattr(library, function)
                called.restype, called.argtypes = gives, [c_void_p, *takes]
            return library
        except AttributeError:  # another version without one of the functions
            continue
        except OSError as error:
            if "no such file" not in str(error).lower():  # it is there: memory has run out
                raise
    raise NoTesseract("its library is not installed")
