"""The text of files that are no PDF: encodings, tables of values, mails, and what Markdown strikes out."""

from __future__ import annotations

import csv
import io
from email.message import EmailMessage

import pytest
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.ingest.reading.text import decoded, mail_of, rows_of, without_struck

CELLS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1, max_size=12)
STROKE = "\u0336"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Die Gebühr beträgt 25 € für Schüler.", "cp1252"),
        ("Les élèves paient 25 € à la rentrée.", "cp1252"),
        ("Poplatek činí 25 Kč. Nájemce ji platí předem.", "cp1250"),
        ("Плата составляет 25 рублей для школьников.", "cp1251"),
        ("Ile dni urlopu mają pracownicy, którzy są na okresie próbnym?", "cp1250"),
        ("Wie viele Tage läuft die Kündigungsfrist für Größen über 5?", "cp1252"),
        ("Η αμοιβή είναι 25 ευρώ.", "cp1253"),
        ("读者最多可以借书二十一天。", "gb18030"),
        ("수수료는 25유로입니다.", "cp949"),
        ("本は最大21日間借りることができます。", "cp932"),
    ],
)
def test_given_text_in_an_old_encoding_when_read_then_its_letters_are_right_and_the_guess_is_named(
    text: str, encoding: str
) -> None:
    assert decoded(text.encode(encoding)) == (text, encoding)
    assert decoded((text + "\n").encode(encoding) * 2000) == ((text + "\n") * 2000, encoding)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@given(text=st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1))
def test_given_any_text_in_unicode_when_read_then_it_is_the_same_and_nothing_was_guessed(
    encoding: str, text: str
) -> None:
    assert decoded(text.encode(encoding)) == (text, "")


@pytest.mark.parametrize("data", [bytes(range(256)) * 4, b"\xff\xd8\xff\xe0\x00\x10JFIF", b"\xff\xfeA"])
def test_given_bytes_that_are_no_text_when_read_then_it_says_so(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"it holds|codec"):
        decoded(data)


@pytest.mark.parametrize("parted", [",", ";", "\t"])
def test_given_separated_values_when_read_then_each_line_is_a_row_under_the_first(parted: str) -> None:
    text = (
        parted.join(("item", "price"))
        + "\r\n"
        + parted.join(('"spade,; long"', "18"))
        + "\r\n\r\n"
        + parted.join(("rake", "14"))
    )

    assert rows_of(text) == "| item | price |\n|---|---|\n| spade,; long | 18 |\n| rake | 14 |"


@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=2, max_size=6))
def test_given_any_values_when_read_then_each_cell_stands_in_its_row(rows: list[list[str]]) -> None:
    written = io.StringIO()
    csv.writer(written, quoting=csv.QUOTE_ALL).writerows(rows)

    lines = rows_of(written.getvalue()).split("\n")

    assert [line[2:-2].split(" | ") for n, line in enumerate(lines) if n != 1] == [
        [cell.replace("|", "¦") for cell in row] for row in rows
    ]


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

    assert (
        text
        == "From: Věra <vera@b.example>\nDate: Tue, 03 Mar 2026 10:00:00 +0100\nSubject: Nájem\n\nNájem je 96 eur.\n"
    )
    assert (said.title, said.date, said.values["author"]) == ("Nájem", "2026-03-03", "Věra <vera@b.example>")
    assert note == "1 attached file was not read: smlouva.pdf."


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


@each(
    ("text", "left", "struck"),
    [
        ("The rent is ~~1,250~~ 1,400 euros.", "The rent is 1,400 euros.", 5),
        ("Smoking is ~~not~~ allowed.", "Smoking is allowed.", 3),
        ("~~Gone.~~\nKept.", "\nKept.", 5),
        ("- ~~gone~~\n- kept", "\n- kept", 4),
        ("**~~gone~~** kept", "kept", 4),
        ("~~go\nne~~ kept", "kept", 4),
        ("~~T~~the rule", "the rule", 1),
        ("| ~~gone~~ | kept |", "| | kept |", 4),
        ("<del>gone</del> kept <S class='x'>gone</S>", "kept ", 8),
        ("<s>a <del>b</del> c</s> kept", "kept", 3),
        ("".join(sign + STROKE for sign in "gone") + " kept", "kept", 4),
        ("```\n~~code~~\n```\n~~gone~~ kept", "```\n~~code~~\n```\nkept", 4),
    ],
)
def test_given_struck_markdown_when_taken_out_then_the_rest_is_one_text(text: str, left: str, struck: int) -> None:
    assert without_struck(text, markdown=True) == (left, struck)


@each(
    "text",
    [
        "a `~~code~~` b",
        "~~~\n~~code~~\n~~~",
        "some ~5 to ~10 euros",
        "a ~~ b ~~ c",
        "~~begun\n\nand not ended",
        "x~~~~y",
        "the token <s> alone",
        "\\~~not~~",
        "a ``<s>x</s> ` `` b",
        "1 ~ 2 ~ 3",
    ],
)
def test_given_tildes_and_tags_that_strike_nothing_out_when_read_then_the_text_stays(text: str) -> None:
    assert without_struck(text, markdown=True) == (text, 0)


def test_given_a_plain_text_when_read_then_only_letters_with_a_stroke_through_each_are_void() -> None:
    assert without_struck(f"~~a~~ <s>b</s> c{STROKE} d", markdown=False) == ("~~a~~ <s>b</s> d", 1)


@given(
    st.lists(
        st.tuples(st.booleans(), st.from_regex(r"[a-z0-9]{1,6}( [a-z0-9]{1,6}){0,3}", fullmatch=True)),
        min_size=1,
        max_size=8,
    )
)
def test_given_any_words_some_of_them_struck_when_taken_out_then_the_others_stand_as_they_did(
    parts: list[tuple[bool, str]],
) -> None:
    text = "Start " + " ".join(f"~~{words}~~" if struck else words for struck, words in parts) + " end"

    left, count = without_struck(text, markdown=True)

    assert left == " ".join(("Start", *(words for struck, words in parts if not struck), "end"))
    assert count == sum(len(words.replace(" ", "")) for struck, words in parts if struck)


@pytest.mark.parametrize(
    "piece", ["~~a ", "<s>", "`a", "``` ` ", "*~~a~~*", "```\n", "~~~\n", f"a{STROKE} ", "~~a\n\n"]
)
def test_given_a_hostile_text_when_read_then_it_takes_no_longer_than_it_is_long(piece: str) -> None:
    without_struck(piece * 100_000, markdown=True)
