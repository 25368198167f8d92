"""What a user hands in: files, folders, .jsonl lines, and their metadata."""

from __future__ import annotations

import json

import pymupdf
import pytest
from folding import each
from hypothesis import given
from hypothesis import strategies as st
from library_kit import SETTINGS, library

from rag_core.domain.documents import Metadata
from rag_core.errors import IngestError, InvalidInput
from rag_core.library.stored.sources import Source, sources_from, text_source


def kinds(items):
    return [item.name if isinstance(item, Source) else item.kind for item in items]


def test_given_files_and_folders_then_all_that_can_be_read_comes_sorted_and_the_rest_is_named(tmp_path):
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    for name in ("b.pdf", "deep/a.PDF", "._b.pdf", "notes.txt", "deep/Letter.DOCX", "picture.png"):
        (folder / name).write_bytes(b"%PDF-")
    (tmp_path / "x.md").write_text("# Title", encoding="utf-8")
    (tmp_path / "x.odt").write_bytes(b"PK")
    (tmp_path / "empty").mkdir()

    found = list(
        sources_from([folder, tmp_path / "x.md", tmp_path / "x.odt", tmp_path / "gone.pdf", tmp_path / "empty"])
    )

    assert kinds(found) == [
        "b.pdf",
        "Letter.DOCX",
        "a.PDF",
        "notes.txt",
        "x.md",
        "NotAPdf",
        "IngestError",
        "IngestError",
    ]
    assert [item.kind for item in found[:5]] == ["pdf", "pdf", "pdf", "text", "text"]
    assert all(item.problem and item.remedy for item in found[5:])
    assert "gone.pdf" in found[6].problem


def test_given_bad_lines_in_a_jsonl_file_then_each_is_a_problem_and_the_good_ones_go_on(tmp_path):
    path = tmp_path / "docs.jsonl"
    lines = [
        b'{"id": "one", "title": "First", "lang": "en", "text": "Text one.\\n Two  blanks."}',
        b"not json",
        b"",
        b'["a list"]',
        b'{"text": "no id"}',
        b'{"id": "no text"}',
        b'{"id": "x", "text": "y", "title": 3}',
        b"[" * 100_000,
        b'{"id": 7, "text": "\\ud800 lone"}',
        b'\xff\xfe{"id"',
    ]
    path.write_bytes(b"\n".join(lines))

    found = list(sources_from([path]))

    assert kinds(found) == ["one", *["IngestError"] * 6, "7", "IngestError"]
    assert [item.problem.split(" ", 3)[:3] for item in found if isinstance(item, IngestError)] == [
        ["docs.jsonl", "line", str(number)] for number in (2, 4, 5, 6, 7, 8, 10)
    ]
    first, second = (item for item in found if isinstance(item, Source))
    assert first.data.decode() == "Text one.\n Two  blanks."
    assert (first.id, first.language, first.metadata.title) == ("one", "en", "First")
    assert second.data.decode() == "\ufffd lone"


@given(id=st.text(min_size=1), other=st.text(min_size=1), body=st.text(min_size=1))
def test_equal_texts_under_different_ids_are_two_documents_and_equal_ids_and_texts_are_one(id, other, body):
    one, same, two = (
        text_source(id, body, id=id),
        text_source("renamed", body, id=id),
        text_source(other, body, id=other),
    )

    assert one.digest == same.digest
    assert (one.digest == two.digest) == (one.id == two.id)
    assert one.digest != text_source(id, body).digest


@given(st.dictionaries(st.text(), st.text()))
def test_any_json_line_becomes_a_source_or_a_problem(row):
    from rag_core.library.stored.sources import _record

    found = _record(json.dumps(row).encode(), "a line")

    assert isinstance(found, Source) == bool(str(row.get("id", "")).strip() and row.get("text", "").strip())


def test_given_metadata_as_text_when_described_then_fields_are_typed_and_free_keys_kept():
    """S3-28, S2-27: date, authority and verified are fields; class and subject are free keys."""
    source = Source("a.pdf", b"", "pdf").described(
        {"title": "T", "date": "2024-02-29", "authority": "0.5", "verified": "Yes", "class": "10", "subject": "maths"},
        "secret",
    )

    assert source.metadata == Metadata("T", "2024-02-29", 0.5, True, {"class": "10", "subject": "maths"})
    assert source.password == "secret"
    assert "secret" not in repr(source)


@each(
    "pair",
    [
        ("date", "29. 2. 2024"),
        ("date", "2023-02-29"),
        ("date", "2024-1"),
        ("authority", "highest"),
        ("authority", "1.1"),
        ("authority", "nan"),
        ("verified", "maybe"),
    ],
)
def test_given_metadata_that_cannot_be_when_described_then_the_remedy_says_what_can(pair):
    with pytest.raises(InvalidInput) as caught:
        Source("a.pdf", b"", "pdf").described(dict([pair]))
    assert pair[1] in caught.value.problem
    assert caught.value.remedy.startswith("Give ")


def test_given_a_scan_that_cannot_be_read_when_indexed_then_the_remedy_is_that_of_its_reason(tmp_path, monkeypatch):
    """Nobody is told to install what is installed."""
    picture = pymupdf.open()
    picture.new_page().insert_text((72, 100), "The quick brown fox.", fontsize=14)
    scan = pymupdf.open()
    page = scan.new_page()
    page.insert_image(page.rect, pixmap=picture[0].get_pixmap(dpi=100))
    source = Source("scan.pdf", scan.tobytes(deflate=True), "pdf")

    def remedy(**changes):
        ((_, error),) = library(tmp_path).add([source], SETTINGS.changed(**changes)).problems
        return error.problem, error.remedy

    problem, off = remedy(ocr=False)
    monkeypatch.setenv("TESSDATA_PREFIX", str(tmp_path))
    _, none = remedy()
    (tmp_path / "eng.traineddata").write_bytes(b"no data that Tesseract could use")
    failing, every = remedy()

    assert (
        "None of the 1 pages has text. Page 1: This page is a picture and reading pictures is switched off." in problem
    )
    assert "setting `ocr`" in off
    assert "tesseract-ocr-eng tesseract-ocr-ces tesseract-ocr-deu tesseract-ocr-hin" in none
    assert "text recognition" in failing
    assert "Tesseract" not in every
