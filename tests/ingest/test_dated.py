"""The day of a first page: found in ten languages where the page says that it is the document's own, and never
guessed.
"""

from __future__ import annotations

from datetime import date

import pytest
from babel import Locale
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_core.domain.documents import Page, PageSource
from rag_core.ingest.dating import MAX_ROWS, believed, first_page_date
from rag_core.language import LANGUAGES
from tests.folding import each

TODAY = date(2026, 11, 25)
BODY = "\n".join(f"The {word} row of the body is a sentence that goes on and on." for word in ["first", *["next"] * 40])


def found(text: str, language: str = "en") -> str:
    return first_page_date(Page(1, text), language, TODAY)


# language, first page, the day that it says
TOLD = [
    ("en", "FORM 8-K\nDate of Report (Date of earliest event reported): July 1, 2022 (June 30, 2022)", "2022-07-01"),
    ("en", "FORM 8-K\nDate of report (Date of earliest event reported):\nAugust 30, 2023\nACME", "2023-08-30"),
    ("en", "FORM 8-K\nAugust 30, 2023\nDate of Report (Date of earliest event reported)\nACME", "2023-08-30"),
    ("en", f"Privacy policy\n{BODY}\nLast updated: 3rd of March 2024", "2024-03-03"),
    ("en", "Travel policy\nEffective 1 January 2024", "2024-01-01"),
    ("en", "Travel policy\nVersion 2.1 | Effective date: 2024-01-15 | Public", "2024-01-15"),
    ("en", "MASTER SERVICES AGREEMENT\ndated as of the 1st day of July, 2022\nbetween\nAcme and Globex", "2022-07-01"),
    ("en", "FOR RELEASE JULY 30, 2020\nWhat people think", "2020-07-30"),
    ("en", "For the fiscal year ended December 31, 2022\nCommission file number 1-2", "2022-12-31"),
    ("en", "For the quarterly period ended\tOctober 1, 2022\nOR", "2022-10-01"),
    ("en", "Balance sheet\nAs of June 30, 2022", "2022-06-30"),
    ("en", f"On bolts\n{BODY}\narXiv:2310.07609v1 [cs.CL] 11 Oct 2023", "2023-10-11"),
    ("en", "A library of bolts\nRelease 2.18.0\nOct 28, 2021", "2021-10-28"),
    ("en", "Friday, 3 May 2024\nDear customer,", "2024-05-03"),
    ("en", "Date: Fri, 3 May 2024 10:15:00 +0200\nSubject: bolts", "2024-05-03"),
    ("en", "Minutes\nMay 2024\nPresent: everybody", "2024-05"),
    ("en", "Report\nMay 2024\nDate: 3 May 2024", "2024-05-03"),
    ("en", "Invoice date: 25/07/2024", "2024-07-25"),
    ("en", "1-Jul-2022\nA note on bolts", "2022-07-01"),
    # the label is that of the date below it
    ("en", f"Title\n{BODY}\n3 May 2024\nDate of publication:\n4 May 2024", "2024-05-04"),
    ("de", "Satzung der Stadtbibliothek\nvom 1. März 2024\n§ 1 Aufgaben", "2024-03-01"),
    ("de", "Merkblatt Reisekosten\nStand: März 2024", "2024-03"),
    ("de", "Stand\t01.03.2024\nMerkblatt", "2024-03-01"),
    ("de", "Handbuch\nNordlicht Software GmbH, Stand 10. Februar 2026", "2026-02-10"),
    ("en", "Company policies\nBrightwater Instruments Ltd. In force from 1 March 2024.", "2024-03-01"),
    ("en", "Tariff of the ferry, valid from 1 May 2022\nA crossing costs 31 crowns.", "2022-05-01"),
    ("de", "Gebühren der Fähre gültig ab 1. Mai 2022\nEine Fahrt kostet 31 Euro.", "2022-05-01"),
    ("de", "Jahresabschluss zum 31. Dezember 2023\nder Beispiel GmbH", "2023-12-31"),
    ("de", "Gültig ab 1. Jänner 2025\nTarif", "2025-01-01"),
    ("cs", "Směrnice o cestovních náhradách\nÚčinnost od: 1. 1. 2024", "2024-01-01"),
    ("cs", "Rámcová smlouva č. 12/2024\nze dne 15. března 2024", "2024-03-15"),
    ("cs", "Datum vydání: 15.3.2024\nNávod", "2024-03-15"),
    ("cs", "Účetní závěrka ke dni 31. prosince 2023", "2023-12-31"),
    ("sk", "Smernica\nPlatnosť od: 1. januára 2024", "2024-01-01"),
    ("sk", "Zmluva\nzo dňa 15. marca 2024", "2024-03-15"),
    ("pl", "Regulamin\nz dnia 15 marca 2024 r.", "2024-03-15"),
    ("pl", "Stan na 31.12.2023\nRaport", "2023-12-31"),
    ("ru", "Приказ\nот 15.03.2024", "2024-03-15"),
    ("ru", "Отчет\nДата публикации: 15 марта 2024 года", "2024-03-15"),
    ("fr", "Note de service\nDernière mise à jour : 15 févr. 2024", "2024-02-15"),
    ("fr", "Décret n° 2024-12\ndu 15 mars 2024", "2024-03-15"),
    ("es", "Informe\nFecha de publicación: 15/03/2024", "2024-03-15"),
    ("it", "Regolamento\nIn vigore dal 1° marzo 2024", "2024-03-01"),
    ("it", "Relazione\nUltimo aggiornamento: 15/03/2024", "2024-03-15"),
    ("hi", "कार्यालय आदेश\nदिनांक: 15 मार्च 2024", "2024-03-15"),
    ("hi", "कार्यालय आदेश\nदिनांक १५ मार्च २०२४", "2024-03-15"),
    ("hi", "नीति\n1 मई 2024 से प्रभावी", "2024-05-01"),
    ("hi", "सूचना\nजारी तिथि: 15/03/2024", "2024-03-15"),
    ("en", "By-laws\nAs amended on 20 April 2024", "2024-04-20"),
    ("en", "By-laws as amended on 20 April 2024\nArticle 1", "2024-04-20"),
    ("en", "By-laws\nAdopted on 12 March 2012\nAs amended on 3 May 2018\nAs amended on 20 April 2024", "2024-04-20"),
    ("en", "By-laws\nAdopted by the General Meeting on 20 April 2024", "2024-04-20"),
    ("en", "Manual\nVersion 3, May 2024", "2024-05"),
    ("en", "Manual\n3rd edition, June 2024", "2024-06"),
    ("en", "Manual\nRev. B – 3 May 2024", "2024-05-03"),
    ("de", "Handbuch\nAusgabe 3, Juni 2024", "2024-06"),
    ("de", "Handbuch\nAusgabe Juni 2024", "2024-06"),
    ("de", "Satzung\nzuletzt geändert durch Beschluss der Mitgliederversammlung vom 20. April 2024", "2024-04-20"),
    ("de", "Satzung\nin der Fassung des Beschlusses vom 20. April 2024", "2024-04-20"),
    ("cs", "Nájemní smlouva\nuzavřená dne 14. března 2025\nmezi", "2025-03-14"),
    ("cs", "Nájemní smlouva uzavřená dne 14. března 2025", "2025-03-14"),
    ("cs", "Stanovy\nschválené členskou schůzí dne 20. dubna 2024", "2024-04-20"),
    ("cs", "Stanovy\nschválené dne 1. 3. 2012\nve znění účinném od 1. 1. 2024", "2024-01-01"),
    ("fr", "Statuts\nadoptés par l'assemblée générale le 3 mai 2024", "2024-05-03"),
    ("und", "Date: 3 May 2024\n...", "2024-05-03"),
    ("uk", "Date: 2024-05-03\n...", "2024-05-03"),
]


