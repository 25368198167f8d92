"""Whose a document's date is: of people, of its first page, or only of the file; also in libraries of before it was
kept.
"""

from __future__ import annotations

from pathlib import Path

from library_kit import SETTINGS, check_whole, library, pdf, text

from rag_core.domain.documents import DateSource, Document, Metadata
from rag_core.library.indexing.documents import document_json
from rag_core.library.stored.sources import Source

FILED = "Form 8-K\nDate of Report (Date of earliest event reported): July 1, 2022\nThe notice period is 30 days."
PLAIN = "Form 8-K\nThe notice period is 30 days."
SAVED = "2023-05-04"  # when the file was


def filing(body: str, date: str = "", created: str = "D:20230504101500Z") -> Source:
    return Source("filing.pdf", pdf(body, creationDate=created), "pdf", metadata=Metadata(date=date))


def dated(document: Document) -> tuple[str, DateSource]:
    return document.date, document.date_source


def test_given_a_date_of_people_of_the_first_page_or_of_the_file_then_the_first_of_them_counts(tmp_path: Path) -> None:
    """S3-28: the date of a document, and whose it is."""
    opened = library(tmp_path)

    assert dated(opened.add([filing(FILED)], SETTINGS).added[0]) == ("2022-07-01", DateSource.FIRST_PAGE)
    assert dated(opened.add([filing(PLAIN)], SETTINGS).added[0]) == (SAVED, DateSource.FILE)
    assert dated(opened.add([filing(f"{FILED} Twice.", "2021")], SETTINGS).added[0]) == ("2021", DateSource.GIVEN)
    assert dated(opened.add([filing(f"{PLAIN} Bare.", created="")], SETTINGS).added[0]) == ("", DateSource.NONE)
    assert dated(opened.add([filing(f"{PLAIN} Later.", created="D:20990101")], SETTINGS).added[0]) == (
        "",
        DateSource.NONE,
    )
    assert (
        dated(opened.add([text("note", "Date: 3 May 2024\nThe notice period is 30 days.")], SETTINGS).added[0])[1]
        == DateSource.FIRST_PAGE
    )
    check_whole(opened)
    assert {dated(one) for one in library(tmp_path).snapshot.documents} == {
        dated(one) for one in opened.snapshot.documents
    }


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
