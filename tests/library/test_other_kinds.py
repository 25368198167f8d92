"""Tables, mails and old encodings are added like any text, and what to know about how they were read stands in the
findings.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from library_kit import SETTINGS, library

from rag_core.library.stored.sources import Source, kind_of

MAIL = b"From: vera@b.example\nSubject: Rent\nDate: Tue, 3 Mar 2026 10:00:00 +0100\n\nThe rent is 96 euros.\n"


def added(folder: Path, name: str, data: bytes, id: str = "") -> tuple[str, str, str, str]:
    """The passages of a file, its title and date, and its findings."""
    opened = library(folder)
    report = opened.add([Source(name, data, kind_of(name), id=id)], SETTINGS)
    document = report.added[0]
    return (
        "\n".join(one.text for one in opened.snapshot.passages),
        document.title,
        document.date,
        " ".join(document.problems),
    )


def test_given_a_table_of_values_when_added_then_its_rows_stand_under_their_head(tmp_path: Path) -> None:
    text, *_ = added(tmp_path, "Prices.CSV", b"item;price\nspade;18\nrake;14\n")

    assert "item | price" in text
    assert "rake | 14" in text


def test_given_a_mail_when_added_then_its_words_and_what_it_says_of_itself_are_there(tmp_path: Path) -> None:
    text, title, date, _ = added(tmp_path, "rent.eml", MAIL)

    assert "The rent is 96 euros." in text
    assert (title, date) == ("Rent", "2026-03-03")


def test_given_text_that_is_not_unicode_when_added_then_it_is_read_and_the_guess_is_a_finding(tmp_path: Path) -> None:
    text, *_, problems = added(tmp_path, "win.txt", "Die Gebühr beträgt 25 € für Schüler.".encode("cp1252"))

    assert text == "Die Gebühr beträgt 25 € für Schüler."
    assert "was read as cp1252" in problems


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.txt", b"\x89PNG\0\0\0", "is no text"),
        ("a.eml", b"Content-Type: image/png\n\nx", "no mail"),
        ("a.csv", b",,\n,,\n", "holds no text"),
    ],
)
def test_given_bytes_that_say_nothing_then_it_is_one_error(tmp_path: Path, name: str, data: bytes, says: str) -> None:
    ((_, error),) = library(tmp_path).add([Source(name, data, "text")], SETTINGS).problems

    assert says in error.problem


def test_given_words_with_an_id_like_a_file_name_when_added_then_they_are_read_as_they_are(tmp_path: Path) -> None:
    text, *_ = added(tmp_path, "notes.csv", b"Rent, 96 euros, is due in March.", id="notes.csv")

    assert text == "Rent, 96 euros, is due in March."