@each("language,text,day", TOLD)
def test_given_a_first_page_that_dates_its_document_then_that_day_is_found(language: str, text: str, day: str) -> None:
    """S3-28: the date of a document."""
    assert found(text, language) == day


# language, first page: dates that are none of the document's own, or not certain
NOT_TOLD = [
    ("en", ""),
    ("en", "A title\nwithout a date"),
    ("en", "Date of birth: 1 May 1970"),
    ("en", "Due date: 1 May 2024"),
    ("en", "Due date\n1 May 2024"),
    ("en", "Annual Meeting of Shareholders\nMay 1, 2024"),
    ("en", "May 1, 2024\nAnnual Meeting of Shareholders"),
    ("en", "Summer concert\nJuly 1, 2024\n8 p.m."),
    ("en", "Summer concert\nJuly 1, 2024\nDoors open at 19:30"),
    ("en", "6/3/2020\tRecorded Demonstrations"),
    ("en", "Date of publication: 05/10/2015"),  # the fifth of October, or the tenth of May
    ("en", "Date: 1 May 2024\nDate of publication: 05/06/2024"),
    ("en", "Company policies\nBrightwater changed the travel rules, effective 1 May 2024"),
    ("en", "Published: 1 May 2024\nLast updated: 3 May 2024"),
    ("en", "Dated: 1 May 2024\nEffective date: 1 June 2024"),
    ("en", "Conference dates\n12-14 June 2024"),
    ("en", "Date: 12-14 June 2024"),
    ("en", "1 May 2024 to 3 May 2024"),
    ("en", "As of January 20, 2023, the registrant had 598,239,585 shares of its common stock outstanding."),
    ("en", "The number of shares outstanding\nas of January 20, 2023 was 598,239,585"),
    ("en", "This policy replaces the one that the board of directors adopted and\ndated March 1, 2020"),
    ("en", "The annual meeting of the shareholders of this company was held on\nMarch 1, 2020"),
    ("en", "AMENDMENT NO. 2\nto the Credit Agreement\ndated as of March 1, 2020"),
    ("en", "Valid until\n1 May 2024"),
    ("en", "Amendment\nto the agreement of Acme Ltd. Dated 1 March 2020"),
    ("en", "Company policies\nThe board met and changed the rules on travel, effective 1 May 2024"),
    ("en", "Company policies\nThe board of Brightwater met to change the rules on all travel. Effective 1 May 2024"),
    ("en", f"Company policies\n{BODY}\nBrightwater Ltd. In force from 1 March 2024."),
    ("en", "Passport no.:\n1 May 2024"),
    ("en", "Version 2024.05.01.3"),
    ("en", f"Title\n{BODY}\n3 May 2024\n{BODY}"),  # alone, and nowhere near the title
    ("en", "Copyright 2024"),
    ("en", "2024\nAnnual report"),
    ("en", "A story of 3 May 2024"),
    ("en", "By-laws\nAdopted on 12 March 2012\nAs amended on 3 May 2018 and 20 April 2024"),  # which counts is not said
    # not the day before the change
    ("en", "By-laws\nAdopted on 12 March 2012\nAs amended by the General Meeting on 20 April 2024"),
    ("en", "AMENDMENT NO. 2\nto the Credit Agreement\nas amended on 1 March 2020"),
    ("en", "Manual\nIssue 3 May 2024"),  # the third issue, or the third of May
    ("en", "Manual\nSection 3, May 2024"),
    ("en", f"By-laws\n{BODY}\nAdopted by the General Meeting on 20 April 2024"),
    ("en", "Manual\nIssued by the office under the licence of 3 May 2024"),
    ("de", "Aufgrund des § 4 der Gemeindeordnung\nvom 3. Juni 1990"),
    ("de", "Nachtrag Nr. 1\nzum Mietvertrag\nvom 1. März 2020"),
    ("de", "Anmeldeschluss\n1. März 2024"),
    ("de", "Geboren am 1. März 1970"),
    ("cs", "Dodatek č. 1\nke smlouvě o dílo\nze dne 15. března 2020"),
    ("cs", "Termín odevzdání\n15. března 2024"),
    ("cs", "Zpráva\npro 2024"),
    ("cs", "Datum narození: 15. 3. 1970"),
    ("pl", "Aneks nr 1\ndo umowy\nz dnia 15 marca 2020 r."),
    ("ru", "Дополнительное соглашение № 1\nк договору\nот 15.03.2020"),
    ("fr", "Avenant n° 1\nau contrat\ndu 15 mars 2020"),
    ("es", "Adenda n.º 1\nal contrato\nde 15 de marzo de 2020"),
    ("it", "Allegato 1\nal contratto\ndel 15 marzo 2020"),
    ("sk", "Dodatok č. 1\nk zmluve\nzo dňa 15. marca 2020"),
    ("hi", "जन्म तिथि: 15 मार्च 1970"),
    ("hi", "बैठक\n15 मार्च 2024"),
]


