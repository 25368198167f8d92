"""A claim that puts together halves of a sentence that do not belong together, in four languages."""

from __future__ import annotations

import time

from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.facts import changed_facts
from rag_core.facts.differences.halves import mixed_halves

LANGUAGES = ("en", "cs", "de", "hi")
TICKET = "A return ticket costs 14 pounds in winter and 19 pounds in summer."


@each(
    ("lang", "evidence", "claim", "words"),
    [
        ("en", TICKET, "A return ticket costs 14 pounds in summer.", "14 … summer"),
        ("en", "The court dismissed the claim and upheld the fine.", "The court upheld the claim.", "court … upheld"),
        ("en", "The barge is longer than the tug but shorter than the liner.", "The barge is longer than the liner.", "longer … liner"),
        ("en", "The pump is oiled daily by the cook and yearly by a fitter.", "The pump is oiled daily by a fitter.", "daily … fitter"),
        ("cs", "Úřad zamítl žádost mlynáře a povolil stavbu lávky.", "Úřad zamítl stavbu lávky.", "zamítl … stavbu"),
        ("cs", "V roce 2020 činily tržby 31 milionů, v roce 2021 činily 44 milionů.", "V roce 2020 činily tržby 44 milionů.", "tržby … 44"),
        ("de", "Die Schleuder wird täglich gespült, die Pumpe monatlich.", "Die Pumpe wird täglich gespült.", "Pumpe … täglich"),
        ("de", "Ein Glas kostet 9 Euro ab Hof und 11 Euro auf dem Markt.", "Ein Glas kostet 9 Euro auf dem Markt.", "9 … Markt"),
        ("hi", "ब्रेक की जाँच रोज़ होती है, टायर की जाँच महीने में एक बार होती है।", "टायर की जाँच रोज़ होती है।", "टायर … रोज़"),
        ("hi", "साधारण बस का किराया 40 रुपये है और वातानुकूलित बस का किराया 95 रुपये है।", "वातानुकूलित बस का किराया 40 रुपये है।",
         "वातानुकूलित … 40"),
    ],
)  # fmt: skip
def test_given_words_of_two_halves_then_both_are_named(lang: str, evidence: str, claim: str, words: str) -> None:
    """S2-17: each figure and word stands in the source, and not with the other one."""
    assert list(mixed_halves(claim, evidence, lang)) == [words]
    assert ("role", words) in changed_facts(claim, evidence, lang)


@each(
    ("lang", "evidence", "claim"),
    [
        ("en", TICKET, TICKET),
        ("en", TICKET, "A return ticket costs 14 pounds in winter."),
        ("en", TICKET, "A return ticket costs 19 pounds in summer."),
        ("en", TICKET, "A ticket costs 14 pounds in winter and 19 in summer."),
        ("en", "The engineer closes the valves and informs the brigade.", "The engineer informs the brigade."),
        ("en", "The court dismissed the claim of the union and upheld the fine.", "The court dismissed the claim and upheld the fine."),
        ("en", "Adult members and their guests pay 5 pounds.", "Adult members pay 5 pounds."),
        ("en", "The shop, which opened in May, sells oil and wax.", "The shop sells wax."),
        ("en", "The engineer closes the valves and quickly informs the brigade.", "The engineer informs the brigade."),
        ("en", "Oil costs 4 pounds, wax 5 pounds, rope 6 pounds, tar 7 pounds and paint 8 pounds.", "Rope costs 6 pounds."),
        ("en", "Oil costs 4, wax costs 5, rope costs 6, tar costs 7, paint costs 8.", "Rope costs 4."),  # a list: not looked at
        ("en", "The hall holds members and 40 guests of the club.", "The hall holds guests of the club."),
        ("en", "Oil, wax, rope, tar and paint are sold by weight.", "Rope is sold by weight."),
        ("cs", "Je-li zhotovitel v prodlení, zaplatí podle článku 9 pokutu 5 %.", "Při prodlení zaplatí zhotovitel pokutu 5 %."),
        ("de", "Gerät der Mieter in Verzug, so schuldet er nach Ziffer 9 Zinsen.", "Bei Verzug schuldet der Mieter Zinsen."),
        ("hi", "ब्रेक की जाँच रोज़ होती है, टायर की जाँच महीने में एक बार होती है।", "ब्रेक की जाँच रोज़ होती है।"),
        ("und", TICKET, "A return ticket costs 14 pounds in summer."),
    ],
)  # fmt: skip
def test_given_one_half_or_both_in_their_order_then_nothing_is_mixed(lang: str, evidence: str, claim: str) -> None:
    assert list(mixed_halves(claim, evidence, lang)) == []


def test_given_another_sentence_that_says_it_then_nothing_is_mixed() -> None:
    assert (
        list(mixed_halves("A return ticket costs 14 pounds in summer.", f"{TICKET} A return ticket costs 14 pounds in summer.", "en")) == []
    )


@given(st.text(max_size=120), st.sampled_from(LANGUAGES))
def test_given_any_text_then_it_mixes_nothing_of_itself(text: str, lang: str) -> None:
    assert list(mixed_halves(text, text, lang)) == []


@each("text", ["a and b, " * 20_000, "1, 2; " * 20_000, "\u0301" * 50_000])
def test_given_hostile_text_then_it_ends_soon(text: str) -> None:
    started = time.process_time()
    list(mixed_halves("a and b", text, "en"))
    list(mixed_halves(text, "a and b", "en"))
    assert time.process_time() - started < 5
