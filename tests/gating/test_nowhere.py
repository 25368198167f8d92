"""What stands nowhere in the documents: said only where it is true, whatever the notation, the inflection and the
spelling.
"""

from __future__ import annotations

from collections.abc import Iterator

import regex
from builders import HashEmbedder, MemoryCorpus, Text, settings, tools
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.decision.measure import measure
from rag_core.facts import Entity
from rag_core.gating.named import nowhere
from rag_core.language import any_language, fold, words

TEXT = """The MK-40 runs at 80 °C, the MK 90 does not, MK80 neither. See §14 and §§ 20-22 of the law, ISO/IEC 9001:2015,
error E7 and E10-E12. Revenue in 2015/16 was 1.25 million, in FY18 5,040. The 1970s were good.
Between 2020 and 2023 Marie Curie, Market Star and Microsoft signed with the World Health Organization in Praha."""
VOCABULARY = frozenset(fold(word.text) for word in words(TEXT))


def absent(kind: str, text: str, language: str = "en", languages: tuple[str, ...] = ("en",)) -> tuple[str, ...]:
    return nowhere([Entity(kind, text, 0, len(text))], language, languages, VOCABULARY, [TEXT])


@each(
    ("kind", "text", "said"),
    [
        ("year", "2019", "2019"),
        ("year", "2020", ""),
        ("year", "2016", ""),  # "2015/16"
        ("year", "2018", ""),  # "FY18"
        ("year", "1974", ""),  # the 1970s
        ("year", "2022", ""),  # within a span
        ("year", "२०१९", "2019"),
        ("date", "31 March 2019", "2019"),
        ("date", "31 March 2020", ""),
        ("date", "31 March", ""),
        ("code", "MK-50", "MK-50"),
        ("code", "MK-40", ""),
        ("code", "mk 90", ""),
        ("code", "MK-80", ""),  # written as one
        ("code", "E9", "E9"),
        ("code", "E07", ""),
        ("code", "E11", ""),  # within a span
        ("code", "§ 15", "§ 15"),
        ("code", "§ 14", ""),
        ("code", "§ 21", ""),
        ("code", "ISO 9001", ""),
        ("code", "ISO 14001", "ISO 14001"),
        ("code", "Q3", ""),  # a period, however it is written
        ("code", "XYZ", ""),
        ("number", "34,567 dogs", "34,567"),
        ("number", "1,250,000", ""),  # 1.25 million
        ("number", "5040", ""),
        ("number", "300", ""),  # or three hundred
        ("name", "Vladivostok", "Vladivostok"),
        ("name", "Adobe Inc", "Adobe"),
        ("name", "Siemens AG", "Siemens"),
        ("name", "Microsoft", ""),
        ("name", "Mikrosoft", ""),  # misspelt
        ("name", "Micorsoft", ""),
        ("name", "Marketstar", ""),
        ("name", "Pierre Curie", ""),  # a Curie is there
        ("code", "60-Hertz-Current", ""),  # a compound of words
        ("code", "МК-50", ""),  # Cyrillic letters
        ("name", "Marketing Bureau", ""),  # of the root of a term
        ("name", "MSPs", ""),
        ("name", "NASA", ""),  # an acronym may be spelled out
        ("name", "Bob", ""),
        ("mood", "2019", ""),
    ],
)
def test_given_an_entity_then_it_is_said_only_where_no_form_of_it_stands(kind: str, text: str, said: str) -> None:
    assert absent(kind, text) == ((said,) if said else ())


def test_given_a_name_when_documents_are_in_another_language_then_nothing_is_said_of_it() -> None:
    """Germany is Deutschland there."""
    assert absent("name", "Vladivostok", "en", ("en", "de")) == ()
    assert absent("year", "2019", "en", ("de",)) == ("2019",)


def test_given_documents_in_another_script_then_a_code_is_looked_for_by_its_number() -> None:
    """They may write МК-40 in letters of their own."""
    found = Entity("code", "MK-57", 0, 5)

    assert nowhere([found], "ru", ["ru"], set(), ["МК-57"]) == ()
    assert nowhere([found], "ru", ["ru"], set(), ["МК-40"]) == ("MK-57",)
    assert absent("name", "Владивосток", "ru", ("ru",)) == ()


@each(("text", "said"), [("Standort Hafen", ""), ("Halford Mackinder", "Halford Mackinder")])
def test_given_a_language_with_capital_nouns_then_ordinary_ones_are_no_names(text: str, said: str) -> None:
    assert absent("name", text, "de", ("de",)) == ((said,) if said else ())


@each(("text", "said"), [("Prahy", ""), ("Praze", ""), ("Vladivostok", "Vladivostok")])
def test_given_a_language_that_inflects_names_then_two_letters_may_differ(text: str, said: str) -> None:
    assert absent("name", text, "cs", ("cs",)) == ((said,) if said else ())
    assert absent("name", text, "xx", ("xx",)) == ((said,) if said else ())


def test_given_the_initials_of_a_name_in_the_documents_then_it_is_there() -> None:
    name = Entity("name", "Voluntary Oxfordshire Knights", 0, 29)

    assert nowhere([name], "en", ["en"], {"vok"}, []) == ()
    assert nowhere([name], "en", ["en"], {"vol"}, []) == (name.text,)


def test_given_nothing_that_could_be_said_then_no_text_is_read() -> None:
    def texts() -> Iterator[str]:
        raise AssertionError
        yield ""

    assert nowhere([Entity("year", "2020", 0, 4)], "en", ["en"], VOCABULARY, texts()) == ()


def test_given_several_then_each_is_named_once_in_order() -> None:
    found = [Entity("year", text, 0, 4) for text in ("2031", "2019", "2031", "2020")]

    assert nowhere(found, "en", ["en"], VOCABULARY, [TEXT]) == ("2031", "2019")


TOKENS = st.sampled_from(
    [
        "2019",
        "2031",
        "FY2019",
        "E7",
        "E9",
        "MK-80",
        "MK",
        "80",
        "§ 14",
        "14",
        "Adobe",
        "Adobe's",
        "Adob",
        "ADOBE",
        "Marie Curie",
        "Curie",
        "12,500",
        "12.5",
        "Šárka",
        "Sarka",
        "Bank of Brno",
        "in",
        "the",
        "ISO 9001",
        "<b>Evil</b>",
        "३१",
        "x" * 200,
    ]
)
TEXTS = st.lists(TOKENS, min_size=1, max_size=12).map(" ".join)


@given(bodies=st.lists(TEXTS, min_size=1, max_size=3), question=TEXTS)
def test_given_any_question_then_nowhere_is_no_term_of_the_library(bodies: list[str], question: str) -> None:
    corpus = MemoryCorpus([Text(f"d{n}", body) for n, body in enumerate(bodies)], HashEmbedder())

    measured = measure(f"What of {question}?", settings(), corpus, tools())

    vocabulary = corpus.lexical.vocabulary()
    for said in measured.nowhere:
        assert fold(said) not in vocabulary
        if not any(character.isdigit() for character in said):  # the parts of a code may each stand somewhere
            assert vocabulary.isdisjoint({fold(word.text) for word in words(said)} - any_language().connectors)
        assert all(regex.search(rf"(?<!\w){regex.escape(fold(said))}(?!\w)", fold(body)) is None for body in bodies), (
            said
        )