@each("language,text", NOT_TOLD)
def test_given_dates_of_something_else_or_uncertain_ones_then_none_is_told(language: str, text: str) -> None:
    assert found(text, language) == ""


HOSTILE = [
    "\n".join(f"{day % 28 + 1} May {1990 + day // 28}" for day in range(1000)),  # a thousand dates, each alone
    "Date: 1 May 2024\n" + "\n".join(f"Date: {day % 28 + 1} June 2024" for day in range(1000)),
    "Date: 1 May 9999",
    "Date: 1 May 0001",
    "Date: 31 February 2024",
    "Date: 99.99.2024",
    "Date: 99/99/2024",
    "Date: 0.0.2024",
    "Date: 1 May 2027",  # has not come yet
    "Date: 27 November 2026",
    "Date: 1 May 2٠24",  # digits of two scripts
    "Date: ٣ May ٢٠٢٤ no. 7",
    "Date: ²⁰24-05-01",
    "Date: 1 May 20245",
    "Date: 1 May 2024.2",
    "Date: 1 May 2024 " + "x" * 400,
    "Date" + " " * 100_000 + ": 1 May 2024 " + "(" * 100_000,
    "Date: 1" * 50_000,
]


@each("text", HOSTILE)
def test_given_a_hostile_first_page_then_no_date_is_told(text: str) -> None:
    assert found(text) == ""


