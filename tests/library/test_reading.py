"""What of a file stands in memory while it is read: text and rows, within bounds; the rest goes to disk page by
page.
"""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pymupdf
import pytest
from library_kit import SETTINGS, library, text

from rag_core.domain.documents import Page, PageSource, WordBox
from rag_core.domain.scanned import RAPIDOCR
from rag_core.errors import LimitExceeded, MissingDependency
from rag_core.ingest.layout import Lines, Words
from rag_core.ingest.reading import ocr_engines, pdf_process
from rag_core.ingest.reading.pdf import read_pdf
from rag_core.library.indexing import reading
from rag_core.library.indexing.reading import ReadOptions
from rag_core.library.stored.collection import Collection
from rag_core.library.stored.sources import Source
from rag_core.library.stored.stored_json import page_from_json, page_to_json
from rag_core.library.stored.typed_json import to_row

READ_BY = ("2.0", 16)  # PyMuPDF's version, and that of what it reads
OPTIONS = ReadOptions("pdf", ocr=False, can_ocr=False)


def test_given_another_engine_then_only_a_pdf_with_pictures_is_read_anew_and_where_it_is_missing_one_error_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TESSDATA_PREFIX", str(tmp_path))  # nothing reads the picture
    of = library(tmp_path)
    mixed = pymupdf.open(stream=pdf(1))
    sheet = mixed.new_page()
    sheet.insert_image(sheet.rect, pixmap=mixed[0].get_pixmap())
    sources = [Source("text.pdf", pdf(1), "pdf"), Source("mixed.pdf", mixed.tobytes(), "pdf")]
    assert len(of.add(sources, SETTINGS).added) == 2
    by_rapidocr = SETTINGS.changed(ocr_engine=RAPIDOCR)

    monkeypatch.setattr(ocr_engines, "find_weights", lambda: "")
    with pytest.raises(MissingDependency, match="Reading scans by RapidOCR"):
        of.add(sources, by_rapidocr)
    # no weights are there: the page stays unread
    monkeypatch.setattr(ocr_engines, "find_weights", lambda: str(tmp_path))
    report = of.add(sources, by_rapidocr)

    assert [[one.name for one in part] for part in (report.unchanged, report.added)] == [["text.pdf"], ["mixed.pdf"]]
    assert [one.name for one in of.add(sources, SETTINGS).added] == ["mixed.pdf"]


def pdf(pages: int = 3) -> bytes:
    made = pymupdf.open()
    for number in range(pages):
        made.new_page().insert_text((72, 100), [f"Row {row} of page {number + 1}." for row in range(20)])
    return made.tobytes()


def read(
    folder: Path, data: bytes, options: ReadOptions = OPTIONS, kind: str = "pdf"
) -> tuple[reading.Reading, reading.PageKeeper]:
    collection = Collection(folder, "default")
    ((row, _),) = collection.accept([Source("a", data, kind)])  # type: ignore[arg-type]
    keeper = reading.PageKeeper(collection, collection.begin_document(row, "key", "options"))
    (folder / "data").write_bytes(data)
    with (folder / "data").open("rb") as file:
        found = reading.read(row, file, options, keeper, None, None, None)
    keeper.flush()
    return found, keeper


def test_given_a_pdf_when_read_then_the_boxes_of_its_words_stand_on_disk_alone(tmp_path: Path) -> None:
    found, keeper = read(tmp_path, pdf())
    known = json.loads(json.dumps(to_row(replace(found, pages=()))))
    again = reading.reading_from(keeper.collection, keeper.document, known)

    assert again == found
    assert [(len(page.words), len(page.lines)) for page in found.pages] == [(0, 20)] * 3
    assert all(isinstance(page.lines, Lines) for page in (*found.pages, *again.pages))
    stored = [page_from_json(*one) for one in keeper.collection.stored_pages(keeper.document)]
    assert stored == list(read_pdf(pdf(), "a.pdf").pages)
    assert all(isinstance(page.words, Words) and len(page.words) == 100 for page in stored)


