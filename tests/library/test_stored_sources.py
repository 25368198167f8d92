"""A stored file that was changed: nothing is read from it, it is told, and the right bytes take its place when they come."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pymupdf
import pytest
from library_kit import SETTINGS, HashEmbedder, check_whole, found, library, text

from rag_core.adapters.index.bm25 import Bm25Store
from rag_core.adapters.index.flat import FaissStore
from rag_core.errors import LibraryDamaged, StoredFileDamaged
from rag_core.library.disk.files import stamp
from rag_core.library.library import Library
from rag_core.library.stored import stored_sources
from rag_core.library.stored.inbox import Accepted
from rag_core.library.stored.sources import Source

PORTS = {"vectors": FaissStore(16), "lexical": Bm25Store()}
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
def test_given_a_stored_file_that_was_changed_then_it_is_told_never_read_and_healed_by_the_right_bytes(tmp_path, number):
    source = sources()[number]
    opened = library(tmp_path)
    (document,) = opened.add([source], SETTINGS).added
    lie(tmp_path, document.id)

    for read in (opened.verify, lambda: opened.source(document.id)):
        with pytest.raises(LibraryDamaged, match="changed"):
            read()
    hidden = SETTINGS.changed(keep_hidden=True, passage_tokens=64)  # neither its pages nor its passages can be used again
    assert [type(error) for _, error in opened.reread([document.id], hidden).problems] == [StoredFileDamaged]
    rebuilt, report = Library.rebuild(tmp_path, "default", hidden, embedder=HashEmbedder("other@float32"), **PORTS)
    assert [(name, error.remedy) for name, error in report.problems] == [(source.name, "Add the file again.")]
    assert "38" not in bodies(rebuilt)

    rebuilt.add([source], hidden)

    assert bodies(rebuilt).strip() == GOOD
    assert rebuilt.source(document.id) == source.data
    check_whole(rebuilt)


def test_given_a_stored_file_that_was_changed_when_rebuilt_alike_then_its_pages_are_kept_and_the_damage_is_told(tmp_path):
    (document,) = library(tmp_path).add(sources()[:1], SETTINGS).added
    lie(tmp_path, document.id)

    rebuilt, report = Library.rebuild(tmp_path, "default", SETTINGS, embedder=HashEmbedder(), **PORTS)

    assert [type(error) for _, error in report.problems] == [StoredFileDamaged]
    assert bodies(rebuilt).strip() == GOOD
    with pytest.raises(LibraryDamaged):
        rebuilt.verify()
    assert [kept.id for kept in rebuilt.add(sources()[:1], SETTINGS).unchanged] == [document.id]
    check_whole(rebuilt)


def test_given_another_model_when_rebuilt_then_the_whole_pages_of_a_changed_pdf_are_used(tmp_path):
    (document,) = library(tmp_path).add(sources()[:1], SETTINGS).added
    lie(tmp_path, document.id)

    rebuilt, report = Library.rebuild(tmp_path, "default", SETTINGS, embedder=HashEmbedder("other@float32"), **PORTS)

    assert [kept.id for kept in report.added] == [document.id]
    assert [type(error) for _, error in report.problems] == [StoredFileDamaged]
    assert bodies(rebuilt).strip() == GOOD


@pytest.mark.parametrize("number", [0, 1], ids=["pdf", "text with an id of the caller"])
def test_given_an_unfinished_file_that_was_changed_when_resumed_then_nothing_is_indexed_from_it(tmp_path, number):
    source = sources()[number]
    opened = library(tmp_path)
    opened.add([source], SETTINGS, cancelled=lambda: bool(list(tmp_path.glob("*/inbox.json"))))
    lie(tmp_path, opened.unfinished()[0].id)

    report = opened.resume(SETTINGS)

    assert [type(error) for _, error in report.problems] == [StoredFileDamaged]
    assert opened.snapshot.documents == ()
    opened.add([source], SETTINGS)
    assert bodies(opened).strip() == GOOD
    check_whole(opened)


def test_given_pages_that_an_earlier_version_read_from_a_changed_file_when_the_good_one_is_added_then_they_are_read_anew(tmp_path):
    opened = library(tmp_path)
    (source, *_) = sources()
    (document,) = opened.add([source], SETTINGS).added
    bad = source.data.replace(b"28 days", b"38 days")
    assert bad != source.data
    launder(tmp_path / "default", document.id.removeprefix("sha256:"), bad)

    again = library(tmp_path)
    with pytest.raises(LibraryDamaged):
        again.verify()
    assert [read.id for read in again.add([source], SETTINGS).added] == [document.id]
    check_whole(again)


def launder(root: Path, digest: str, data: bytes) -> None:
    """Make of the library what an earlier version made of it: the damaged bytes are noted as if they were the source's."""
    (root / "sources" / digest).write_bytes(data)
    pointer = json.loads((root / "CURRENT").read_bytes())
    path = root / f"manifests/{pointer['generation']}.json"
    row = json.loads(path.read_bytes())
    row.pop("checksum", None)
    row.pop("vector_store", None)
    for document in row["documents"]:
        document["files"][f"sources/{digest}"] = list(stamp(data))
        del document["source"]["caller_id"]
        for name in ("document.json", "reading.json"):
            stored = root / "documents" / document["key"] / name
            old = {key: value for key, value in json.loads(stored.read_bytes()).items() if key not in ("checksum", "source", "read_from")}
            stored.write_text(json.dumps(old))
            document["files"][f"documents/{document['key']}/{name}"] = list(stamp(stored.read_bytes()))
    path.write_text(json.dumps(row))
    pointer["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (root / "CURRENT").write_text(json.dumps(pointer))


def test_given_a_text_listed_by_an_earlier_version_then_its_name_is_tried_as_its_id(tmp_path):
    opened = library(tmp_path)
    opened.add([text("note", GOOD)], SETTINGS)
    row = opened.snapshot.entries[0].source
    old = Accepted.from_json({key: value for key, value in row.to_json().items() if key != "caller_id"})

    assert stored_sources.check(tmp_path / "default", old).size == len(GOOD)
    (tmp_path / "default/sources" / row.digest).write_text(GOOD.replace("28", "38"))
    with pytest.raises(LibraryDamaged):
        stored_sources.check(tmp_path / "default", old)


def test_given_a_file_that_is_stored_already_when_added_again_then_it_is_not_written_again(tmp_path):
    opened = library(tmp_path)
    (document,) = opened.add(sources()[:1], SETTINGS).added
    path = tmp_path / "default/sources" / document.id.removeprefix("sha256:")
    before = path.stat().st_ino

    opened.add(sources()[:1], SETTINGS)

    assert path.stat().st_ino == before
    assert found(opened, "notice period") == [document.id]
