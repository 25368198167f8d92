"""Words behind a figure that look like what it is counted by and are none: "$5 million a year ago", "in annual sales"."""

from folding import each

from rag_core.facts import changed_facts
from rag_core.facts.sentence.numbers import quantities
from rag_core.facts.sentence.units import units_in

READ = [
    ("It was $900 million a year ago", "en", ""),
    ("5 kg a week earlier", "en", ""),
    ("It was $900 million a year before.", "en", ""),
    ("20 mg a day before meals", "en", "day"),
    ("20 mg a day after meals", "en", "day"),
    ("$3 billion in annual sales", "en", ""),
    ("10.2 percent of annual revenues", "en", ""),
    ("$50,000 for a year", "en", ""),
    ("12,400 people and annual revenues", "en", ""),
    ("5 % interest annually", "en", "year"),
    ("5 million barrels daily", "en", "day"),
    ("4,3 Mrd. Euro im Jahr 2022", "de", ""),
    ("20 Tage im Jahr zuvor", "de", ""),
    ("300 Euro am Tag danach", "de", ""),
    ("300 Euro am Tag", "de", "day"),
    ("20 mg täglich vor dem Essen", "de", "day"),
    ("5 % des jährlichen Umsatzes", "de", ""),
    ("5 procent na 20 procent", "cs", ""),
    ("30 minut na 10 minut", "cs", ""),
    ("240 km za 3 hodiny", "cs", ""),
    ("5 kg za 100 korun", "cs", ""),
    ("5 g na 100 g", "cs", "100 g"),
    ("6 litrů na 100 km", "cs", "100 km"),
    ("20 korun za kilogram", "cs", "kg"),
    ("5 % z ročních tržeb", "cs", ""),
    ("5 días al mes siguiente", "es", ""),
    ("5 días al mes", "es", "month"),
    ("650 км за 4 часа", "ru", ""),
    ("3 процента от годового дохода", "ru", ""),
]
STAND = [
    ("Revenue rose to $948 million from $900 million a year ago.", "Revenue was $948 million, compared with $900 million in Q1.", "en"),
    ("It has $3 billion in annual sales.", "It had sales of $3 billion in fiscal 2022.", "en"),
    ("It has 12,400 employees and annual revenues of $3 billion.", "It has 12,400 people and revenue of $3 billion.", "en"),
    ("The margin fell by 3 percentage points.", "The margin decreased 3 points to 73%.", "en"),
    ("Die Quote sank um 0,2 Prozentpunkte.", "Die Quote sank um 0,2 Punkte auf 5,3 Prozent.", "de"),
    ("Der Umsatz betrug 4,3 Mrd. Euro im Jahr 2022.", "2022 lag der Umsatz bei 4,3 Mrd. Euro.", "de"),
    ("Podíl vzrostl z 5 procent na 20 procent.", "Podíl vzrostl z 5 na 20 procent.", "cs"),
    ("Ujel 240 km.", "Ujel 240 km za 3 hodiny.", "cs"),
    ("Nad 240 mikrogramů v metru krychlovém je to škodlivé.", "Nad 240 mikrogramů na metr krychlový je to škodlivé.", "cs"),
]
CHANGED = [
    ("The margin fell by 3 percentage points.", "The margin decreased 3% to 73.", "en"),
    ("The index fell by 3 percentage points.", "The index decreased 3 points.", "en"),
    ("It lost $900 million a year.", "It lost $900 million.", "en"),
    ("Der Umsatz betrug 4,3 Mrd. Euro im Monat.", "Der Umsatz betrug 4,3 Mrd. Euro.", "de"),
    ("Nehmen Sie 20 mg wöchentlich vor dem Essen.", "Nehmen Sie 20 mg täglich vor dem Essen.", "de"),
    ("Ujel 240 km za 3 dny.", "Ujel 240 km za 3 hodiny.", "cs"),
    ("Obsahuje 5 g na 100 ml.", "Obsahuje 5 g na 100 g.", "cs"),
]


@each("text, lang, by", READ)
def test_given_words_behind_a_figure_then_it_is_counted_by_them_only_where_they_say_so(text: str, lang: str, by: str) -> None:
    assert quantities(text, lang)[0].by == by


@each("claim, evidence, lang", STAND)
def test_given_an_honest_wording_then_nothing_is_changed(claim: str, evidence: str, lang: str) -> None:
    assert changed_facts(claim, evidence, lang) == ()


@each("claim, evidence, lang", CHANGED)
def test_given_another_unit_or_rate_then_the_claim_is_caught(claim: str, evidence: str, lang: str) -> None:
    assert changed_facts(claim, evidence, lang)


def test_given_a_qualifier_behind_a_unit_then_both_are_named() -> None:
    assert "m3" in units_in("v metru krychlovém", "cs")
    assert {"m2", "m"} <= units_in("metrů čtverečních a metrů", "cs")
