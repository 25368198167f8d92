"""Drafts that lose a rate ("per day"), an exception, a denial, or who says so, in four languages, and honest ones in other words."""

from __future__ import annotations

import pytest
from folding import each
from hypothesis import given
from hypothesis import strategies as st

from rag_core.grounding.omissions import omissions

LANGUAGES = ("en", "cs", "de", "hi")


@each(
    ("lang", "evidence", "claim", "rate"),
    [
        ("en", "A penalty of 0.05 % of the price per day of delay is due.", "A penalty of 0.05 % of the price is due.",
         "0.05 % of the price per day"),
        ("en", "A room costs 30 euros a night.", "A room costs 30 euros.", "30 euros a night"),
        ("en", "For each started hour the fee is 12 pounds.", "The fee is 12 pounds.", "For each started hour the fee is 12 pounds"),
        ("en", "The pump delivers 300 litres hourly.", "The pump delivers 300 litres.", "300 litres hourly"),
        ("en", "A monthly fee of 30 euros is due.", "A fee of 30 euros is due.", "monthly fee of 30 euros"),
        ("en", "Parking costs 2 EUR/h in the yard.", "Parking costs 2 EUR in the yard.", "2 EUR/h"),
        ("cs", "Parkování stojí 20 Kč za hodinu.", "Parkování stojí 20 Kč.", "20 Kč za hodinu"),
        ("cs", "Pokuta činí 0,1 % ceny za každý započatý den.", "Pokuta činí 0,1 % ceny.", "0,1 % ceny za každý započatý"),
        ("cs", "Stravné činí 150 Kč na osobu.", "Stravné činí 150 Kč.", "150 Kč na osobu"),
        ("de", "Die Strafe beträgt 0,2 % der Summe je Werktag.", "Die Strafe beträgt 0,2 % der Summe.", "0,2 % der Summe je Werktag"),
        ("de", "Der Platz kostet 30 Euro im Monat.", "Der Platz kostet 30 Euro.", "30 Euro im Monat"),
        ("de", "Fällig ist eine jährliche Gebühr von 40 Euro.", "Fällig ist eine Gebühr von 40 Euro.", "jährliche Gebühr von 40 Euro"),
        ("hi", "जुर्माना मूल्य का 0.05 % प्रति दिन है।", "जुर्माना मूल्य का 0.05 % है।", "0.05 % प्रति दिन"),
        ("hi", "रोज़ाना 500 रुपये का किराया लगता है।", "500 रुपये का किराया लगता है।", "रोज़ाना 500 रुपये"),
    ],
)  # fmt: skip
def test_given_a_value_without_its_rate_then_the_rate_is_named(lang: str, evidence: str, claim: str, rate: str) -> None:
    assert omissions(claim, evidence, lang) == (rate,)


@each(
    ("lang", "question", "evidence", "claim"),
    [
        ("en", "", "A penalty of 0.05 % of the price per day is due.", "A daily penalty of 0.05 % of the price is due."),
        ("en", "", "A room costs 30 euros a night.", "Per night a room costs 30 euros."),
        ("en", "What does a room cost per night?", "A room costs 30 euros a night.", "A room costs 30 euros."),
        ("en", "", "A room costs 30 euros a night. A day room costs 30 euros.", "A day room costs 30 euros."),  # so it says itself
        ("en", "", "A penalty of 0.05 % of the price per day is due.", "Daily, a penalty of 0.05 % of the price is due."),
        ("en", "", "Notice is 30 days as per clause 5.", "Notice is 30 days."),
        ("en", "", "A ticket for a 3-day visit costs 50 euros.", "A ticket costs 50 euros."),
        ("en", "", "The annual report has 40 pages.", "The report has 40 pages."),
        ("en", "", "The rate is 4.5 % and can be changed once a year.", "The rate is 4.5 %."),  # it belongs to another statement
        ("de", "", "Im Jahr 2020 wurden 5000 Stück verkauft.", "5000 Stück wurden verkauft."),
        ("de", "", "Die Frist beträgt 30 Tage, je nach Vertrag.", "Die Frist beträgt, je nach Vertrag, 30 Tage."),
        ("de", "", "Die Strafe beträgt 0,2 % je Werktag.", "Die Strafe beträgt 0,2 % pro Werktag."),
        ("hi", "", "किराया प्रति दिन 500 रुपये है।", "दैनिक किराया 500 रुपये है।"),
    ],
)  # fmt: skip
def test_given_a_rate_in_other_words_or_none_then_nothing_was_left_out(lang: str, question: str, evidence: str, claim: str) -> None:
    assert omissions(claim, evidence, lang, question) == ()


