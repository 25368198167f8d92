"""What a question asks for: its type and its constraints, in every language that lists the words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.gating.asked import AnswerType, asked_for, asks
from rag_core.language import LANGUAGES

TYPES = {
    "en": {
        "How much did the licence cost in 2023?": "money",
        "What was the price of the ticket?": "money",
        "What is the name of the city on the river?": "place",
        "How many employees work there?": "count",
        "What percentage of the staff is part-time?": "percentage",
        "When does the contract end?": "date",
        "At what time does the hall open?": "date",
        "By when must I pay?": "deadline",
        "How far in advance must I book?": "duration",
        "In which year was it founded?": "date",
        "How long is the notice period?": "duration",
        "Who signed the lease?": "person",
        "What famous physicist lived here?": "person",
        "Which company delivers the pumps?": "organisation",
        "What city council decided?": "organisation",
        "Where is the archive?": "place",
        "What is the error code of the pump?": "code",
        "What does churn mean?": "definition",
        "What is a lien?": "definition",
        "What is a claim of the first class?": "definition",
        "Why was the line stopped?": "reason",
        "How do I reset the meter?": "procedure",
        "Name all members of the board.": "list",
        "Is smoking allowed?": "yes_no",
        "When the alarm rings, who is called?": "person",
        "What happens when the alarm rings?": "other",
        "What lacks the city?": "other",
        "Deadline for the form": "other",
    },
    "de": {
        "Wie viel kostet die Lizenz?": "money",
        "Wie hoch war der Umsatz im Jahr 2022?": "money",
        "Wie viele Personen arbeiten dort?": "count",
        "Wie viel Prozent der Stimmen waren es?": "percentage",
        "Wann endet der Vertrag?": "date",
        "Um wie viel Uhr öffnet die Halle?": "date",
        "Bis wann muss ich zahlen?": "deadline",
        "In welchem Jahr wurde sie gegründet?": "date",
        "Wie lange ist die Kündigungsfrist?": "duration",
        "Wer unterschrieb den Vertrag?": "person",
        "Welche Firma liefert die Pumpen?": "organisation",
        "Welche deutsche Stadt liegt am Main?": "place",
        "Wo ist das Archiv?": "place",
        "Was bedeutet Abnahme?": "definition",
        "Was ist eine Meldung der Klasse 2?": "definition",
        "Warum wurde die Linie gestoppt?": "reason",
        "Wie kann ich den Zähler zurücksetzen?": "procedure",
        "Ist Rauchen erlaubt?": "yes_no",
    },
    "es": {
        "¿Cuánto cuesta la licencia?": "money",
        "¿Cuántos empleados hay?": "count",
        "¿En qué año se fundó?": "date",
        "¿Quién firmó el contrato?": "person",
        "¿Qué ciudad está en el río?": "place",
        "¿Por qué se detuvo?": "reason",
    },
    "fr": {
        "Combien coûte la licence ?": "money",
        "Combien de personnes travaillent ici ?": "count",
        "En quelle année fut-elle fondée ?": "date",
        "Quelle ville se trouve au bord du fleuve ?": "place",
        "Pourquoi la ligne est-elle arrêtée ?": "reason",
    },
    "it": {
        "Quanto costa la licenza?": "money",
        "Quanti dipendenti ci sono?": "count",
        "In quale anno fu fondata?": "date",
        "Dove si trova l'archivio?": "place",
    },
    "cs": {
        "Kolik stojí licence?": "money",
        "Kolik zaměstnanců tam pracuje?": "count",
        "Kdy končí smlouva?": "date",
        "Jak dlouhá je výpovědní lhůta?": "duration",
        "Kdo podepsal smlouvu?": "person",
        "Které město leží na řece?": "place",
        "Proč byla linka zastavena?": "reason",
    },
    "sk": {
        "Koľko stojí licencia?": "money",
        "Kedy končí zmluva?": "date",
        "Kto podpísal zmluvu?": "person",
        "Prečo stojí linka?": "reason",
    },
    "pl": {
        "Ile kosztuje licencja?": "money",
        "Kiedy kończy się umowa?": "date",
        "Kto podpisał umowę?": "person",
        "Czy wolno palić?": "yes_no",
    },
    "ru": {
        "Сколько стоит лицензия?": "money",
        "Сколько сотрудников там работает?": "count",
        "В каком году она была основана?": "date",
        "Кто подписал договор?": "person",
        "Какой город стоит на реке?": "place",
        "Почему линия остановлена?": "reason",
    },
    "hi": {
        "अनुबंध कब समाप्त होता है?": "date",
        "वहाँ कितने कर्मचारी काम करते हैं?": "count",
        "अनुबंध पर हस्ताक्षर किसने किए?": "person",
        "अभिलेखागार कहाँ है?": "place",
        "लाइन क्यों रोकी गई?": "reason",
    },
}
HOSTILE = [
    "",
    " ",
    "?",
    "a" * 10_000,
    "which " * 2_000,
    "how much " * 1_200,
    "1" * 10_000,
    "§ " * 5_000,
    "مرحبا كيف " * 1_000,
    "\u202eabc\u0000",
    "𝟜𝟚 ²³½ ٣٤",
    "(" * 10_000,
    "wie viel " + "x " * 5_000,
    "A1-" * 3_000,
]


@pytest.mark.parametrize("language", TYPES)
def test_given_a_question_then_the_type_of_its_answer_is_told(language: str) -> None:
    told = {question: str(asked_for(question, language).type) for question in TYPES[language]}
    assert told == TYPES[language]


def test_given_every_language_file_then_it_says_what_is_asked_in_types_that_exist() -> None:
    known = {str(kind) for kind in AnswerType}
    for code, info in LANGUAGES.items():
        assert info.asked is not None, code
        for table in (info.asked.phrases, info.asked.nouns, info.asked.markers):
            assert set(table) <= known, code
        assert {"year", "half", "quarter", "q1", "q2", "q3", "q4"} <= set(info.asked.periods), code


def test_given_a_year_that_the_answer_must_be_of_then_it_is_named_and_no_other() -> None:
    assert asked_for("How much were net sales in fiscal 2022?", "en").in_year == 2022
    assert asked_for("How much were net sales in FY22?", "en").in_year == 2022
    assert asked_for("How have net sales grown since 2019?", "en").in_year == 0
    assert asked_for("How did net sales change in 2021 and in 2022?", "en").in_year == 0
    assert asked_for("What did they earn from 2019 to 2021?", "en").years == {2019, 2020, 2021}
    assert asked_for("What was popular in the 1990s?", "en").years == set(range(1990, 2000))
    assert asked_for("Wie hoch war der Umsatz im Jahr 2022?", "de").in_year == 2022
    assert asked_for("Какова выручка за 2022 год?", "ru").in_year == 2022


def test_given_periods_codes_laws_and_names_then_each_is_a_constraint() -> None:
    asked = asked_for("What did Acme Pumps report in Q3 2023 about error E9 under § 14 of the contract?", "en")
    assert asked.parts == {"q3"}
    assert asked.codes == {"e9"}
    assert ("acme", "pumps") in asked.names
    assert asked_for("Wie hoch war der Umsatz im dritten Quartal?", "de").parts == {"q3"}


@pytest.mark.parametrize(
    ("language", "question", "subject"),
    [
        ("en", "How high is the old dam?", "old dam"),
        ("en", "How long is the notice period?", "notice period"),
        ("en", "How much was the total revenue in fiscal year 2022?", "total revenue"),
        ("en", "What percentage of revenue is exported?", "percentage revenue exported"),
        ("de", "Wie hoch war der Umsatz im Jahr 2022?", "umsatz"),
        ("de", "Welcher Anteil entfällt auf Mieten?", "anteil entfallt mieten"),
        ("cs", "Jak vysoké byly tržby?", "trzby"),
        ("cs", "Jaký je podíl vývozu?", "podil vyvozu"),
    ],
)
def test_given_a_question_then_its_subject_is_without_periods_and_without_what_it_measures(
    language: str, question: str, subject: str
) -> None:
    assert asked_for(question, language).subject == {word[:5] for word in subject.split()}


def test_given_words_of_degree_or_comparison_then_they_are_told() -> None:
    assert asked_for("Which is the largest plant?", "en").superlative
    assert not asked_for("Who is the rest of the team in the west?", "en").superlative
    assert asked_for("What is the difference between A and B?", "en").compared
    assert asked_for("What were the revenues?", "en").flow
    assert not asked_for("What is the voltage?", "en").flow


def test_given_a_language_without_words_then_the_type_is_open_and_nothing_fails() -> None:
    asked = asked_for("Hvor mange ansatte er der i 2022?", "da")
    assert (asked.type, asked.years) == (AnswerType.OTHER, {2022})


def test_given_no_word_of_asking_but_a_known_pattern_then_it_tells_the_type() -> None:
    assert asked_for("procedure for refunds", "en").type is AnswerType.PROCEDURE
    assert asked_for("Tell me: what is the exact size", "en").type is AnswerType.COUNT


@pytest.mark.parametrize("language", [*LANGUAGES, "da", "und", ""])
def test_given_hostile_text_then_it_is_read(language: str) -> None:
    for text in HOSTILE:
        assert asked_for(text, language).type in AnswerType


@given(st.text(max_size=200), st.sampled_from([*LANGUAGES, "und"]))
def test_given_any_text_then_the_reading_is_whole_and_the_same_again(text: str, language: str) -> None:
    asked = asked_for(text, language)
    assert asked == asked_for.__wrapped__(text, language)
    assert asked.in_year == 0 or asked.years == {asked.in_year}


@pytest.mark.parametrize(
    ("language", "asking", "stating"),
    [
        ("en", "Who pays when the goods are late?", "Who pays when the goods are late is said in § 4."),
        ("en", "(“Is the valve open?”)", "The valve is open (see “Is the valve open?” below)."),
        ("en", "Example: Find the sum of the first nine terms.", "Find the serial number under the lid."),
        ("en", "3. Prove that the two angles are equal.", "3. Prove your identity at the desk."),
        ("de", "Berechnen Sie die Summe der ersten neun Glieder.", "Berechnen Sie vier Stunden für die Anreise."),
        ("cs", "Určete součet prvních devíti členů.", "Určete jednu osobu, která klíč převezme."),
        ("sk", "Vypočítajte súčet prvých deviatich členov.", "Vypočítajte si čas na cestu."),
        ("es", "Calcule la suma de los nueve primeros términos.", "Calcule dos horas para el viaje."),
        ("fr", "Calculez la somme des neuf premiers termes.", "Calculez deux heures pour le trajet."),
        ("it", "Calcola la somma dei primi nove termini.", "Calcola due ore per il viaggio."),
        ("pl", "Oblicz sumę dziewięciu pierwszych wyrazów.", "Oblicz dwie godziny na dojazd."),
        ("ru", "Найдите сумму первых девяти членов.", "Найдите ключ под крышкой."),
        ("hi", "उदाहरण: पहले नौ पदों का योग ज्ञात कीजिए।", "पहले नौ पदों का योग 45 है।"),
        ("ar", "من يدفع الرسوم؟", "يدفع المشتري الرسوم."),
    ],
)
def test_given_a_sentence_that_asks_or_sets_a_task_then_it_is_known_from_one_that_states(
    language: str, asking: str, stating: str
) -> None:
    assert asks(asking, language)
    assert not asks(stating, language)


def test_given_a_degree_within_a_name_then_nothing_is_asked_for_in_a_highest_degree() -> None:
    assert not asked_for("What was the cash of Best Buy?", "en").superlative
    assert asked_for("What was the best offer?", "en").superlative


def test_given_a_date_then_its_month_is_neither_a_name_nor_what_the_question_is_about() -> None:
    asked = asked_for("How much was the cash for the fiscal year ending January 28, 2023?", "en")
    assert asked.names == ()
    assert asked.subject == {"cash"}


def test_given_words_that_only_ask_for_a_figure_then_they_are_no_part_of_the_subject_unless_alone() -> None:
    assert asked_for("What was the amount of debt that it reported?", "en").subject == {"debt"}
    assert asked_for("What was the amount?", "en").subject == {"amoun"}


def test_given_instructions_then_they_state_no_constraint() -> None:
    """A number or year in an instruction is none of the question."""
    asked = asked_for("What was the debt? Round to 2 decimals and assume the standards of 2019.", "en")
    assert asked.years == frozenset()
    assert asked.words == asked_for("What was the debt?", "en").words


def test_given_a_question_in_the_first_person_then_its_i_is_no_name_that_a_sentence_has_to_hold() -> None:
    assert asked_for("How do I request vacation?", "en").names == ()
    assert asked_for("May I fly to Prague?", "en").names == (("prague",),)
    assert asked_for("What does the WHO say of Group I?", "en").names == (("who",), ("group", "i"))


def test_given_a_hindi_question_for_the_kind_of_a_thing_then_it_asks_for_no_procedure() -> None:
    assert asked_for("मीटर को किस प्रकार रीसेट करते हैं?", "hi").type is AnswerType.PROCEDURE
    assert asked_for("यह किस प्रकार का मीटर है?", "hi").type is not AnswerType.PROCEDURE
    assert asked_for("यह किस तरह की सड़क है?", "hi").type is not AnswerType.PROCEDURE
