"""Tests of `rag_core.ingest.reading.text`: Markdown strikes text out in several ways, and code is no text."""

from __future__ import annotations

import pytest
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.ingest.reading.text import without_struck

STROKE = "\u0336"


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
        "a `~~code~~` b", "~~~\n~~code~~\n~~~", "some ~5 to ~10 euros", "a ~~ b ~~ c", "~~begun\n\nand not ended", "x~~~~y",
        "the token <s> alone", "\\~~not~~", "a ``<s>x</s> ` `` b", "1 ~ 2 ~ 3",
    ],
)  # fmt: skip
def test_given_tildes_and_tags_that_strike_nothing_out_when_read_then_the_text_stays(text: str) -> None:
    assert without_struck(text, markdown=True) == (text, 0)


def test_given_a_plain_text_when_read_then_only_letters_with_a_stroke_through_each_are_void() -> None:
    assert without_struck(f"~~a~~ <s>b</s> c{STROKE} d", markdown=False) == ("~~a~~ <s>b</s> d", 1)


@given(st.lists(st.tuples(st.booleans(), st.from_regex(r"[a-z0-9]{1,6}( [a-z0-9]{1,6}){0,3}", fullmatch=True)), min_size=1, max_size=8))
def test_given_any_words_some_of_them_struck_when_taken_out_then_the_others_stand_as_they_did(parts: list[tuple[bool, str]]) -> None:
    text = "Start " + " ".join(f"~~{words}~~" if struck else words for struck, words in parts) + " end"

    left, count = without_struck(text, markdown=True)

    assert left == " ".join(("Start", *(words for struck, words in parts if not struck), "end"))
    assert count == sum(len(words.replace(" ", "")) for struck, words in parts if struck)


@pytest.mark.parametrize("piece", ["~~a ", "<s>", "`a", "``` ` ", "*~~a~~*", "```\n", "~~~\n", f"a{STROKE} ", "~~a\n\n"])
def test_given_a_hostile_text_when_read_then_it_takes_no_longer_than_it_is_long(piece: str) -> None:
    without_struck(piece * 100_000, markdown=True)
