"""Words, their offsets, and folding."""

from __future__ import annotations

import time
import unicodedata
from itertools import pairwise

import regex
from folding import each
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_core.language import fold, word_texts, words
from rag_core.language.words import _ANY_WORD, _WORD

TEXT = st.text(max_size=80) | st.text(
    alphabet="ažŘ čß.,-1٢^²₂½ \u0301\u093c\u0901\u200d\u00adक्षि सिНйё合カ北京กรุงเทพ\U00020000한ﬁİıΣς\ud800", max_size=40
)
HOSTILE = [
    "",
    " ",
    "a\x00b",
    "\u0301",
    "\u202eאבג",
    "\ud800",
    "a" * 100_000,
    "\u0301" * 100_000,
    "1," * 50_000,
    "中" * 100_000,
    "กรุงเทพ" * 15_000,
]


@settings(deadline=None, derandomize=True)
@given(TEXT)
def test_given_any_text_when_split_then_every_word_is_the_text_at_its_offsets(text: str) -> None:
    found = words(text)

    assert all(text[word.start : word.end] == word.text for word in found)
    assert list(word_texts(text)) == [word.text for word in found]
    assert all(one.end <= other.start for one, other in pairwise(found))


@settings(deadline=None, derandomize=True)
@given(TEXT)
def test_given_any_text_when_split_then_no_letter_mark_or_digit_is_lost(text: str) -> None:
    inside = "".join(word.text for word in words(text))

    for character in text:
        if unicodedata.category(character)[0] in "LMN":
            assert character in inside


@settings(deadline=None, derandomize=True)
@given(TEXT)
def test_given_any_text_when_folded_twice_then_it_is_as_when_folded_once_and_never_vanishes(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert bool(fold(text)) == bool(text)


@each("text", HOSTILE, ids=lambda text: repr(text[:8]))
def test_given_hostile_text_when_split_and_folded_then_it_ends_soon_with_true_offsets(text: str) -> None:
    started = time.process_time()

    assert all(text[word.start : word.end] == word.text for word in words(text))
    assert bool(fold(text)) == bool(text)

    assert time.process_time() - started < 5  # linear takes milliseconds; the quadratic first version took 109 s


@settings(deadline=None, derandomize=True)
@given(st.text(alphabet="abZÀÖØöøß\u024f\u0250×÷ªº 019.,^²½-\u0301\u00ad\u200dनी日ไ한Д_", max_size=12))
def test_given_any_text_when_split_then_the_pattern_for_plain_words_changes_nothing(text: str) -> None:
    whole = regex.compile(_ANY_WORD, regex.V1)

    assert [(found.span(), found.lastgroup) for found in _WORD.finditer(text)] == [
        (found.span(), "unspaced" if found["unspaced"] else None) for found in whole.finditer(text)
    ]


@each(
    ("text", "expected"),
    [
        ("EUR 1,250.5 (v2.0).", ["EUR", "1,250.5", "v2.0"]),
        ("§ 4.2.1", ["4.2.1"]),
        ("データベース2019年の契約", ["データベース", "2019", "年", "の", "契約"]),
        ("กรุงเทพเป็นเมืองหลวง ๒๕๖๐", ["กรุงเทพ", "เป็น", "เมือง", "หลวง", "๒๕๖๐"]),
        ("\U00020000北京", ["\U00020000", "北京"]),
        ("Kün\u00addigung", ["Kün\u00addigung"]),
        ("5 m³/h of H₂O", ["5", "m³", "h", "of", "H₂O"]),
        ("10²³ 2½", ["10", "²³", "2", "½"]),
        ("5① mg, ❷30, 7㉑", ["5", "①", "mg", "❷", "30", "7", "㉑"]),
        ("warranty² 2019¹", ["warranty", "²", "2019", "¹"]),
        ("^2 a^ 10^2", ["2", "a", "10", "2"]),
    ],
)
def test_given_numbers_hyphens_and_unspaced_scripts_when_split_then_words_are_as_a_reader_sees_them(
    text: str, expected: list[str]
) -> None:
    assert [word.text for word in words(text)] == expected


@each(
    ("one", "other"),
    [
        ("ZÁRUČNÍ", "zarucni"),
        ("Über", "uber"),
        ("Straße", "STRASSE"),
        ("Łódź", "lodz"),
        ("ещё", "еще"),
        ("Ελλάς", "ελλας"),
        ("क़ानून", "कानून"),
        ("हाँ", "हां"),
        ("क्\u200dया", "क्या"),
        ("Kün\u00addigung", "kundigung"),
        ("ﬁnal", "final"),
        ("e\u0301", "é"),
        ("n²", "N2"),
        ("n^2", "n2"),
        ("CO₂", "co2"),
    ],
)
def test_given_spelling_variants_when_folded_then_they_are_equal(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@each(
    ("one", "other"),
    [("कि", "की"), ("मन", "मान"), ("कुल", "कूल"), ("मेल", "मैल"), ("कम", "काम"), ("दिन", "दीन"), ("গান", "গন")],
)
def test_given_words_that_differ_in_a_vowel_sign_when_folded_then_they_stay_different(one: str, other: str) -> None:
    assert fold(one) != fold(other)
