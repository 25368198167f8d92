"""How a sentence fits what is asked for: the type it holds, and the row that it is."""

from __future__ import annotations

from dataclasses import astuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.domain.rows import EMPTY
from rag_core.gating.asked import asked_for
from rag_core.gating.fit import NOWHERE, Context, Fit, fits
from rag_core.gating.row import asks_for_empty, lacking, nameless, outdone, row_asked
from rag_core.gating.stated import read
from rag_core.language import LANGUAGES
from tests.gating.test_asked import HOSTILE


def fit(question: str, text: str, language: str = "en", **context: str) -> Fit:
    return fits(asked_for(question, language), text, Context(**context), language)


@pytest.mark.parametrize(
    ("language", "question", "better", "worse"),
    [
        ("en", "How much does the permit cost?", "It costs 40 dollars.", "It is valid for 3 years."),
        (
            "en",
            "How many employees work in the plant?",
            "The plant employs about 300 people.",
            "The plant lies in a quiet valley.",
        ),
        (
            "en",
            "What percentage of staff is part-time?",
            "Some 12 per cent work part-time.",
            "In 2019 staff came from Oslo.",
        ),
        ("en", "When was the mill founded?", "The mill opened on 3 May 1902.", "The mill grinds 40 tons."),
        ("en", "When was the mill founded?", "It opened in May.", "It is made of stone."),
        ("en", "In what century was the abbey built?", "It was built in the 12th century.", "It has 12 windows."),
        ("en", "How long is the notice period?", "It is three months.", "It must be in writing."),
        ("en", "When does the hall open?", "It opens at 9 a.m.", "It has 9 doors."),
        ("en", "How many members has the board?", "5. The board has three members.", "5. The board meets in the hall."),
        (
            "en",
            "By when must the form be returned?",
            "It must be returned within two weeks.",
            "It must be signed by two people.",
        ),
        ("de", "Bis wann muss das Zimmer frei sein?", "Es ist bis 10:00 Uhr zu räumen.", "Es hat 10 Betten."),
        ("cs", "Do kdy se podává reklamace?", "Podává se do dvou měsíců.", "Podává se ve 2 kopiích."),
        ("es", "¿Hasta qué día hay que pagar?", "Se paga en los primeros 5 días del mes.", "Se paga con 2 tarjetas."),
        ("en", "Who led the project?", "The project was led by Ada Marsh.", "The project was led with care."),
        ("en", "Who led the Orion project?", "It was led by Ada Marsh.", "The Orion project went on."),
        ("en", "Where is the archive?", "The archive is in Lindau.", "The archive is open daily."),
        ("en", "Which company delivers the pumps?", "They come from Marsh Hydraulics Ltd.", "They come by ship."),
        ("en", "Why was the line stopped?", "It was stopped because of a leak.", "It was stopped at noon."),
        ("en", "What does churn mean?", "Churn is the share of clients that leave.", "We lowered it again."),
        ("en", "What is the error code of the pump?", "The pump shows E42.", "The pump shows nothing."),
        ("de", "Wie hoch war die Gebühr?", "Sie betrug 40 Euro.", "Sie galt drei Jahre."),
        ("de", "Wann wurde die Mühle gegründet?", "Sie wurde am 03.05.1902 eröffnet.", "Sie mahlt Korn."),
        ("de", "Wer leitete das Projekt?", "Geleitet wurde es von Ada Marsch.", "Geleitet wurde es mit Sorgfalt."),
        ("es", "¿En qué siglo se construyó?", "Se construyó en el siglo XII.", "Tiene doce ventanas."),
        ("ru", "Когда подписан договор?", "Он подписан 1992 года.", "Он подписан молча."),
        ("hi", "परियोजना का नेतृत्व किसने किया?", "इसका नेतृत्व चंगेज लूथर ने किया।", "यह काम शहर में हुआ।"),
        ("cs", "Kolik stojí povolení?", "Stojí 400 Kč.", "Platí tři roky."),
        ("cs", "Kdy byla smlouva podepsána?", "Podepsána byla 3. května 2026.", "Podepsána byla podle § 2079."),
        (
            "cs",
            "Kdy byla smlouva podepsána?",
            "Podepsána byla 3. května 2026.",
            "Podepsána byla pod č. 2026/041 a 89/2012.",
        ),
        (
            "en",
            "What is a lock chamber?",
            "A lock chamber is a basin.",
            "When a lock chamber fills, the gate is called the upper gate.",
        ),
        ("en", "What is a lock chamber?", "Such a basin is called a lock chamber.", "The wall is a thick one."),
        (
            "en",
            "What is a lock chamber?",
            "Lock chamber: the basin between two gates.",
            "They opened the lock chamber.",
        ),
        ("en", "What does code K7 mean?", "K7 | No current | Check the plug", "K8 | No water | Open the tap"),
        (
            "de",
            "Was ist eine Meldung der Klasse 2?",
            "• Klasse 2: Ein Gerät steht.",
            "Eine Meldung der Klasse 2 wird heute bearbeitet.",
        ),
        ("hi", "जलकपाट क्या है?", "जलकपाट ऐसी दीवार है जो पानी रोकती है।", "जलकपाट के पास एक पुराना पुल है।"),
    ],
)
def test_given_two_sentences_then_the_one_without_the_type_lacks_it(
    language: str, question: str, better: str, worse: str
) -> None:
    assert (fit(question, better, language).lacks, fit(question, worse, language).lacks) == (False, True)


