"""The engines for pictures: what is installed, what is asked of the process that reads one, and which pages go to which
engine.
"""

from __future__ import annotations

import sys
import zlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from folding import each

from rag_core.adapters.optional import APART, EXTRAS
from rag_core.domain.scanned import RAPIDOCR, TESSERACT
from rag_core.errors import MissingDependency
from rag_core.ingest.limits import DEFAULT_LIMITS
from rag_core.ingest.pdf_worker.scans import ocr
from rag_core.ingest.pdf_worker.scans.tesseract import Found, NoTesseract
from rag_core.ingest.reading import ocr_engines, pdf
from rag_core.ingest.reading.ocr_engines import can_read, most_at_once, version_of, weights_of
from rag_core.ingest.reading.recognition import Recognition

FOUND = Found("read", 0.9, (10, 10, 60, 30), (10, 10, 60, 30), 27.0, 20.0, 0, (True, True))
REQUEST = {"width": 4, "height": 3, "dpi": 200, "languages": "eng", "tessdata": "/data", "weights": "/weights"}
REQUEST |= {"page_chars": 100, "page_words": 10}


def test_given_rapidocr_is_not_installed_when_it_is_to_read_then_one_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ocr_engines, "find_spec", lambda name: None)
    monkeypatch.setattr(ocr_engines, "find_tessdata", lambda: ((), ""))

    with pytest.raises(MissingDependency, match="needs the packages rapidocr and opencv-python-headless") as caught:
        can_read(RAPIDOCR)
    assert APART["rapidocr"] in caught.value.remedy
    assert "make rapidocr" in caught.value.remedy
    assert not can_read(TESSERACT)
    assert weights_of(TESSERACT) == version_of(TESSERACT) == version_of("") == ""


@each("missing", EXTRAS["rapidocr"])
def test_given_one_of_its_packages_is_missing_then_it_is_not_installed(missing: str) -> None:
    class Spec:
        origin = "/site/rapidocr/__init__.py"

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ocr_engines, "find_spec", lambda name: None if name == missing else Spec())
        assert ocr_engines.find_weights() == ""
        patch.setattr(ocr_engines, "find_spec", lambda name: Spec())
        assert ocr_engines.find_weights() == "/site/rapidocr/models"
        assert can_read(RAPIDOCR)


def test_given_little_memory_then_fewer_pages_are_read_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr_engines, "_MEMORY", tmp_path / "meminfo")
    assert most_at_once(RAPIDOCR) >= 1  # a system that does not tell

    for kilobytes, processes in ((500 << 10, 1), ((5 << 20) - 1, 4), (5 << 20, 5)):
        (tmp_path / "meminfo").write_text(f"MemTotal: 99 kB\nMemAvailable:   {kilobytes} kB\n", encoding="ascii")
        assert most_at_once(RAPIDOCR) == processes
    assert most_at_once(TESSERACT) >= 1


class Fake(ModuleType):
    """In place of the module that needs OpenCV: one line, of which it doubts a share, and an alphabet of five
    letters.
    """

    def __init__(self, doubt: float) -> None:
        super().__init__("rapidocr")
        self.folders: list[str] = []

        class Engine:
            letters = frozenset("slowy")

            def __init__(this, folder: str) -> None:
                self.folders.append(folder)

            def lines(this, grey: bytes, width: int, height: int) -> list[str]:
                assert (len(grey), width, height) == (12, 4, 3)
                return ["a line"]

            def read(this, lines: list[str]) -> list[Found]:
                assert lines == ["a line"]
                return [FOUND]

        self.RapidOcr = Engine
        self.doubtful = lambda lines: doubt


class Tess:
    """In place of Tesseract: what it was started with, and the word that it reads."""

    def __init__(self) -> None:
        self.started: list[tuple[str, str]] = []
        self.word = FOUND._replace(text="slowly", sure=0.9)

    def __call__(self, languages: str, tessdata: str) -> Tess:
        self.started.append((languages, tessdata))
        return self

    def read(self, *_: object) -> list[Found]:
        return [self.word]


