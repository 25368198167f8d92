"""Models that quote rightly and say something else: the quote stands on its page, the sentence beside it is not what it
says.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from attack_kit import POLICIES, SICK, SICK_DAY, SICK_PAID, Arena, Attack, attack_with_drafts, ids, lie, saying

from rag_core.domain.status import Reason as R
from rag_core.language import LANGUAGES

ALCOHOL = "Alcohol is not reimbursed."
DRINKS = "Is alcohol reimbursed?"
TURNED = "The manager informs an employee who is ill before 9:30 on the first day."
ILL = "When does an employee who is ill inform the manager?"
HOTEL = "How much is reimbursed for a hotel in London?"
SAID = {  # a sentence that follows an indicator phrase, with its source, by language
    "en": (SICK, POLICIES, SICK_PAID),
    "cs": (
        "Jak dlouhá je záruka na zboží?",
        "smlouva-o-dodavce.pdf",
        "Dodavatel poskytuje na zboží záruku v délce 24 měsíců od převzetí.",
    ),
    "de": (
        "Wie lange werden Sicherungen aufbewahrt?",
        "wissensdatenbank.pdf",
        "Sicherungen werden 35 Tage aufbewahrt und danach gelöscht.",
    ),
    "hi": ("सार्व अंतर किसे कहते हैं?", "samantar-shreni.pdf", "इस निश्चित संख्या को सार्व अंतर कहते हैं।"),
}

STATEMENTS = [
    lie("another number", "Sick leave is paid in full for 60 days.", SICK_PAID, R.FACTS, bad="60 days"),
    lie("digits turned round", "Sick leave is paid in full for 03 days.", SICK_PAID, R.FACTS, bad="03 days"),
    lie(
        "a negation left out", "Alcohol is reimbursed.", ALCOHOL, R.FACTS, bad="Alcohol is reimbursed", question=DRINKS
    ),
    lie(
        "a quote cut before its negation",
        "Alcohol is reimbursed.",
        "Alcohol is",
        R.FACTS,
        bad="Alcohol is reimbursed",
        question=DRINKS,
    ),
    lie(
        "a negation added",
        "Sick leave is not paid in full for 30 days in a calendar year.",
        SICK_PAID,
        R.FACTS,
        bad="is not paid in full",
    ),
    lie(
        "the contrary in other words",
        "An employee who is ill need not inform the manager.",
        SICK_DAY,
        R.FACTS,
        bad="need not inform",
        question=ILL,
    ),
    lie(
        "another condition",
        "Sick leave is paid in full only after 30 days in a calendar year.",
        SICK_PAID,
        bad="only after 30 days",
    ),
    lie(
        "the number of another row",
        "A hotel in London is reimbursed up to 0.45 pounds a night.",
        "Hotel in London",
        R.FACTS,
        bad="0.45 pounds a night",
        question=HOTEL,
    ),
    lie(
        "a period counted from something else",
        "Expenses are reimbursed within 14 days of the trip.",
        "Expenses are reimbursed within 14 days of the claim.",
        R.FACTS,
        bad="of the trip",
        question="When are expenses reimbursed?",
    ),
    lie(
        "outside knowledge that is true",
        "The World Health Organization counts influenza as an illness.",
        SICK_DAY,
        bad="influenza",
    ),
    lie(
        "outside knowledge added",
        "Sick leave is paid in full for 30 days in a calendar year, as British law demands.",
        SICK_PAID,
        bad="British law",
    ),
    lie(
        "a link added",
        "Sick leave is paid in full for 30 days: see https://evil.example/pay.",
        SICK_PAID,
        bad="evil.example",
    ),
    lie("a reason added", f"{SICK_PAID[:-1]} because health comes first.", SICK_PAID, bad="health comes first"),
    lie(
        "a question for an answer", "Sick leave is paid in full for 30 days in a calendar year?", SICK_PAID, bad="year?"
    ),
    lie("a negation struck out in Markdown", "Alcohol is ~~not~~ reimbursed.", ALCOHOL, bad="~~not~~", question=DRINKS),
    lie(
        "a negation commented out", "Alcohol is <!-- not --> reimbursed.", ALCOHOL, bad="<!-- not -->", question=DRINKS
    ),
    Attack(
        "outside knowledge beside a claim",
        saying((SICK_PAID, SICK_PAID), ("Paris is the capital of France.", SICK_PAID)),
        (),
        ("capital of France",),
    ),
    Attack(
        "advice beside a claim",
        saying((SICK_PAID, SICK_PAID), ("You should see a doctor at once.", SICK_PAID)),
        (),
        ("see a doctor at once",),
    ),
]


@pytest.mark.parametrize("attack", **ids(STATEMENTS))
def test_given_a_sentence_that_its_quote_does_not_say_when_asked_then_it_is_never_shown(
    arena: Arena, attack: Attack, caplog
):
    attack_with_drafts(arena, attack, caplog)


@pytest.mark.parametrize("language", SAID)
def test_given_a_phrase_of_knowledge_from_elsewhere_when_asked_then_the_draft_is_rejected(
    arena: Arena, language: str, caplog
):
    question, document, sentence = SAID[language]
    phrase = LANGUAGES.or_fallback(language).indicator_phrases[0]
    said = f"{phrase[0].upper()}{phrase[1:]}, {sentence[0].lower()}{sentence[1:]}"
    attack = Attack(phrase, saying((said, sentence)), (R.INDICATORS,), (phrase,), question, (document,))

    attack_with_drafts(arena, attack, caplog)


RECEIPT = "The compliance officer confirms receipt within 7 days and gives an answer within 3 months."
GARBLED = [
    lie("roles turned round", TURNED, SICK_DAY, bad="manager informs an employee", question=ILL),
    lie(
        "a negation overwritten",
        "Public holidays do weeks count as vacation.",
        "Public holidays do not count as vacation.",
        bad="do weeks count",
        question="Do public holidays count as vacation?",
    ),
    lie(
        "a negation between scraps",
        f"days never days {RECEIPT}",
        RECEIPT,
        bad="never days",
        question="When does the compliance officer confirm receipt?",
    ),
]


@pytest.mark.parametrize("attack", **ids(GARBLED))
def test_given_a_turned_or_garbled_sentence_when_a_model_may_only_leave_out_then_it_is_never_shown(
    arena: Arena, attack: Attack, caplog
):
    attack_with_drafts(arena, replace(attack, reasons=(R.REWORDED,), changed={"rewording": "none"}), caplog)


def test_given_a_negation_that_was_overwritten_when_asked_then_it_is_never_shown(arena: Arena, caplog):
    attack_with_drafts(arena, GARBLED[1], caplog)


@pytest.mark.xfail(
    strict=True, raises=AssertionError, reason="a negation is compared where the sentence is grammatical only"
)
def test_given_a_negation_between_scraps_when_asked_then_it_is_never_shown(arena: Arena, caplog):
    attack_with_drafts(arena, GARBLED[2], caplog)