@pytest.mark.parametrize("address", ["https://example.org/2022/02/23/2022-03920/tool", "www.example.org/2022/02/23"])
def test_given_the_address_of_a_page_then_its_figures_are_no_date_and_count_nothing(address: str) -> None:
    assert fit("On what date did the tool come out?", f"It can be found at {address}.").lacks
    assert fit("On what date did the tool come out?", f"It came out on 18 May 2022, see {address}.").lacks is False
    assert [number.word for number in read(f"See {address} of 3 May.", "en").numbers] == ["3", "may"]


def test_given_what_the_question_says_itself_then_it_is_no_answer() -> None:
    assert fit("When in 1902 was the mill sold?", "In 1902 the mill was sold.").lacks
    assert fit("Who was Ada Marsh?", "Ada Marsh was kind.").lacks


HEADS = "Balance sheet › $ in millions; January 28, 2023 | January 29, 2022"


@pytest.mark.parametrize(
    ("question", "text", "row"),
    [
        ("How much were total current assets in 2023?", "Total current assets | 8,802 | 10,539", 0.8),
        ("What is the total of current assets?", "Total current assets | 8,802 | 10,539", 1.0),
        ("How much were total assets in 2023?", "Total current assets | 8,802 | 10,539", 0.8 * 2 / 3),
        ("How much were total current assets in 2019?", "Total current assets | 8,802 | 10,539", 0.0),
        ("How much were total current assets of Northfield in 2023?", "Total current assets | 8,802 | 10,539", 0.8),
        ("What is the pressure loss at the maximum flow rate?", "Maximum flow rate | 25 m³/h", 0.36),
        ("What is the maximum flow rate of the MK-80?", "Maximum flow rate | 25 m³/h", 0.0),
        ("How much higher is the number of stores compared to kiosks?", "Stores | 40", 0.0),
        ("How many stores are there?", "Stores | none", 0.0),
        ("How many stores are there?", "Stores | 40", 1.0),
        ("How many stores are there?", "Stores: 40", 0.0),
        ("How many stores are there?", "2019 | 40", 0.0),
        ("What was the revenue in 2023?", "Total revenue | 46,298 | 51,761", 0.8),
        ("What was the revenue in 2023?", "Product revenue | 4,298 | 5,761", 0.4),
        ("What was the revenue in 2023?", "Total | 46,298 | 51,761", 0.0),
        ("What is liable?", " | ".join(["liable"] * 3), 1.0),
        ("What is liable?", " ".join(["liable"] * 15) + " | yes", 0.0),
        ("Who is the auditor?", "Auditor | 4777", 0.0),
        ("Who is the auditor?", "Auditor | Ada Marsh", 1.0),
        ("Who is the chief executive officer?", "Ada Marsh | 47 | Chief Executive Officer | 2019", 1.0),
        ("Who is the chief executive officer?", "Ada Marsh | 47 | Director and Chief Executive Officer | 2019", 0.75),
        ("Who is the chief technology officer?", "Ada Marsh | 47 | Chief Executive Officer | 2019", 0.0),
        ("Who is the chief executive officer?", "47 | Chief Executive Officer | 2019", 0.0),
        ("What does a permit cost?", "40 | Permit | 50", 0.0),
        ("When does the permit end?", "Permit | end of the line", 0.0),
        ("EPS?", "Earnings per share | 2.10", 1.0),
        ("How much was the capital expenditure?", "Purchases of property, plant and equipment (PP&E) | (1,577)", 1.0),
        ("How much was the capital expenditure?", "Purchases of marketable securities | (1,577)", 0.0),
        (
            "How much cash flow from operating activities did it generate?",
            "Net cash provided by operating activities | 381",
            1.0,
        ),
        ("What is the gross margin?", "Net sales | 381", 0.0),
        ("What was the net income?", "(1) | 381", 0.0),
        ("What was the amount of total assets?", "Total assets | 8,802", 1.0),
        ("How do I set the zero point?", "Set the zero point | 12 months", 0.0),  # a row says no steps
        ("What was Best Buy's cash in 2023?", "Cash | 1,874", 0.8),
        ("What was the cash at January 28, 2023?", "Cash | 1,874", 0.8),
        ("What was the net loss per share?", "Net loss per share, basic and diluted | (3.02)", 1.0),
        ("What were accounts receivable, net?", "Accounts receivable, net of allowance of 55 and 51 | 1,073", 1.0),
        ("What was the long-term debt?", "Long-term debt, current | 56", 0.75),
        ("What were marketing expenses?", "Marketing | 2,657", 1.0),
        ("How much did they spend on marketing?", "Marketing | 2,657", 1.0),
        ("What were net sales?", "Revenue | 2,657", 1.0),
        ("What is the goodwill in 2023?", "Fiscal 2024 | 61", 0.0),
        ("What is the goodwill in 2023?", "Fiscal Year | Amount", 0.0),
        ("What is the goodwill?", "Goodwill | January 28, 2023 | Weighted average", 0.0),
        ("How does it record inventories?", "Inventories | 809 | 700", 0.0),
        ("How are inventories recorded?", "Inventories | at cost", 1.0),
    ],
)
def test_given_a_row_then_its_label_its_heads_and_its_period_say_how_surely_it_is_the_one_asked_for(
    question: str, text: str, row: float
) -> None:
    assert fit(question, text, section=HEADS if "20" in question else "").row == pytest.approx(row)