def test_given_digits_of_one_other_script_then_they_are_read() -> None:
    assert found("दिनांक: १५-०३-२०२४", "hi") == "2024-03-15"
    assert found("Date: ٢٠٢٤-٠٣-١٥") == "2024-03-15"


def test_given_another_page_or_one_that_ocr_read_then_it_tells_nothing() -> None:
    text = "Date: 1 May 2024"

    assert first_page_date(Page(2, text), "en", TODAY) == ""
    assert first_page_date(Page(1, text, PageSource.OCR), "en", TODAY) == ""
    assert first_page_date(Page(1, text, PageSource.UNREADABLE), "en", TODAY) == ""


def test_given_a_date_below_the_rows_that_are_looked_at_then_it_is_not_found() -> None:
    filler = "\n".join(["a row"] * (MAX_ROWS - 1))

    assert found(f"{filler}\nDate: 1 May 2024") == "2024-05-01"
    assert found(f"{filler}\na row\nDate: 1 May 2024") == ""


def test_given_a_day_of_tomorrow_then_it_is_believed_and_no_later_one() -> None:
    assert found("Date: 26 November 2026") == "2026-11-26"
    told = {day for day in ("2026-11-26", "2026-11-27", "2026-11", "2026-12", "2026", "2027") if believed(day, TODAY)}
    assert told == {"2026-11-26", "2026-11", "2026"}
    others = ("1900", "1899-12-31", "2024-02-30", "", "x", "2024-13")
    assert [day for day in others if believed(day, TODAY)] == ["1900"]


def test_given_every_language_with_a_file_then_it_says_how_documents_are_dated() -> None:
    for code, info in LANGUAGES.items():
        assert info.dated is not None, code
        assert info.dated.labels, code
        assert info.dated.joins or code == "hi", code
        for name in ("labels", "joins", "periods", "amended", "editions"):
            assert len(set(getattr(info.dated, name))) == len(getattr(info.dated, name)), (code, name)


@settings(max_examples=60)
@given(st.dates(date(1900, 1, 1), TODAY), st.sampled_from(["cs", "de", "en", "es", "fr", "hi", "it", "pl", "ru", "sk"]))
def test_given_any_day_when_a_label_stands_before_it_then_it_is_read_back(day: date, language: str) -> None:
    info = LANGUAGES[language]
    label, month = info.dated.labels[0], Locale(language).months["format"]["wide"][day.month]

    assert found(f"{label}: {day.isoformat()}", language) == day.isoformat()
    assert found(f"{label}: {day.day} {month.capitalize()} {day.year}", language) == day.isoformat()
    assert found(f"{label}: {day.day}. {day.month}. {day.year}", language) == day.isoformat()


@settings(max_examples=150)
@given(
    st.text(alphabet=st.sampled_from("0123456789٣२ .,/:-()\t\nDateMay ofz dne"), max_size=300),
    st.sampled_from(["en", "cs", "hi", "und"]),
)
def test_given_any_text_then_what_is_told_is_empty_or_a_day_that_can_be_believed(text: str, language: str) -> None:
    day = found(text, language)

    assert day == "" or believed(day, TODAY)


@pytest.mark.parametrize("language", ["en", "de"])
def test_given_two_own_days_that_differ_then_none_is_told_whatever_their_order(language: str) -> None:
    one, other = "Date: 1 May 2024", "Dated: 2 May 2024"

    assert found(f"{one}\n{other}", language) == found(f"{other}\n{one}", language) == ""
    assert found(f"{one}\nDated: 1 May 2024", language) == "2024-05-01"