@each(
    ("lang", "evidence", "claim", "exception"),
    [
        ("en", "Apart from Mondays the museum is open every day.", "The museum is open every day.", "Apart from Mondays"),
        ("en", "When it rains, all stalls move indoors, except for the bakery.", "When it rains, all stalls move indoors.",
         "except for the bakery"),
        ("cs", "Při požáru opustí dům všichni, s výjimkou hasičů.", "Při požáru opustí dům všichni.", "s výjimkou hasičů"),
        ("de", "Bei Regen fährt der Zug jede Stunde, außer an Feiertagen.", "Bei Regen fährt der Zug jede Stunde.", "außer an Feiertagen"),
        ("hi", "अवकाश के अलावा वाचनालय हर दिन खुला रहता है।", "वाचनालय हर दिन खुला रहता है।", "अवकाश के अलावा"),
    ],
)  # fmt: skip
def test_given_a_draft_without_its_exception_then_it_is_named_though_the_draft_keeps_another_condition(
    lang: str, evidence: str, claim: str, exception: str
) -> None:
    assert omissions(claim, evidence, lang) == (exception,)


@each(
    ("lang", "evidence", "claim"),
    [
        ("en", "Apart from Mondays the museum is open every day.", "The museum is open every day but not on Mondays."),
        ("en", "Besides tea the kitchen serves soup.", "The kitchen serves soup."),  # an addition
        ("hi", "चाय के अलावा रसोई सूप भी देती है।", "रसोई सूप देती है।"),
        ("de", "Bei Regen fährt der Zug jede Stunde, außer an Feiertagen.", "Nur an Feiertagen fährt der Zug nicht jede Stunde."),
    ],
)
def test_given_an_exception_in_other_words_or_a_mere_addition_then_nothing_was_left_out(lang: str, evidence: str, claim: str) -> None:
    assert omissions(claim, evidence, lang) == ()


@each(
    ("lang", "evidence", "claim", "denied"),
    [
        ("en", "Once the shoes have been worn, the deposit is for good reasons not refunded.", "The deposit is refunded.", "not refunded"),
        ("en", "Nobody under 16 rides the ferry alone.", "Those under 16 ride the ferry alone.", "Nobody under 16 rides"),
        ("en", "Trainees in the pump house are unpaid.", "Trainees in the pump house are paid.", "unpaid"),
        ("cs", "Podle řádu půjčovny není záloha na lyže vratná.", "Vratná záloha se platí na lyže.", "není záloha na lyže"),
        ("cs", "Cestu do práce firma zaměstnancům nehradí.", "Zaměstnancům firma hradí cestu do práce.", "nehradí"),
        ("de", "Nach den Hausregeln wird die Anzahlung für das Zimmer nicht erstattet.", "Erstattet wird die Anzahlung für das Zimmer.",
         "nicht erstattet"),
        ("de", "Kein Besucher erhält Zugang zum Archiv.", "Zugang zum Archiv erhält der Besucher.", "Kein Besucher erhält"),
        ("hi", "नियमों के अनुसार जमा राशि वापस नहीं की जाती है।", "जमा राशि वापस की जाती है।", "नहीं"),
    ],
)  # fmt: skip
def test_given_a_claim_of_what_its_clause_denies_then_the_denial_is_named(lang: str, evidence: str, claim: str, denied: str) -> None:
    assert omissions(claim, evidence, lang) == (denied,)


@each(
    ("lang", "evidence", "claim"),
    [
        ("en", "The deposit is not refunded.", "There is no refund of the deposit."),
        ("en", "The deposit is not refunded.", "The deposit stays with the club."),
        ("en", "Trainees are not insured; employees are insured.", "Employees are insured."),
        ("en", "Dogs are not admitted, and cats are admitted.", "Cats are admitted."),
        ("en", "A claim is filed no later than 60 days after the accident.", "A claim is filed at most 60 days after the accident."),
        ("en", "The deposit is not refunded. The deposit is refunded in May.", "The deposit is refunded."),  # one of both says so
        ("en", "The deposit is not refunded. The deposit for boats is refunded.", "The deposit for boats is refunded."),
        ("cs", "Cestu do práce firma zaměstnancům nehradí.", "Firma neproplácí zaměstnancům cestu do práce."),
        ("de", "Kein Besucher erhält Zugang zum Archiv.", "Besuchern ist der Zugang zum Archiv verboten."),
        ("hi", "जमा राशि वापस नहीं की जाती है।", "जमा राशि कभी वापस नहीं होती।"),
    ],
)
def test_given_a_denial_in_other_words_or_of_another_clause_then_nothing_was_left_out(lang: str, evidence: str, claim: str) -> None:
    assert omissions(claim, evidence, lang) == ()