@pytest.mark.parametrize(
    ("question", "text", "is_row"),
    [
        ("What is the loss from operations?", "Loss from operations | (44)% | (22)%", False),
        ("What is the loss from operations?", "Loss from operations | (44) | % | (22) | %", False),
        ("What is the loss from operations?", "Loss from operations | 3,834 | (22)%", True),
        ("What was the growth of sales?", "Sales growth | 5 %", True),
        ("What percentage of sales is it?", "Percentage of sales | 5 %", True),
        ("What was the weight of the pump?", "Weight | 5 %", True),
        ("What were sales in 2019?", "Sales | 381", False),
        ("What were sales in 2023?", "Sales | 381", True),
        ("What were sales in 2019?", "Sales 2019 | 381", True),
    ],
)
def test_given_a_row_of_shares_or_below_other_years_then_it_is_no_row_for_an_amount(
    question: str, text: str, is_row: bool
) -> None:
    assert bool(fit(question, text, section=HEADS if "20" in question else "").row) is is_row


@pytest.mark.parametrize(
    ("question", "section", "is_row"),
    [
        ("What were sales in 2023?", "Nine months ended 2023", True),
        ("What were sales in 2023?", "Second quarter 2023", False),
        ("What were sales in the second quarter of 2023?", "Second quarter 2023", True),
        ("What were sales in 2023?", "Year 2023 › Statement of Income for Obligor Group", False),
        ("What were sales in 2023?", "Year 2023 › Sales by segment", True),
        ("What were sales of the obligor group in 2023?", "Year 2023 › Statement of Income for Obligor Group", True),
    ],
)
def test_given_heads_of_a_part_of_the_year_or_firm_then_their_row_is_not_the_whole(
    question: str, section: str, is_row: bool
) -> None:
    assert bool(fit(question, "Sales | 381", section=section).row) is is_row


