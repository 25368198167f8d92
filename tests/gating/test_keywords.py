"""Which content words of a question stand in the passages, on the sources' own Czech examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from builders import HashEmbedder, measurements, settings
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.decision.checks import CHECKS
from rag_core.domain.measurements import KeywordMatch
from rag_core.domain.ports import Vectors
from rag_core.domain.trace import State
from rag_core.errors import InvalidSetting
from rag_core.gating.named import MAX_WORDS, match_keywords, parse_synonyms
from rag_core.language import keywords
from rag_core.settings import Mode

PARTIES = "Smlouva je mezi Firmou A a Firmou B. Doba plnění je 30 dní."
PRICE = "Dodavatel dodá zboží. Cena činí 500 Kč."
NOTICE = "Smlouva může být vypovězena za těchto podmínek."


def match(
    question: str, *texts: str, language: str = "cs", passages: str | None = None, **options: object
) -> KeywordMatch:
    languages = [passages or language] * len(texts)
    return match_keywords(keywords(question, language), language, texts, languages, **options)  # type: ignore[arg-type]


def gate(found: KeywordMatch, **values: object) -> State:
    keyword_gate = next(check for check in CHECKS if check.name == "keywords")
    return keyword_gate(
        replace(measurements(0.9, keywords=found), settings=settings(keywords_mode=Mode.ENFORCE, **values))
    ).state


@pytest.mark.parametrize(
    ("question", "context", "known", "held", "state"),
    [
        ("Jaké riziko smlouva představuje?", PARTIES, {"riziko", "smlouva", "představuje"}, {"smlouva"}, State.FAILED),
        ("Jaká je doba plnění?", "Doba plnění je 30 dní", {"doba", "plnění"}, {"doba", "plnění"}, State.PASSED),
        ("Jaká je doba plnění?", "DOBA PLNENI JE 30 DNI", {"doba", "plnění"}, {"doba", "plnění"}, State.PASSED),
    ],
)
def test_given_the_first_questions_of_s0_then_they_pass_and_fail_as_there(
    question: str, context: str, known: set[str], held: set[str], state: State
) -> None:
    """S0-10, S0-11, S0-15: one of three is refused, two of two pass whatever case and diacritics; question words are no
    keywords.
    """
    found = match(question, context)

    assert {*found.matched, *found.missing} == known
    assert set(found.matched) == held
    assert gate(found) is state


def test_given_inflected_words_then_lemma_or_stem_makes_them_meet() -> None:
    """S0-12, S0-16: smlouvu meets Smlouva and vypovědět meets vypovězena, which no exact or substring match finds."""
    found = match("Za jakých podmínek lze smlouvu vypovědět?", "Smlouva může být vypovězena dohodou.")

    assert {"smlouvu", "vypovědět"} <= set(found.matched)
    assert gate(found) is State.PASSED
    assert set(match("Za jakých podmínek lze smlouvu vypovědět?", NOTICE).matched) >= {
        "podmínek",
        "smlouvu",
        "vypovědět",
    }


@pytest.mark.parametrize(
    ("question", "held"), [("Kdo je skutečným vlastníkem?", set()), ("Jaká je cena na trhu?", {"cena"})]
)
def test_given_questions_about_what_the_contract_lacks_then_refused(question: str, held: set[str]) -> None:
    """S0-13, S0-14: nothing, and one of two, is not enough."""
    found = match(question, PRICE)

    assert set(found.matched) == held
    assert gate(found) is State.FAILED


def test_given_words_of_three_letters_only_then_there_are_no_keywords() -> None:
    """S0-9: keywords are longer than three characters."""
    assert match("Kdo to je?", PRICE) == KeywordMatch()
    assert gate(match("Kdo to je?", PRICE)) is State.ABSTAINED


def test_given_passages_in_another_language_only_then_the_guard_abstains_and_lists_what_it_did_not_look_for() -> None:
    found = match("Jaká je doba plnění?", "The period of performance is 30 days.", passages="en")

    assert found.abstain == "the question and the passages are in different languages"
    assert (found.matched, found.missing) == ((), ("doba", "plnění"))
    assert gate(found) is State.ABSTAINED


def test_given_passages_of_several_languages_then_only_those_of_the_question_are_read() -> None:
    """A word of another language that happens to look alike is no match."""
    texts = ["Der Preis der Doba-Anlage", "Plnění začíná ihned."]

    found = match_keywords(["doba", "plnění"], "cs", texts, ["de", "cs"])

    assert (found.matched, found.missing) == (("plnění",), ("doba",))


@pytest.mark.parametrize(("question", "passage"), [("und", "cs"), ("cs", "und")])
def test_given_an_undetermined_language_then_the_words_are_looked_for(question: str, passage: str) -> None:
    found = match_keywords(["doba", "trhu"], question, [PARTIES], [passage])

    assert (found.matched, found.missing, found.abstain) == (("doba",), ("trhu",), "")


def test_given_no_passages_then_every_keyword_is_missing() -> None:
    assert match_keywords(["doba"], "cs", [], []) == KeywordMatch(missing=("doba",))


@pytest.mark.parametrize(
    ("question", "context", "word"),
    [
        ("What is the price?", "The fee is 30 euros.", "price"),
        ("What are the prices?", "The fees are due monthly.", "prices"),
        ("Who are the owners?", "The proprietor is ACME.", "owners"),
    ],
)
def test_given_a_word_and_its_synonym_in_any_inflection_then_they_match(question: str, context: str, word: str) -> None:
    """S0-35: a list of synonyms, built in."""
    assert match(question, context, language="en").matched == (word,)


def test_given_own_synonyms_then_they_work_both_ways_and_the_built_in_ones_stay() -> None:
    """S0-35: your own synonyms are added."""
    own = "price=ticket, toll; gadget = paid leave"

    assert match("price", "The ticket is 3.", language="en", own_synonyms=own).matched == ("price",)
    assert match("ticket", "The price is 3.", language="en", own_synonyms=own).matched == ("ticket",)
    assert match("price", "The fee is 3.", language="en", own_synonyms=own).matched == ("price",)
    assert match("tickets", "The prices are 3.", language="en", own_synonyms=own).matched == ("tickets",)
    assert match("price", "The ticket is 3.", language="en").matched == ()


def test_given_a_synonym_of_two_words_then_both_must_stand_in_the_passages() -> None:
    """S0-35: 'paid leave' is one synonym."""
    assert match("gadget", "You get paid during leave.", language="en", own_synonyms="gadget=paid leave").matched == (
        "gadget",
    )
    assert match("gadget", "You get paid.", language="en", own_synonyms="gadget=paid leave").matched == ()


def test_given_synonyms_as_text_then_every_word_of_a_row_finds_the_others() -> None:
    assert parse_synonyms("Price=cost,fee; lhůta=termín") == {
        "price": ("cost", "fee"),
        "cost": ("Price", "fee"),
        "fee": ("Price", "cost"),
        "lhuta": ("termín",),
        "termin": ("lhůta",),
    }
    assert parse_synonyms("") == parse_synonyms(" ; ") == {}
    assert parse_synonyms("a=b; a=c")["a"] == ("b", "c")


@each("text", ["price", "price=", "=cost", "price cost; leave=vacation", "a=b;c"])
def test_given_synonyms_that_cannot_be_read_then_the_row_is_named(text: str) -> None:
    with pytest.raises(InvalidSetting, match="Synonyms cannot be read"):
        parse_synonyms(text)


def test_given_the_semantic_option_then_a_word_of_equal_meaning_counts_and_others_do_not() -> None:
    """S0-36: semantic keyword matching, off at 1."""
    embed = HashEmbedder(alike={"automobile": "car"}).embed
    asked = (["automobile", "spaceship"], "en", ["The car is red."], ["en"])

    assert match_keywords(*asked, semantic=0.9, embed=embed) == KeywordMatch(("automobile",), ("spaceship",))
    assert match_keywords(*asked, semantic=1.0, embed=embed).matched == ()
    assert match_keywords(*asked, semantic=0.9).matched == ()


def test_given_similarity_exactly_at_the_limit_then_the_word_counts() -> None:
    """S0-36: equal passes."""

    def embed(texts: Sequence[str]) -> Vectors:
        return np.array([[1.0, 0.0] if text == "automobile" else [0.5, 0.75**0.5] for text in texts], dtype=np.float32)

    asked = (["automobile"], "en", ["Red vehicle."], ["en"])
    assert match_keywords(*asked, semantic=0.5, embed=embed).matched == ("automobile",)
    assert match_keywords(*asked, semantic=0.51, embed=embed).matched == ()


def test_given_very_many_words_then_the_semantic_option_compares_a_bounded_number_and_only_missing_keywords() -> None:
    asked: list[int] = []

    def embed(texts: Sequence[str]) -> Vectors:
        asked.append(len(texts))
        return HashEmbedder().embed(texts)

    text = " ".join(f"word{n}" for n in range(3 * MAX_WORDS))
    match_keywords(["word1", "absent"], "en", [text], ["en"], semantic=0.9, embed=embed)
    match_keywords(["word1"], "en", [text], ["en"], semantic=0.9, embed=embed)

    assert asked == [1, MAX_WORDS]
    assert MAX_WORDS == 400
    match_keywords(["absent"], "en", [text], ["en"], embed=embed)
    assert len(asked) == 2  # off unless asked for


words = st.lists(
    st.sampled_from(["period", "notice", "price", "supplier", "warehouse", "moon"]), unique=True, max_size=5
)


@given(
    words,
    st.lists(st.sampled_from(["The notice.", "A price.", "Supplier of the moon.", "Nothing."]), max_size=3),
    st.booleans(),
)
def test_given_more_passages_then_no_match_is_lost(asked: list[str], texts: list[str], synonyms: bool) -> None:
    before = match_keywords(asked, "en", texts, ["en"] * len(texts))
    more = [*texts, "The period of the warehouse."]
    after = match_keywords(asked, "en", more, ["en"] * len(more), own_synonyms="moon=price" if synonyms else "")

    assert set(before.matched) <= set(after.matched)
    for found in (before, after):
        assert sorted((*found.matched, *found.missing)) == sorted(asked)
        assert list(found.matched) == [word for word in asked if word in found.matched]
