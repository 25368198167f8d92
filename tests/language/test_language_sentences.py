"""Sentences: traps written for this test, offsets, hostile text."""

from __future__ import annotations

import re
import time

from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.language import sentences

# "|" is where a sentence ends; it stands for one space.
TRAPS = {
    "it": ["Valgono i limiti descritti dall’Art. 10.|Il voto del presidente vale doppio."],
    "fr": ["Selon l'art. 12 du règlement, c'est non.|Voir l’art. 3."],
    # languages without a file: sentencex has their abbreviations (issue 47, 8)
    "uk": ["Адреса: вул. Шолуденка, 3.|Будинок новий."],
    "el": ["Με το Π.Δ. 228/1998 ορίζεται η διαδικασία.|Είναι σωστό;|Ο νόμος ισχύει."],
    "pt": ["O Sr. Silva chegou.|Depois saiu."],
    "cs": [
        "Smlouvu lze vypovědět podle čl. 5 písm. a) do 30 dnů.|Lhůta běží od doručení.",
        "Dne 12. 3. 2024 byla smlouva podepsána.|Účinnosti nabyla 1. dubna 2024.",
        "Výpověď musí být písemná, tj. v listinné podobě.|Jiná forma nestačí.",
        "Srov. např. Nejvyšší soud, sp. zn. 29 Cdo 123/2010.|MUDr. Novák souhlasil.",
        "Společnost ACME s.r.o. dodá zboží do 5. května.|Kupující zaplatí.",
        "J. Novák a Ing. P. Dvořák, Ph.D. souhlasí.|Ostatní nesouhlasí.",
        "V 19. století to neplatilo.|Dnes ano.",
        "Jde o nájem, pacht apod. podle smlouvy.|Výše je uvedena v příloze č. 2.",
    ],
    "de": [
        "Gemäß Art. 5 Abs. 2 DSGVO gilt dies.|Das ist neu.",
        "Das gilt z. B. für Verträge.|Andere Fälle regelt Ziff. 4.",
        "Der Vertrag wurde am 12. März 2024 geschlossen.|Dr. Müller unterschrieb ihn.",
        "Die Frist endet am 31. 12. 2024.|Danach verfällt der Anspruch.",
        "Die Müller GmbH & Co. KG haftet.|Die Haftung ist begrenzt.",
        "Es sind 5.|Danach kamen zwei.",
        "Die Kosten betragen ca. 3 Mio. Euro.|Sie werden geteilt.",
        "Hr. Prof. Dr. Weber und Fr. Meier stimmten zu.|Niemand widersprach.",
    ],
    "en": [
        "Apple Inc. reported sales.|The U.S. market grew by 5.2%.",
        "J. R. Smith agreed at 5 p.m. on Monday.|Nobody objected.",
        "Mr. Jones and Dr. Lee signed it.|It ended in 2025.",
        "Is it safe?|Yes!|It is safe.",
        "Tools, e.g. hammers, i.e. heavy ones, are included.|Nails are not.",
        "Costs rose (cf. Smith et al. 2020) by 3.5 percent.|Then they fell.",
        "The ratio of A vs. B is 1.5.|It never exceeded 2.0.",
        'He said "Stop."|Then he left.',
        "Sold in 2025.|7 were left.",
        "Open the app.|The rest is easy, see App. 2.",
        "Is it ready? asked the buyer.|It was.",
        "It is due within a year.¹|It is paid at once.²,³|That is all.",
        "It is due within a year.†|It is paid at once.*|† Only for members.|‡ It is never sold.",
        "It is due within a year.²|That is all.|² Only in May.",
        "Article 3. The seat is Brno.|§ 4. The council meets there.",
        "There are two kinds: 1) stored, 2) reflected.|Both are bad.",
        "It was held in Roe v. Wade.|It is law.",
    ],
}
CASES = [(lang, marked) for lang, rows in TRAPS.items() for marked in rows]

TEXT = st.text(max_size=120) | st.text(alphabet='aB1.. !?\n\n\r\f\u2029-•(a)।z "“”č.Dr\ud800\x00\u3000', max_size=120)
LANGS = st.sampled_from(["en", "cs", "de", "hi", "ru", "und", "zh", "../x"])


def split(text: str, lang: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text, lang)]


@each(("lang", "marked"), CASES)
def test_given_abbreviations_ordinals_and_initials_when_split_then_only_sentences_end(lang: str, marked: str) -> None:
    assert split(marked.replace("|", " "), lang) == marked.split("|")


UNMARKED = [(lang, marked) for lang, marked in CASES if not re.match(r"\W|\w+ \d", marked)]