@pytest.mark.parametrize(
    ("question", "text", "title", "is_row"),
    [
        ("What was the total income in 2022?", "Total income | $2,990,571", "financial_report_2021.pdf", False),
        ("What was the total income in 2022?", "Total income | $2,990,571", "Report", True),
        ("What is the maximum flow of the FM-80?", "Maximum flow | 25 | m³/h", "FM-40 Flow Meter, Manual", False),
        ("What is the maximum flow of the FM-80?", "Maximum flow | 25 | m³/h", "FM-40 and FM-80, Manual", True),
    ],
)
def test_given_the_title_of_another_year_or_model_then_its_row_is_not_the_one(
    question: str, text: str, title: str, is_row: bool
) -> None:
    assert bool(fit(question, text, title=title).row) is is_row


def test_given_the_sum_over_several_names_then_a_row_of_one_states_no_such_result() -> None:
    asked = "How many flights did Alva, Brinor and Cadmy have in total?"
    assert fit(asked, "Alva | 5").result == 0.0
    assert fit(asked, "Alva, Brinor and Cadmy had 41.").result == 1.0
    assert fit(asked, "The three had 41 flights in total.").result == 1.0
    assert fit("How many flights did Alva have in total?", "Alva | 5").result == 1.0


def test_given_a_row_of_a_documents_own_name_then_it_answers_for_nothing_else() -> None:
    asked, about = asked_for("What is the tax rate of Northfield?", "en"), frozenset({"north"})
    assert row_asked(asked, "Northfield | 100 | 84", "", "en", about) == 0.0
    assert row_asked(asked, "Northfield | 100 | 84", "", "en") > 0, (
        "another name may be what the rows of a table are called"
    )
    assert row_asked(asked, "Northfield | 100 | 84", "Tax rate", "en", about) == 1.0


def test_given_capitals_that_do_not_tell_names_then_a_name_elsewhere_is_not_looked_for() -> None:
    about = frozenset({"north"})
    assert row_asked(asked_for("Wie hoch war der Umsatz in Xanten?", "de"), "Umsatz | 381", "", "de", about) > 0


def test_given_a_label_with_the_whole_subject_then_those_with_a_part_of_it_lack_something() -> None:
    asked = asked_for("What was Northfield's net loss per share?", "en")
    assert lacking(asked, ["Net loss", "Net loss per share, basic and diluted", "Revenue"], "en") == [
        True,
        False,
        False,
    ]
    assert lacking(asked, ["Net loss", "Revenue"], "en") == [False, False]


def test_given_a_metric_then_its_words_are_no_place() -> None:
    assert asked_for("What were capital expenditures in 2021?", "en").type == "other"
    assert asked_for("What is the capital of Norway?", "en").type == "place"


@pytest.mark.parametrize(
    ("language", "question", "text"),
    [
        ("en", "How much were the net sales?", "Total net sales | 410"),
        ("cs", "Jaké byly tržby?", "Tržby celkem | 410"),
        ("de", "Wie hoch war der Umsatz?", "Umsatz gesamt | 410"),
        ("sk", "Aké boli tržby?", "Tržby spolu | 410"),
        ("pl", "Jakie były przychody?", "Przychody razem | 410"),
        ("fr", "Quel était le revenu ?", "Total revenu | 410"),
        ("es", "¿Cuáles fueron los ingresos?", "Total ingresos | 410"),
        ("it", "Quali erano i ricavi?", "Totale ricavi | 410"),
        ("ru", "Какая была выручка?", "Общая выручка | 410"),
        ("hi", "बिक्री कितनी थी?", "कुल बिक्री | 410"),
    ],
)
def test_given_a_word_for_a_total_in_a_label_then_the_row_is_no_other(language: str, question: str, text: str) -> None:
    assert fit(question, text, language).row == 1.0


def test_given_a_row_for_a_code_then_the_code_may_stand_above_it() -> None:
    assert fit(
        "What is the maximum flow rate of the MK-80?", "Maximum flow rate | 25 m³/h", title="Meter MK-80"
    ).row == pytest.approx(1.0)


CODES = "Codes › Code | Meaning | Remedy"
TEAMS = "Teams › Topic | Team | Extension"