def recognised(patch: pytest.MonkeyPatch, *, doubt: float, **given: object) -> tuple[dict[str, object], Fake]:
    fake = Fake(doubt)
    patch.setitem(sys.modules, "rag_core.ingest.pdf_worker.scans.rapidocr", fake)
    return ocr.recognise({**REQUEST, **given}, zlib.compress(bytes(12))), fake


def gone(*_: object) -> None:
    raise NoTesseract


HINDI = FOUND._replace(text="योग", sure=0.9)
SLOWLY = FOUND._replace(text="slowly", sure=0.9)
NONE: dict[str, str] = {"languages": ""}


@each(
    ("doubt", "word", "given", "engine", "started"),
    [
        (ocr.SOME_DOUBT, SLOWLY, {}, RAPIDOCR, 0),
        (ocr.MOST_DOUBT + 0.01, SLOWLY, {}, TESSERACT, 1),
        # what Tesseract finds on a page of which RapidOCR doubts some says whose it is
        (0.2, SLOWLY, {}, RAPIDOCR, 1),  # bad print
        (0.2, HINDI, {}, TESSERACT, 1),  # another script
        (0.2, HINDI._replace(sure=0.6), {}, RAPIDOCR, 1),  # or what looks like one to it, which it is not sure of
        (0.2, SLOWLY._replace(turn=1), {}, TESSERACT, 1),  # on its side
        (0.2, FOUND._replace(text="1590", sure=0.9), {}, RAPIDOCR, 1),  # no letter says nothing
        (0.2, HINDI, NONE, RAPIDOCR, 0),  # there is no other
        (0.2, None, {}, RAPIDOCR, 0),
        (1.0, SLOWLY, NONE, None, 0),
        (0.0, SLOWLY, {"weights": ""}, TESSERACT, 1),
    ],
)
def test_given_a_page_and_two_engines_then_it_is_read_by_the_one_that_reads_it_best(
    doubt: float, word: Found | None, given: dict[str, object], engine: str | None, started: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        tesseract = Tess()
        tesseract.word = word or FOUND
        patch.setattr(ocr, "Tesseract", tesseract if word else gone)
        event, fake = recognised(patch, doubt=doubt, **given)

    assert tesseract.started == [("eng", "/data")] * started
    assert fake.folders == ["/weights"] * ("weights" not in given)
    if engine is None:
        assert event == {"event": "recognised", "unreadable": ocr.NOT_BY_RAPIDOCR}
    else:
        assert (event["engine"], event["text"]) == (engine, tesseract.word.text if engine == TESSERACT else "read")


PAGE = {"event": "page", "n": 1, "w": 1, "h": 1, "hidden": 0, "source": "ocr"}
PAGE |= dict.fromkeys(("text", "words", "lines", "cells", "problem"), "")


def test_given_an_event_of_a_page_then_the_engine_that_is_named_is_kept_and_no_other_name_is_taken() -> None:
    assert pdf._page({**PAGE, "engine": "rapidocr"}).read_by == RAPIDOCR
    assert pdf._page(PAGE).read_by == ""
    with pytest.raises(ValueError, match="no engine of ours"):
        pdf._page({**PAGE, "engine": "<b>other</b>"})


def test_given_another_engine_then_what_was_read_of_a_picture_before_does_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys: list[str] = []

    class Kept:
        def get(self, key: str) -> dict[str, Any]:
            keys.append(key)
            return {"event": "recognised", "unreadable": "and that is that."}

        def put(self, key: str, event: object) -> None:
            raise AssertionError("it was kept")

    for weights in ("", "/weights", "/weights"):
        request = {"languages": "eng", "tessdata": "/data", "weights": weights, "page_chars": 9, "page_words": 9}
        with Recognition(request, DEFAULT_LIMITS, Kept(), None) as recognition:
            recognition._read(b"picture", {"width": 1, "height": 1, "dpi": 200}, 1)

    assert keys[0] != keys[1] == keys[2]


def test_given_a_picture_whose_pixels_do_not_fit_then_it_is_refused_before_an_engine_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(ValueError, match="do not fit"):
        recognised(monkeypatch, doubt=0.0, width=5)
