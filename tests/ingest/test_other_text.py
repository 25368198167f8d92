"""Separated values become the rows of a table, and a mail its head and its words: nothing that they say is lost."""

from __future__ import annotations

import csv
import io
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.ingest.reading.text import mail_of, rows_of

CELLS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1, max_size=12)


@pytest.mark.parametrize("parted", [",", ";", "\t"])
def test_given_separated_values_when_read_then_each_line_is_a_row_under_the_first(parted: str) -> None:
    text = parted.join(("item", "price")) + "\r\n" + parted.join(('"spade,; long"', "18")) + "\r\n\r\n" + parted.join(("rake", "14"))

    assert rows_of(text) == "| item | price |\n|---|---|\n| spade,; long | 18 |\n| rake | 14 |"


@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=2, max_size=6))
def test_given_any_values_when_read_then_each_cell_stands_in_its_row(rows: list[list[str]]) -> None:
    written = io.StringIO()
    csv.writer(written, quoting=csv.QUOTE_ALL).writerows(rows)

    lines = rows_of(written.getvalue()).split("\n")

    assert [line[2:-2].split(" | ") for n, line in enumerate(lines) if n != 1] == [[cell.replace("|", "¦") for cell in row] for row in rows]


def test_given_a_value_without_an_end_when_read_then_no_word_is_lost() -> None:
    endless = 'item,price\nspade,"' + "18 " * 60_000

    assert rows_of(endless) == endless


def test_given_a_mail_when_read_then_its_head_and_words_stand_there_and_what_was_not_read_is_told() -> None:
    mail = EmailMessage()
    mail["From"], mail["Subject"], mail["Date"] = "Věra <vera@b.example>", "Nájem", "Tue, 3 Mar 2026 10:00:00 +0100"
    mail.set_content("Nájem je 96 eur.\n")
    mail.add_alternative("<p>Nájem je 12 eur.</p>", subtype="html")
    mail.add_attachment(b"%PDF-", maintype="application", subtype="pdf", filename="smlouva.pdf")

    text, said, note = mail_of(mail.as_bytes())

    assert text == "From: Věra <vera@b.example>\nDate: Tue, 03 Mar 2026 10:00:00 +0100\nSubject: Nájem\n\nNájem je 96 eur.\n"
    assert (said.title, said.date, said.values["author"]) == ("Nájem", "2026-03-03", "Věra <vera@b.example>")
    assert note == "Attachments were not read: smlouva.pdf."


def test_given_a_mail_of_pictures_only_when_read_then_it_says_so() -> None:
    mail = EmailMessage()
    mail.set_content(b"\x89PNG", maintype="image", subtype="png")

    with pytest.raises(ValueError, match="no plain words"):
        mail_of(mail.as_bytes())


@given(st.binary(max_size=300))
def test_given_any_bytes_when_read_as_a_mail_then_it_is_text_or_one_kind_of_error(data: bytes) -> None:
    try:
        text, said, note = mail_of(data)
    except (ValueError, LookupError):
        return
    assert isinstance(text + said.title + note, str)
