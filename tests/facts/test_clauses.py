"""Clauses and steps that changed places, converses of rules, and "by" for "to" before a value, in four languages."""

from __future__ import annotations

from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.facts import changed_facts
from rag_core.facts.differences.clauses import turned_clauses
from rag_core.facts.differences.focus import turned_universals
from rag_core.facts.differences.places import changed_directions

LANGUAGES = ("en", "cs", "de", "hi")


@each(
    ("lang", "evidence", "claim", "words"),
    [
        ("en", "Because the lake freezes, the pump is removed.", "The lake freezes because the pump is removed.", "lake … pump"),
        ("en", "Close the valve before you lift the lid.", "Lift the lid before you close the valve.", "Lift … close"),
        ("en", "Plums are first washed and then sorted.", "Plums are first sorted and then washed.", "sorted … washed"),
        ("en", "If it rains, the game moves indoors.", "If the game moves indoors, it rains.", "game … rains"),
        ("en", "First, pears are washed, then they are sorted.", "First, pears are sorted, then they are washed.", "sorted … washed"),
        ("en", "First sort the pears by size; then wash them in cold water, and dry them.",
         "First, wash the pears in cold water, and dry them; then sort them by size.", "wash … sort"),
        ("cs", "Knihy se nejprve kontrolují a potom řadí.", "Knihy se nejprve řadí a potom kontrolují.", "řadí … kontrolují"),
        ("de", "Weil der Kanal zufriert, ruht die Pumpe.", "Der Kanal zufriert, weil die Pumpe ruht.", "Kanal … Pumpe"),
        ("hi", "फलों को पहले धोया जाता है और फिर छाँटा जाता है।", "फलों को पहले छाँटा जाता है और फिर धोया जाता है।", "छाँटा … धोया"),
    ],
)  # fmt: skip
def test_given_two_clauses_that_changed_places_then_a_word_of_each_is_named(lang: str, evidence: str, claim: str, words: str) -> None:
    assert list(turned_clauses(claim, evidence, lang)) == [words]
    assert "role" in {kind for kind, _ in changed_facts(claim, evidence, lang)}


@each(
    ("lang", "evidence", "claim"),
    [
        ("en", "Because the lake freezes, the pump is removed.", "The pump is removed because the lake freezes."),
        ("en", "Close the valve before you lift the lid.", "Before you lift the lid, close the valve."),
        ("en", "Close the valve before you lift the lid.", "Lift the lid after you close the valve."),  # another word, the same order
        ("en", "Plums are first washed and then sorted.", "Plums are washed and sorted."),
        ("en", "The pump stops because the pond freezes. The pond freezes because the pump stops.",
         "The pond freezes because the pump stops."),  # another sentence says it so
        ("en", "Strangers pass because dogs sleep.", "Dogs bark loudly at night because strangers walk past with lamps."),
        ("en", "Pears rot because plums rot.", "Pears rot because of pears."),  # words that stand twice
        ("de", "Weil der Kanal zufriert, ruht die Pumpe.", "Die Pumpe ruht, weil der Kanal zufriert."),
        ("hi", "यदि वर्षा हो, तो खेल भीतर होता है।", "खेल भीतर होता है यदि वर्षा हो।"),
        ("fr", "Fermez la vanne avant de lever le couvercle.", "Levez le couvercle avant de fermer la vanne."),  # no rows
    ],
)  # fmt: skip
def test_given_a_clause_that_only_moved_then_nothing_was_turned(lang: str, evidence: str, claim: str) -> None:
    assert list(turned_clauses(claim, evidence, lang)) == []


def test_given_some_that_are_others_then_these_are_those_too() -> None:
    """The converse of "every" is another statement; that of "some" is the same one."""
    assert list(turned_universals("Every student is a member.", "Every member is a student.", "en"))
    assert list(turned_universals("Some students are members.", "Some members are students.", "en")) == []


@each(
    ("lang", "evidence", "claim", "found"),
    [
        ("en", "Every apprentice is a member of the club.", "Every member of the club is an apprentice.", ["Every member"]),
        ("en", "Every apprentice is a member of the club.", "Each apprentice is a club member.", []),
        ("en", "Each full-time worker gets a pass.", "Every worker has a pass.", []),
        ("en", "Workers get a pass every year.", "Every worker gets a pass every year.", []),
        ("cs", "Každý stážista je členem spolku.", "Každý člen spolku je stážistou.", ["Každý člen"]),
        ("de", "Jeder Lehrling ist Mitglied des Vereins.", "Jedes Mitglied des Vereins ist Lehrling.", ["Jedes Mitglied"]),
        ("hi", "हर प्रशिक्षु क्लब का सदस्य है।", "क्लब का हर सदस्य प्रशिक्षु है।", ["हर सदस्य"]),
    ],
)
def test_given_the_converse_of_a_rule_then_it_is_named(lang: str, evidence: str, claim: str, found: list[str]) -> None:
    assert list(turned_universals(claim, evidence, lang)) == found


@each(
    ("lang", "evidence", "claim", "found"),
    [
        ("en", "Sales rose by 5 percent to 300 barrels.", "Sales rose to 5 percent.", ["5 percent"]),
        ("en", "Sales rose by 5 percent to 300 barrels.", "Sales rose to about 300 barrels.", []),
        ("en", "Sales rose from 5 to 6 percent.", "Sales rose to 6 percent.", []),
        ("cs", "Počet vzrostl o 8 procent.", "Počet vzrostl na 8 procent.", ["8 procent"]),
        ("de", "Der Verkauf stieg auf 300 Stück.", "Der Verkauf stieg um 300 Stück.", ["300"]),
    ],
)
def test_given_how_far_for_where_to_then_the_value_is_named(lang: str, evidence: str, claim: str, found: list[str]) -> None:
    assert list(changed_directions(claim, evidence, lang)) == found


@given(st.text(max_size=120), st.text(max_size=120), st.sampled_from([*LANGUAGES, "und"]))
def test_given_any_text_then_its_own_clauses_have_kept_their_places(text: str, other: str, lang: str) -> None:
    first = f"because {text}, every {other} if {text}"

    for differ in (turned_clauses, turned_universals, changed_directions):
        assert list(differ(first, first, lang)) == []
        list(differ(first, other, lang))