@given(st.sampled_from(UNMARKED), st.sampled_from(["(4)", "(a)", "(iv)", "•", "–", "a)", "4.2", "(1) (a)", "§ 4"]))
def test_given_the_mark_of_a_point_when_split_then_its_sentences_are_those_without_it(
    case: tuple[str, str], mark: str
) -> None:
    lang, marked = case
    assert split(f"{mark} {marked.replace('|', ' ')}", lang) == f"{mark} {marked}".split("|")


@each(("lang", "marked"), CASES)
def test_given_the_same_text_wrapped_after_every_word_when_split_then_the_sentences_are_the_same(
    lang: str, marked: str
) -> None:
    wrapped = marked.replace("|", " ").replace(" ", "\n")

    assert [" ".join(sentence.split()) for sentence in split(wrapped, lang)] == marked.split("|")


@each(
    ("lang", "text", "expected"),
    [
        ("en", "First line\ncontinues here. Second.", ["First line\ncontinues here.", "Second."]),
        ("en", "A heading\n\nThe text", ["A heading", "The text"]),
        ("en", "A heading\r\n \r\nThe text\fNext page", ["A heading", "The text", "Next page"]),
        ("en", "It ends here. ***", ["It ends here. ***"]),
        ("cs", "Dne 12.\n3. 2024 byla podepsána.", ["Dne 12.\n3. 2024 byla podepsána."]),
        ("de", "Vom\n12. März bis zum\n13. März.", ["Vom\n12. März bis zum\n13. März."]),
        ("en", "Goods:\n- one\n- two\n• three", ["Goods:", "- one", "- two", "• three"]),
        (
            "en",
            "(a) first part\nwraps\n(b) second\n1) third\niv) fourth",
            ["(a) first part\nwraps", "(b) second", "1) third", "iv) fourth"],
        ),
        (
            "cs",
            "Uzavřena dne\n12. března 2024 v Praze podle čl. 5 písm.\na) zákona č.\n89/2012 Sb.",
            ["Uzavřena dne\n12. března 2024 v Praze podle čl. 5 písm.\na) zákona č.\n89/2012 Sb."],
        ),
        ("de", "Der Preis\n– ohne Steuer –\nbeträgt 5 Euro.", ["Der Preis\n– ohne Steuer –\nbeträgt 5 Euro."]),
        ("de", "Umfang:\n– Lieferung;\n– Montage.", ["Umfang:", "– Lieferung;", "– Montage."]),
        (
            "en",
            "i. Some train. Now.\nii. Nobody trains.\niii. All wait.",
            ["i. Some train.", "Now.", "ii. Nobody trains.", "iii. All wait."],
        ),
        (
            "en",
            "We know: 1) stored,\n2) reflected and\n3) built in.",
            ["We know: 1) stored,\n2) reflected and\n3) built in."],
        ),
        ("zh", "这是一个。那是。", ["这是一个。", "那是。"]),
        ("en", "यह एक है। iPhone भी।", ["यह एक है।", "iPhone भी।"]),
    ],
)
def test_given_wrapped_lines_paragraphs_and_lists_when_split_then_the_layout_is_respected(
    lang: str, text: str, expected: list[str]
) -> None:
    assert split(text, lang) == expected


@given(TEXT, LANGS)
def test_given_any_text_when_split_then_sentences_ascend_and_hold_every_visible_character(text: str, lang: str) -> None:
    found = sentences(text, lang)

    position = 0
    for start, end in found:
        assert not text[position:start].strip()
        assert position <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()
        position = end
    assert not text[position:].strip()


HOSTILE = [
    "",
    "?!.",
    "\x00.\x00",
    "\u202eאבג. דהו.",
    "\ud800. B",
    "a" * 100_000,
    "a." * 50_000,
    ". " * 50_000,
    "1. A\n" * 20_000,
    "(" * 100_000,
    "Dr. " * 30_000,
]


@each("text", HOSTILE, ids=lambda text: repr(text[:6]))
def test_given_hostile_text_when_split_then_it_ends_soon_and_covers_the_text(text: str) -> None:
    started = time.process_time()
    found = sentences(text, "cs")

    assert time.process_time() - started < 5  # each takes at most about 0.2 s; a quadratic version took 6 s and more
    assert "".join("".join(text[start:end].split()) for start, end in found) == "".join(text.split())


def test_given_a_text_that_is_remembered_then_a_caller_changes_only_its_own_and_each_language_parts_it_by_its_own_words() -> (  # noqa: E501
    None
):
    text = "Laut Ziff. Vier gilt das."
    first = sentences(text, "de")
    first.clear()

    assert len(sentences(text, "de")) == 1
    assert len(sentences(text, "und")) > 1