@pytest.mark.parametrize(
    ("language", "question", "text", "row"),
    [
        ("en", "What does E4 mean?", "E4 | Sensor failed | Send it in", 0.9),
        ("de", "Was bedeutet die Meldung E4 am Messgerät?", "E4 | Sensor failed | Send it in", 0.9),
        ("cs", "Co znamená chyba E4 na displeji?", "E4 | Sensor failed | Send it in", 0.9),
        ("en", "What should I do when the pump shows E4?", "E4 | Sensor failed | Send it in", 0.6),
        ("en", "What is the name of the market with the code NM01?", "1. | Northern market | NM01", 0.6),
        ("en", "What is the name of the market with the code NM01?", "2. | Southern market | NM02", 0.0),
        # only speaks of it
        (
            "en",
            "What is the name of the market with the code NM01?",
            "2. | Southern market | like NM01",
            0.0,
        ),
        ("en", "What does E4 mean?", "E5 | Sensor failed | Like E4, but hot", 0.0),
        # nothing here is of the MK-80
        (
            "en",
            "What does E4 mean on the MK-80?",
            "E4 | Sensor failed | Send it in",
            0.0,
        ),
        ("en", "How often did E4 occur?", "E4 | Sensor failed | Send it in", 0.0),  # no count
        ("en", "What does error 429 mean?", "429 | Too many requests | Wait", 0.9),
        ("en", "What does error 42 mean?", "42 | Too many requests | Wait", 0.0),  # so short a number counts rows
        ("en", "What does the 2019 label mean?", "2019 | Too many requests | Wait", 0.0),
    ],
)
def test_given_the_row_of_a_code_then_it_is_known_by_the_code(
    language: str, question: str, text: str, row: float
) -> None:
    assert fits(asked_for(question, language), text, Context(section=CODES), "en").row == pytest.approx(row)


@pytest.mark.parametrize(
    ("language", "question", "text", "row"),
    [
        ("en", "Which extension does the payroll office have?", "Travel | Payroll office | 4330", 1.0),
        ("de", "Welche Durchwahl hat die Kasse?", "Reisen | Kasse | 4330", 1.0),
        ("en", "Which extension does the payroll office have?", "Travel | Office | 4330", 0.0),
        ("en", "Which key opens the payroll office?", "Travel | Payroll office | 4330", 0.0),  # no code is asked for
        # the verb stands nowhere
        (
            "en",
            "Which extension reaches the payroll office?",
            "Travel | Payroll office | 4330",
            0.75**2,
        ),
    ],
)
def test_given_a_code_is_asked_for_then_the_label_may_stand_before_it(
    language: str, question: str, text: str, row: float
) -> None:
    heads = TEAMS if language == "en" else "Teams › Thema | Team | Durchwahl"
    assert fit(question, text, language, section=heads).row == pytest.approx(row)


def test_given_an_open_type_then_nothing_is_said() -> None:
    assert not fit("What happens when the alarm rings?", "The alarm rings and the doors close.").lacks


def test_given_the_labels_of_a_table_then_one_that_has_less_of_the_subject_than_another_is_outdone() -> None:
    asked = asked_for("What were current assets?", "en")

    assert outdone(
        asked, ["Goodwill", "Assets", "Current assets", "Total current assets", "Assets of others"], "en"
    ) == [
        False,
        True,
        False,
        False,
        True,
    ]
    assert outdone(asked, [], "en") == []
    ours = asked_for("What score did Model A + Tuning achieve?", "en")
    assert outdone(ours, ["Model A", "Model A + Tuning (ours)"], "en") == [True, False]


@pytest.mark.parametrize(
    ("question", "places", "lost"),
    [
        ("What were total net sales in Canada?", ["Sales", "Sales"], [True, False]),
        # its place has the name
        (
            "What were total net sales in Canada?",
            ["Sales in Canada", "Sales"],
            [False, False],
        ),
        ("What were total net sales in Norway?", ["Sales", "Sales"], [False, False]),  # no row is that name
        ("What were total net sales?", ["Sales", "Sales"], [False, False]),
    ],
)
def test_given_a_row_that_is_a_name_of_the_question_then_one_without_it_is_not_known_by_its_label(
    question: str, places: list[str], lost: list[bool]
) -> None:
    assert nameless(asked_for(question, "en"), ["Total net sales", "Canada"], places) == lost


