"""Scans read by the real weights of RapidOCR: what is right and where it stands, what is left to Tesseract, what its
process may not do.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pymupdf
import pytest
from test_scans import picture_of, require_words
from traced import bare_environment, needs_strace, read_trace, under_strace

from rag_core.domain.documents import Page, PageSource
from rag_core.domain.scanned import RAPIDOCR, TESSERACT
from rag_core.ingest.limits import Limits
from rag_core.ingest.reading.ocr_engines import find_tessdata, find_weights
from rag_core.ingest.reading.pdf import read_pdf
from rag_core.ingest.reading.recognition import Recognition
from rag_core.library.indexing.reading import RecognisedPages
from rag_core.library.stored.collection import Collection
from rag_core.library.stored.sources import Source

ROOT = Path(__file__).resolve().parents[2]
LESS_MEMORY = 700 << 20  # bytes of address space: enough for a small picture, too little for a page at 200 dots an inch

pytestmark = [
    pytest.mark.rapidocr,
    pytest.mark.skipif(not find_weights(), reason="the packages of `make rapidocr` are not installed"),
]
needs_tesseract = pytest.mark.skipif(not find_tessdata()[0], reason="no Tesseract language data found")


def read(data: bytes, **given: object) -> Page:
    return read_pdf(data, "scan.pdf", ocr_engine=RAPIDOCR, **given).pages[0]  # type: ignore[arg-type]


@pytest.mark.longest
def test_given_a_scan_when_read_then_its_words_are_right_stand_where_they_are_and_say_how_sure_they_are() -> None:
    data, true = picture_of("smlouva-o-dodavce.pdf", 2)

    page = read(data)

    assert (page.source, page.read_by, page.problem) == (PageSource.OCR, RAPIDOCR, "")
    require_words(page, true, 0.98, slack=2)


@needs_tesseract
@pytest.mark.longest
def test_given_a_page_in_a_script_that_it_does_not_know_or_that_stands_on_its_head_then_it_is_read_as_tesseract_reads_it() -> (  # noqa: E501
    None
):
    for data in (picture_of("samantar-shreni.pdf", 1)[0], small("Read by Tesseract alone.", turn=180)):
        page = read(data)

        assert page.read_by == TESSERACT
        assert page == read_pdf(data, "scan.pdf", ocr_engine=TESSERACT).pages[0]


def test_given_no_tesseract_when_read_then_its_page_is_read_and_one_on_its_head_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TESSDATA_PREFIX", str(tmp_path))
    both = pymupdf.open(stream=small("Read by RapidOCR alone."))
    both.insert_pdf(pymupdf.open(stream=small("Read by RapidOCR alone.", turn=180)))

    content = read_pdf(both.tobytes(), "scan.pdf", ocr_engine=RAPIDOCR)

    assert [(page.text, page.source) for page in content.pages] == [
        ("Read by RapidOCR alone.", PageSource.OCR),
        ("", PageSource.UNREADABLE),
    ]
    assert "RapidOCR cannot read it" in content.pages[1].problem


def small(text: str, turn: int = 0) -> bytes:
    """A page with one row of print, as a scan."""
    drawn = pymupdf.open()
    sheet = drawn.new_page(width=300, height=200)
    sheet.insert_text((30, 60), text, fontsize=14)
    made = pymupdf.open()
    page = made.new_page(width=300, height=200)
    page.insert_image(page.rect, pixmap=sheet.get_pixmap(dpi=200, colorspace=pymupdf.csGRAY), rotate=turn)
    return made.tobytes()


def test_given_a_page_that_takes_more_memory_or_time_than_allowed_then_it_says_so_and_the_others_are_read() -> None:
    made = pymupdf.open(stream=picture_of("smlouva-o-dodavce.pdf", 2)[0])
    made.insert_pdf(pymupdf.open(stream=small("Small enough.")))

    for limits in (Limits(memory_bytes=LESS_MEMORY), Limits(ocr_seconds_per_page=3)):
        content = read_pdf(made.tobytes(), "scan.pdf", ocr_engine=RAPIDOCR, limits=limits)
        assert [page.source for page in content.pages] == [PageSource.UNREADABLE, PageSource.OCR], limits
        assert "text recognition failed on it" in content.problems[0]


def test_given_a_reading_that_was_stopped_then_it_goes_on_where_it_was_and_not_by_tesseract(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = small("Once is enough.")
    kept = Collection(tmp_path, "default")
    ((row, _),) = kept.accept([Source("scan.pdf", data, "pdf")])
    first = read(data, recognised=RecognisedPages(kept, row.digest))

    again = RecognisedPages(Collection(tmp_path, "default"), row.digest)
    monkeypatch.setattr(Recognition, "_recognised", lambda *_: pytest.fail("it was read again"))
    assert read(data, recognised=again) == first
    monkeypatch.undo()
    assert read_pdf(data, "scan.pdf", recognised=again).pages[0].read_by != RAPIDOCR


def test_given_weights_that_are_no_network_then_the_page_could_not_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rag_core.ingest.reading import ocr_engines

    for name in ("PP-OCRv6_det_small.onnx", "PP-OCRv6_rec_small.onnx"):
        (tmp_path / name).write_bytes(b"\x00" * 64)
    monkeypatch.setattr(ocr_engines, "find_weights", lambda: str(tmp_path))

    assert read(small("Never read.")).source is PageSource.UNREADABLE


@needs_strace
@pytest.mark.tracer
def test_given_a_scan_when_indexed_then_no_process_looks_up_a_name_opens_a_socket_or_writes_elsewhere(
    tmp_path: Path,
) -> None:
    (tmp_path / "scan.pdf").write_bytes(small("Nothing of this sentence leaves."))
    trace, library, home, temporary = (tmp_path / name for name in ("trace", "library", "home", "tmp"))
    command = [sys.executable, "-m", "rag_core", "index", str(tmp_path / "scan.pdf"), "--library", str(library)]

    run = subprocess.run(
        [*under_strace(trace), *command, "--set", "ocr_engine=rapidocr"],
        cwd=ROOT,
        env=bare_environment(home, temporary),
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stderr
    assert "1 page by OCR, 1 of them by RapidOCR" in listed(library)
    seen = read_trace(trace)
    assert (seen.spoken_to, seen.families, seen.outside(library, temporary), list(home.iterdir())) == (
        (),
        frozenset(),
        set(),
        [],
    )


def listed(library: Path) -> str:
    command = [sys.executable, "-m", "rag_core", "documents", "--library", str(library)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_nothing_of_rapidocrs_own_program_and_no_onnx_runtime_is_loaded() -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import pdf_worker.scans.rapidocr; print(*sorted(sys.modules))"
    )
    command = [sys.executable, "-I", "-c", program, str(ROOT / "rag_core" / "ingest")]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()

    assert "cv2" in loaded
    assert {"rapidocr", "onnxruntime", "torch", "requests", "omegaconf"}.isdisjoint(loaded)
    assert find_spec("onnxruntime") is None or "onnxruntime" not in loaded


def test_given_any_line_when_its_words_are_parted_then_each_has_its_ink() -> None:
    from rag_core.ingest.pdf_worker.scans.lines import Letters
    from rag_core.ingest.pdf_worker.scans.rapidocr import spans

    ink = np.array([0, 0, 1, 1, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0], bool)  # two letters, white, one letter
    words = [Letters("ab", (1.0, 1.0), 2.5 / 16, 5.5 / 16), Letters("c", (1.0,), 12.5 / 16, 12.5 / 16)]

    assert spans(ink, words) == [(2, 7), (11, 14)]
    assert spans(np.zeros(16, bool), words) == [(0, 5), (12, 16)]  # pale print: the places that the network said


def test_given_pale_print_then_it_is_drawn_in_contrast_and_no_other_picture_is_changed() -> None:
    from rag_core.ingest.pdf_worker.scans.rapidocr import in_contrast

    pale, print_, blank = (np.full((100, 100), paper, np.uint8) for paper in (210, 255, 250))
    for grey, ink in ((pale, 150), (print_, 0), (blank, 240)):
        grey[40:60, 40:60] = ink

    assert np.unique(in_contrast(pale)[45:55, 45:55]).tolist() == [0]
    assert in_contrast(pale)[0, 0] == 255
    assert np.array_equal(in_contrast(print_), print_)
    assert np.array_equal(in_contrast(blank), blank)  # the grain of paper is no print


def test_given_lines_that_are_nearly_as_large_then_they_are_set_in_one_size_and_a_heading_in_another() -> None:
    from rag_core.ingest.pdf_worker.scans.rapidocr import set_in

    assert set_in([10.0, 12.2, 9.9, 10.1, 12.0], [50, 10, 40, 60, 12]) == [10.0, 12.0, 10.0, 10.0, 12.0]
    assert set_in([], []) == []


def test_given_a_page_that_lies_askew_then_its_headings_are_larger_than_its_text_which_is_of_one_size() -> None:
    drawn = pymupdf.open()
    sheet = drawn.new_page(width=300, height=160)
    sheet.insert_text((20, 40), "4 Holidays and leave", fontsize=12)
    sheet.insert_text(
        (20, 60), ["Every employee has twenty days of leave", "in a year, and gives notice of a month."], fontsize=10
    )
    made = pymupdf.open()
    page = made.new_page(width=300, height=160)
    page.insert_image(
        page.rect,
        pixmap=sheet.get_pixmap(matrix=pymupdf.Matrix(200 / 72, 200 / 72).prerotate(1), colorspace=pymupdf.csGRAY),
    )

    heading, *text = read(made.tobytes()).lines

    assert [line.size for line in text] == [text[0].size] * 2
    assert 9 < text[0].size < 11
    assert 1.1 < heading.size / text[0].size < 1.3
    assert heading.block != text[0].block == text[1].block
