"""A file's bytes become text in any usual encoding; a guess says which, and what is no text is an error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.ingest.reading.text import decoded


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
def test_given_text_in_an_old_encoding_when_read_then_its_letters_are_right_and_the_guess_is_named(text: str, encoding: str) -> None:
    assert decoded(text.encode(encoding)) == (text, encoding)
    assert decoded((text + "\n").encode(encoding) * 2000) == ((text + "\n") * 2000, encoding)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@given(text=st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1))
def test_given_any_text_in_unicode_when_read_then_it_is_the_same_and_nothing_was_guessed(encoding: str, text: str) -> None:
    assert decoded(text.encode(encoding)) == (text, "")


@pytest.mark.parametrize("data", [bytes(range(256)) * 4, b"\xff\xd8\xff\xe0\x00\x10JFIF", b"\xff\xfeA"])
def test_given_bytes_that_are_no_text_when_read_then_it_says_so(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"it holds|codec"):
        decoded(data)