def test_given_two_names_of_the_question_that_are_rows_then_neither_outdoes_the_other() -> None:
    asked = asked_for("What were net sales in Canada and Norway?", "en")

    assert nameless(asked, ["Canada", "Norway", "Total"], ["", "", ""]) == [False, False, True]
    assert nameless(asked, [], []) == []


@pytest.mark.parametrize(
    ("question", "labels"),
    [
        ("What is the ticket price for adults?", ["Adults", "Adults, evening ticket"]),
        ("How much is the rent of a locker with a key?", ["Locker", "Locker, replacement of a lost key"]),
        (
            "What is the notice period of employees?",
            ["Notice period", "Notice period of employees in the probation period"],
        ),
    ],
)
def test_given_a_longer_label_with_words_that_nobody_asked_for_then_it_outdoes_no_other(
    question: str, labels: list[str]
) -> None:
    """It has a word of the question by chance, and is of something else."""
    assert outdone(asked_for(question, "en"), labels, "en") == [False, False]


@pytest.mark.parametrize(
    ("language", "question", "text", "result"),
    [
        ("en", "What was the revenue in 2020?", "Revenue | 40 | 30", 1.0),
        ("en", "What was the percentage change in revenue from 2019 to 2020?", "Revenue | 40 | 30", 0.0),
        ("en", "What was the percentage change in revenue from 2019 to 2020?", "Revenue grew by a third in 2020.", 1.0),
        ("en", "What was the average in rent from 2019 to 2020?", "Rent | 40 | 30", 0.0),
        ("en", "What was the average in rent from 2019 to 2020?", "On average, the rent was 35.", 1.0),
        ("en", "What is the quick ratio?", "Current assets | 40", 0.0),
        ("en", "What was the ROE?", "ROE | 12.5 | 11.0", 1.0),  # the word that asks is there
        ("de", "Wie hoch war die Umsatzrendite?", "Umsatzrendite | 8,2", 1.0),
        ("en", "How do I change the battery?", "Insert two cells.", 1.0),
        ("en", "How much cash was there in total?", "Cash | 689", 1.0),  # a sum may be any figure
        ("en", "Calculate the VAT amount.", "The VAT amount is 76 euros.", 1.0),
        ("en", "How long do customers wait on average?", "Customers usually wait ten minutes.", 1.0),
        ("de", "Wie lange dauert der Anschluss im Durchschnitt?", "Üblicherweise dauert er zwei Wochen.", 1.0),
        ("cs", "Kolik nocí host v průměru zůstane?", "Host obvykle zůstane tři noci.", 1.0),
        ("en", "What is the highest pressure?", "Maximum pressure | 16 bar", 1.0),  # a label may be the highest itself
        # what is told is no figure
        (
            "en",
            "What is the difference between a term and a sum?",
            "A sum adds terms.",
            1.0,
        ),
        ("de", "Um wie viel Prozent stieg der Umsatz von 2019 auf 2020?", "Umsatz | 40 | 30", 0.0),
        ("de", "Um wie viel Prozent stieg der Umsatz von 2019 auf 2020?", "Der Umsatz stieg um ein Drittel.", 1.0),
        ("ja", "What was the percentage change in revenue from 2019 to 2020?", "40", 1.0),  # nobody knows its words
    ],
)
def test_given_a_question_that_asks_to_compute_then_only_words_for_a_result_may_answer(
    language: str, question: str, text: str, result: float
) -> None:
    assert fits(asked_for(question, language), text, NOWHERE, language).result == result


def test_given_a_heading_that_says_average_then_its_rows_state_one() -> None:
    row = fit("What is the average price per kWh of the Home tariff?", "Home | 31.2", section="Average price per kWh")
    assert row.result == 1.0


