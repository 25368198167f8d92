"""A stored file that was changed: nothing is read from it, it is told, and the right bytes take its place when they
come.
"""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest
from library_kit import SETTINGS, check_whole, found, library, rebuilt, text

from rag_core.errors import LibraryDamaged, StoredFileDamaged
from rag_core.library.library import Library
from rag_core.library.stored.sources import Source

GOOD = "The notice period is 28 days."


def pdf(body: str) -> bytes:
    """One page, whose words stand in the file as they are."""
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 72), "x")
    document.update_stream(page.get_contents()[0], f"BT /helv 11 Tf 72 700 Td ({body}) Tj ET".encode(), compress=False)
    return document.tobytes(no_new_id=True)


def sources() -> list[Source]:
    return [Source("notice.pdf", pdf(GOOD), "pdf"), text("note", GOOD, language="en")]


def lie(folder: Path, id: str) -> None:
    """Change one byte of the stored file: the size stays, the notice period does not."""
    path = folder / "default/sources" / id.removeprefix("sha256:")
    data = path.read_bytes()
    assert b"28 days" in data
    path.write_bytes(data.replace(b"28 days", b"38 days"))


def bodies(opened: Library) -> str:
    return " ".join(passage.text for passage in opened.snapshot.passages)


@pytest.mark.parametrize("number", [0, 1], ids=["pdf", "text with an id of the caller"])
def test_given_a_changed_stored_file_then_it_is_told_never_read_and_healed_by_the_right_bytes(tmp_path, number):
    source = sources()[number]
    opened = library(tmp_path)
    (document,) = opened.add([source], SETTINGS).added
    lie(tmp_path, document.id)

    for read in (opened.verify, lambda: opened.source(document.id)):
        with pytest.raises(LibraryDamaged, match="changed"):
            read()
    # neither its pages nor its passages can be used again
    hidden = SETTINGS.changed(ocr=not SETTINGS.ocr, passage_tokens=64)
    assert [type(error) for _, error in opened.reread([document.id], hidden).problems] == [StoredFileDamaged]
    anew, report = rebuilt(tmp_path, "other@float32", hidden)
    assert [(name, error.remedy) for name, error in report.problems] == [(source.name, "Add the file again.")]
    assert "38" not in bodies(anew)

    anew.add([source], hidden)

    assert bodies(anew).strip() == GOOD
    assert anew.source(document.id) == source.data
    check_whole(anew)


def test_given_a_changed_stored_file_when_rebuilt_alike_then_its_pages_are_kept_and_it_is_told(tmp_path):
    (document,) = library(tmp_path).add(sources()[:1], SETTINGS).added
    lie(tmp_path, document.id)

    for model in ("hash@float32", "other@float32"):
        anew, report = rebuilt(tmp_path, model)
        assert [type(error) for _, error in report.problems] == [StoredFileDamaged]
        assert [kept.id for kept in (*report.added, *report.unchanged)] == [document.id]
        assert bodies(anew).strip() == GOOD
    with pytest.raises(LibraryDamaged):
        anew.verify()
    assert [kept.id for kept in anew.add(sources()[:1], SETTINGS).unchanged] == [document.id]
    anew.verify()


@pytest.mark.parametrize("number", [0, 1], ids=["pdf", "text with an id of the caller"])
def test_given_an_unfinished_file_that_was_changed_when_resumed_then_nothing_is_indexed_from_it(tmp_path, number):
    source = sources()[number]
    opened = library(tmp_path)
    opened.add([source], SETTINGS, cancelled=lambda: bool(opened.unfinished()))
    lie(tmp_path, opened.unfinished()[0].id)

    report = opened.resume(SETTINGS)

    assert [type(error) for _, error in report.problems] == [StoredFileDamaged]
    assert opened.snapshot.documents == ()
    opened.add([source], SETTINGS)
    assert bodies(opened).strip() == GOOD
    check_whole(opened)


def test_given_a_file_that_is_stored_already_when_added_again_then_it_is_not_written_again(tmp_path):
    opened = library(tmp_path)
    (document,) = opened.add(sources()[:1], SETTINGS).added
    path = tmp_path / "default/sources" / document.id.removeprefix("sha256:")
    before = path.stat().st_ino

    opened.add(sources()[:1], SETTINGS)

    assert path.stat().st_ino == before
    assert found(opened, "notice period") == [document.id]
