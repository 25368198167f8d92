"""Whose a document's date is: of people, of its first page, or only of the file; also in libraries of before it was kept."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pymupdf
from library_kit import SETTINGS, HashEmbedder, check_whole, library, text

from rag_core.adapters.index.bm25 import Bm25Store
from rag_core.adapters.index.flat import FaissStore
from rag_core.domain.documents import DateSource, Document, Metadata
from rag_core.library.disk.files import seal, stamp
from rag_core.library.indexing.described import document_json
from rag_core.library.library import Library
from rag_core.library.stored.sources import Source

FILED = "Form 8-K\nDate of Report (Date of earliest event reported): July 1, 2022\nThe notice period is 30 days."
PLAIN = "Form 8-K\nThe notice period is 30 days."
SAVED = "2023-05-04"  # when the file was


def pdf(body: str, created: str = "D:20230504101500Z") -> bytes:
    document = pymupdf.open()
    document.new_page().insert_text((72, 72), body)
    document.set_metadata({"creationDate": created})
    return document.tobytes(no_new_id=True)


def filing(body: str, date: str = "", **fields: str) -> Source:
    return Source("filing.pdf", pdf(body, **fields), "pdf", metadata=Metadata(date=date))


def dated(document: Document) -> tuple[str, DateSource]:
    return document.date, document.date_source


def test_given_a_date_of_people_of_the_first_page_or_of_the_file_then_the_first_of_them_counts(tmp_path: Path) -> None:
    """S3-28: the date of a document, and whose it is."""
    opened = library(tmp_path)

    assert dated(opened.add([filing(FILED)], SETTINGS).added[0]) == ("2022-07-01", DateSource.FIRST_PAGE)
    assert dated(opened.add([filing(PLAIN)], SETTINGS).added[0]) == (SAVED, DateSource.FILE)
    assert dated(opened.add([filing(f"{FILED} Twice.", "2021")], SETTINGS).added[0]) == ("2021", DateSource.GIVEN)
    assert dated(opened.add([filing(f"{PLAIN} Bare.", created="")], SETTINGS).added[0]) == ("", DateSource.NONE)
    assert dated(opened.add([filing(f"{PLAIN} Later.", created="D:20990101")], SETTINGS).added[0]) == ("", DateSource.NONE)
    assert (
        dated(opened.add([text("note", "Date: 3 May 2024\nThe notice period is 30 days.")], SETTINGS).added[0])[1] == DateSource.FIRST_PAGE
    )
    check_whole(opened)
    assert {dated(one) for one in library(tmp_path).snapshot.documents} == {dated(one) for one in opened.snapshot.documents}


def test_given_a_date_that_people_give_later_and_take_back_then_that_of_the_page_is_there_again(tmp_path: Path) -> None:
    opened = library(tmp_path)
    (document,) = opened.add([filing(FILED)], SETTINGS).added

    opened.set_metadata(document.id, Metadata(date="2020-02"))
    assert dated(library(tmp_path).snapshot.document(document.id)) == ("2020-02", DateSource.GIVEN)
    opened.set_metadata(document.id, Metadata(title="Form 8-K"))
    assert dated(library(tmp_path).snapshot.document(document.id)) == ("2022-07-01", DateSource.FIRST_PAGE)


def test_given_documents_when_described_or_filtered_then_their_date_counts_whoever_stated_it(tmp_path: Path) -> None:
    opened = library(tmp_path)
    filed, plain = opened.add([filing(FILED), filing(PLAIN)], SETTINGS).added

    told = document_json(filed)
    assert (told["date"], told["date_source"]) == ("2022-07-01", "first_page")
    assert told["metadata"] == {"date": "", "authority": None, "verified": False}  # written back, it states nothing new
    assert document_json(plain)["date_source"] == "file"
    assert opened.snapshot.rows(filters={"date": "2022"}) == list(opened.snapshot.rows_of(filed.id))
    assert opened.snapshot.rows(filters={"date": SAVED}) == list(opened.snapshot.rows_of(plain.id))


def test_given_a_library_of_before_then_its_dates_are_the_files_unless_people_gave_them(tmp_path: Path) -> None:
    opened = library(tmp_path)
    filed, plain, given, edited = opened.add(
        [filing(FILED), filing(PLAIN), filing(f"{PLAIN} Given.", "2021"), filing(f"{PLAIN} Edited.")], SETTINGS
    ).added
    opened.set_metadata(edited.id, Metadata(date="2019-09"))
    note = opened.add([text("note", "The notice period is 30 days.", metadata=Metadata(date="2018"))], SETTINGS).added[0]
    age(tmp_path / "default")

    old = library(tmp_path)
    known = {one.id: dated(one) for one in old.snapshot.documents}

    assert known == {
        filed.id: (SAVED, DateSource.FILE), plain.id: (SAVED, DateSource.FILE), given.id: ("2021", DateSource.GIVEN),
        edited.id: ("2019-09", DateSource.GIVEN), note.id: ("2018", DateSource.GIVEN),
    }  # fmt: skip
    check_whole(old)


def test_given_a_library_of_before_when_read_again_or_rebuilt_then_first_pages_are_looked_at_and_given_dates_stay(tmp_path: Path) -> None:
    opened = library(tmp_path)
    filed, edited = opened.add([filing(FILED), filing(f"{FILED} Edited.")], SETTINGS).added
    opened.set_metadata(edited.id, Metadata(date="2019-09"))
    wanted = {filed.id: ("2022-07-01", DateSource.FIRST_PAGE), edited.id: ("2019-09", DateSource.GIVEN)}
    age(tmp_path / "default")

    old = library(tmp_path)
    old.reread([filed.id, edited.id], SETTINGS)
    assert {one.id: dated(one) for one in library(tmp_path).snapshot.documents} == wanted

    age(tmp_path / "default")
    rebuilt, _ = Library.rebuild(tmp_path, "default", SETTINGS, embedder=HashEmbedder(), vectors=FaissStore(16), lexical=Bm25Store())
    assert {one.id: dated(one) for one in rebuilt.snapshot.documents} == wanted
    check_whole(rebuilt)


def test_given_a_library_of_before_whose_document_file_is_gone_then_it_opens_and_the_date_is_called_the_files(tmp_path: Path) -> None:
    (document,) = library(tmp_path).add([filing(PLAIN)], SETTINGS).added
    library(tmp_path).set_metadata(document.id, Metadata(date="2019-09"))
    age(tmp_path / "default")
    next((tmp_path / "default/documents").glob("*/document.json")).unlink()

    assert dated(library(tmp_path).snapshot.document(document.id)) == ("2019-09", DateSource.FILE)


def age(root: Path) -> None:
    """Write the library as an earlier version did: a document has one date, whoever stated it, and nobody looked at its first page."""
    pointer = json.loads((root / "CURRENT").read_bytes())
    path = root / f"manifests/{pointer['generation']}.json"
    row = json.loads(path.read_bytes())
    row.pop("checksum")
    for document in row["documents"]:
        stored = root / "documents" / document["key"] / "document.json"
        old = json.loads(stored.read_bytes())
        old.pop("checksum")
        for one in (old["document"], document["document"]):
            one.pop("page_date", None)
            file_date = one.pop("file_date", "")
            one["metadata"]["date"] = one["metadata"]["date"] or file_date
        stored.write_text(json.dumps(seal(old)))
        document["files"][f"documents/{document['key']}/document.json"] = list(stamp(stored.read_bytes()))
    path.write_text(json.dumps(seal(row)))
    pointer["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (root / "CURRENT").write_text(json.dumps(pointer))