def test_given_numbers_in_many_notations_then_each_has_its_kind() -> None:
    kinds = {
        "EUR 5": "money",
        "5 million dollars": "money",
        "5 %": "percentage",
        "5 per cent": "percentage",
        "five days": "duration",
        "1902 years": "duration",
        "the 5th": "ordinal",
        "in 1263": "date",
        "the 1990s": "date",
        "the '50s": "date",
        "1902": "date",
        "12.03.2024": "date",
        "May": "month",
        "B12": "code",
        "from 6:04": "time",
        "16:30": "time",
        "9 a.m.": "time",
        "at 9 o'clock": "time",
        "9.30 pm": "time",
        "46:30": "countcount",
        "30 pm": "count",
        "5. Five members": "count",
        "5. The board": "",
        "(2) the board": "",
        "7) a board": "",
        "7.1 Fees": "",
        "3. May": "datemonth",
        "7.1 GHz": "count",
        "12 members": "count",
        "5x7": "count",
        "1200": "count",
        "may": "",
    }
    assert {text: "".join(number.kind for number in read(text, "en").numbers) for text in kinds} == kinds
    assert [number.kind for number in read("７ Euro im XII. Jahrhundert, fünf Prozent", "de").numbers] == [
        "money",
        "date",
        "percentage",
    ]
    assert [number.kind for number in read("• bis 19:00 Uhr, ab 9 Uhr", "de").numbers] == ["time", "time"]
    assert [number.kind for number in read("९ बजे", "hi").numbers] == ["time"]
    assert [number.kind for number in read("5 5th 1200", "xx").numbers] == ["count", "ordinal", "count"]
    assert read("от 1990 до 2005", "ru").years == frozenset(range(1990, 2006))


def test_given_names_then_runs_are_read_and_those_that_may_be_words_are_unclear() -> None:
    def runs(text: str, language: str) -> list[tuple[str, bool]]:
        stated = read(text, language)
        return [(" ".join(stated.words[run.at : run.end]), run.clear) for run in stated.names]

    assert runs("The Bank of Lindau paid Ada Marsh.", "en") == [("bank", True), ("lindau", True), ("ada marsh", True)]
    assert runs("Water is wet, says NASA.", "en") == [("water", False), ("nasa", True)]
    assert runs("Das Haus gehört Ada Marsch.", "de") == [("haus", False), ("ada marsch", True)]
    assert runs("यह शहर चंगेज का है", "hi") == [("चंगेज", True)]
    assert runs("یہ شہر", "en") == []


@pytest.mark.parametrize("language", [*LANGUAGES, "da", "und", ""])
def test_given_hostile_text_then_it_is_read(language: str) -> None:
    asked = [asked_for(question, language) for question in ("Who said § 14 of E9 in fiscal 2022 Q3?", HOSTILE[4])]
    for text in HOSTILE:
        for one in asked:
            found = fits(one, text, Context(text, text, text), language)
            assert all(0 <= value <= 1 for value in astuple(found))


@given(st.text(max_size=120), st.text(max_size=160), st.sampled_from([*LANGUAGES, "und"]))
def test_given_any_texts_then_the_features_stay_in_their_range(question: str, text: str, language: str) -> None:
    found = fits(asked_for(question, language), text, NOWHERE, language)
    assert all(0 <= value <= 1 for value in astuple(found))


def test_given_half_of_a_name_or_a_language_without_words_for_it_then_nothing_is_defined() -> None:
    """The arithmetic mean is no answer to what the harmonic mean is."""
    asked = "What is a harmonic mean?"
    assert not fit(asked, "A harmonic mean is a number.").lacks
    assert fit(asked, "A basin is a number.").lacks
    assert not fits(asked_for(asked, "en"), "A basin is a number.", NOWHERE, "und").lacks


@pytest.mark.parametrize(
    ("question", "row", "empty"),
    [
        ("Where is Pottery on Monday?", f"Pottery | {EMPTY} | room 4", True),
        ("Where is Pottery on Monday?", "Pottery |  | room 4", True),
        ("Where is Pottery on Wednesday?", f"Pottery | {EMPTY} | room 4", False),
        ("Where is Pottery?", f"Pottery | {EMPTY} | room 4", False),  # names no column
        ("Where is Pottery on Monday and Wednesday?", f"Pottery | {EMPTY} | room 4", False),  # one of them is there
        ("Where is Pottery on Monday?", "Pottery | – | room 4", False),  # a dash that is printed says something
        ("Where is Pottery on Monday?", f"Pottery | {EMPTY}", False),  # nobody knows below which head
    ],
)
def test_given_a_question_about_a_column_when_the_cell_of_the_row_is_empty_then_the_row_says_nothing(
    question: str, row: str, empty: bool
) -> None:
    assert asks_for_empty(asked_for(question, "en"), row, "Course | Monday | Wednesday") is empty