@each(
    ("lang", "evidence", "claim", "lost"),
    [
        ("en", "A visitor may pick fruit only if a guide is present.", "A visitor may pick fruit whenever a guide is present.", "only if"),
        ("en", "The roof will be replaced in 2027.", "The roof was replaced in 2027.", "will"),
        ("en", "The two presses together need 30 kilowatts.", "The two presses need 30 kilowatts each.", "together"),
        ("en", "The council denies that the dam is cracked.", "The dam is cracked.", "denies"),
        ("en", "According to the brewery, the spring has run dry.", "The spring has run dry.", "According to the brewery"),
        ("cs", "Host smí plout jen tehdy, má-li průvodce.", "Host smí plout vždy, má-li průvodce.", "jen tehdy"),
        ("cs", "Střecha bude opravena v roce 2027.", "Střecha byla opravena v roce 2027.", "bude"),
        ("cs", "Soused tvrdí, že plot je nebezpečný.", "Plot je nebezpečný.", "tvrdí"),
        ("cs", "Podle pivovaru pramen vyschl.", "Pramen vyschl.", "Podle pivovaru pramen vyschl"),
        ("de", "Das Dach wird 2027 erneuert.", "Das Dach wurde 2027 erneuert.", "wird"),
        ("de", "Der Prüfer glaubt, dass das Siegel gebrochen ist.", "Das Siegel ist gebrochen.", "glaubt"),
        ("hi", "दोनों मशीनें मिलकर 30 किलोवाट बिजली लेती हैं।", "हर मशीन 30 किलोवाट बिजली लेती है।", "मिलकर"),
        ("hi", "छत 2027 में बदली जाएगी।", "छत 2027 में बदली गई।", "जाएगी"),
    ],
)  # fmt: skip
def test_given_a_draft_that_does_without_who_says_so_or_when_or_together_then_that_is_named(
    lang: str, evidence: str, claim: str, lost: str
) -> None:
    assert lost in omissions(claim, evidence, lang)


@each(
    ("lang", "question", "evidence", "claim"),
    [
        ("en", "", "A visitor may pick fruit only if a guide is present.", "A guide must be present where a visitor picks fruit."),
        ("en", "", "A visitor may enter only if a guide is present.", "No visitor may enter unless a guide is present."),
        ("en", "", "According to clause 9, the fee is 5 pounds.", "The fee is 5 pounds."),  # a text that binds
        ("en", "", "The council denies that the dam is cracked.", "The council says that the dam has no crack."),
        ("en", "What is it that the council denies?", "The council denies that the dam is cracked.", "The dam is cracked."),
        ("en", "", "The roof was replaced and will be painted.", "The roof was replaced."),
        ("en", "", "The two presses together need 30 kilowatts.", "The two presses need 30 kilowatts."),
        ("cs", "", "Podle článku 9 činí poplatek 50 Kč.", "Poplatek činí 50 Kč."),
        ("de", "", "Das Dach wird 2027 erneuert.", "2027 wird das Dach erneuert."),
        ("hi", "", "बैठक तभी मान्य है जब 5 सदस्य हों।", "बैठक के लिए 5 सदस्य चाहिए।"),
    ],
)  # fmt: skip
def test_given_these_words_in_another_form_then_nothing_was_left_out(lang: str, question: str, evidence: str, claim: str) -> None:
    assert omissions(claim, evidence, lang, question) == ()


@pytest.mark.parametrize("lang", LANGUAGES)
@given(st.text(max_size=80), st.text(max_size=80))
def test_given_any_text_then_a_denied_or_counted_whole_lacks_nothing(lang: str, text: str, other: str) -> None:
    both = f"{text} 5 % per day, not {other}"

    assert omissions(both, both, lang) == ()
    assert all(part in both for part in omissions(other, both, lang) if part.isascii() and both.isascii())