def test_given_a_file_when_sent_to_the_reader_then_it_is_read_block_by_block(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    made = pymupdf.open(stream=pdf())
    made.embfile_add("attached", bytes(range(256)) * 12_000)
    path.write_bytes(made.tobytes())
    sizes = []

    class Watched(io.FileIO):
        def read(self, size: int = -1) -> bytes:
            sizes.append(size)
            return super().read(size)

    with Watched(path) as file:
        content = read_pdf(file, "a.pdf")

    assert [page.number for page in content.pages] == [1, 2, 3]
    assert 0 < min(sizes) <= max(sizes) <= pdf_process.CHUNK_BYTES


@pytest.mark.parametrize(
    ("name", "most", "says"),
    [
        ("HELD_BYTES", 4_000, "more than 0 MiB of memory (reached on page 2)"),
        ("LAYOUT_BYTES", 3_000, "on disk (reached on page"),
    ],
)
def test_given_a_file_that_takes_too_much_when_added_then_it_is_named_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, most: int, says: str
) -> None:
    monkeypatch.setattr(reading, name, most)

    report = library(tmp_path).add([Source("long.pdf", pdf(60), "pdf"), text("b", "No danger here.")], SETTINGS)

    assert [document.name for document in report.added] == ["b"]
    ((refused, error),) = report.problems
    assert (refused, error.kind) == ("long.pdf", "LimitExceeded")
    assert says in error.problem
    assert "Split" in error.remedy


@pytest.mark.parametrize(
    ("data", "says"), [(b"a\n" * 200_001, "200,001 lines"), (b"a" * 16_000_001, "16,000,001 characters")]
)
def test_given_a_text_with_too_many_lines_or_characters_then_refused(tmp_path: Path, data: bytes, says: str) -> None:
    with pytest.raises(LimitExceeded, match=says):
        read(tmp_path, data, ReadOptions("text", ocr=False, can_ocr=False), "text")


def test_given_another_version_of_pymupdf_then_the_reading_s_version_is_another_one_too() -> None:
    """Another version may read other words, so that what an earlier one read has to be read again."""
    assert (pymupdf.__version__, reading.READING_VERSION) == READ_BY, (
        "PyMuPDF's version changed: raise READING_VERSION of rag_core/library/indexing/reading.py, and write the new "
        "pair into READ_BY."
    )


def test_given_pages_of_a_scan_when_stored_then_each_word_is_as_sure_as_it_was_and_earlier_ones_are_not_known() -> None:
    words = (WordBox(0, 2, 1.0, 2.0, 3.0, 4.0, 0.913), WordBox(3, 5, 5.0, 2.0, 7.0, 4.0, 0.25))
    page = Page(1, "18 Kč", PageSource.OCR, words=words, width=595.0, height=842.0)
    earlier = replace(page, words=tuple(word._replace(sure=None) for word in words))

    assert tuple(page_from_json(*page_to_json(page)).words) == words
    assert page_from_json(page_to_json(replace(page, read_by=RAPIDOCR))[0]).read_by == RAPIDOCR
    assert tuple(page_from_json(*page_to_json(earlier)).words) == earlier.words


@pytest.mark.parametrize("sure", [None, 0.25])
def test_given_words_in_columns_when_stored_then_they_stand_on_disk_as_words_one_by_one(sure: float | None) -> None:
    one = [WordBox(0, 3, 1.5, 2.0, 3.25, 4.0, sure), WordBox(4, 9, 1e-7, 2.0, 300.125, 4.0, sure)]
    columns = Words.of(one)

    assert page_to_json(Page(1, "one three", words=columns)) == page_to_json(Page(1, "one three", words=tuple(one)))
    assert page_to_json(Page(1, "", words=Words.of([]))) == page_to_json(Page(1, ""))
    assert list(columns) == [columns[0], columns[1]] == one
    assert {type(offset) for word in columns for offset in word[:2]} == {int}
