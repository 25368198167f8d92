"""Models that misquote: by a word, a digit, a unit, a date, a name, a negation; by joining what stands apart.

No misquote is ever shown.
"""

from __future__ import annotations

import pytest
from attack_kit import SICK_PAID, Arena, Attack, attack_with_drafts, ids, lie

from rag_core.domain.status import Reason as R

CARRIED = "Up to 5 unused vacation days may be carried over to the next year; they must be taken before 30 July."
LOSS = "A suspected loss of personal data is reported to the fire officer within 24 hours"
NOTE = "Sick leave is paid in full for 30 days in a calendar year, provided that there is a doctor's note for them."
NOTICE = "The notice period is 1 month during the first two years and 3 months after that."
UNTIL = "Until when must unused vacation days be taken?"
HOTEL = "How much is reimbursed for a hotel in London?"
GUARANTEE = "Dodavatel poskytuje na zboží záruku v délce 36 měsíců od převzetí."
WARRANTY = "Jak dlouhá je záruka na zboží?"
BACKUPS = "Wie lange werden Sicherungen aufbewahrt?"

MISQUOTES = [
    lie(
        "by a word",
        "Sick leave is paid in part for 30 days.",
        SICK_PAID.replace("full", "part"),
        R.VERBATIM,
        bad="paid in part",
    ),
    lie(
        "by a digit",
        "Sick leave is paid in full for 36 days.",
        SICK_PAID.replace("30", "36"),
        R.VERBATIM,
        bad="36 days",
    ),
    lie(
        "by a unit",
        "Sick leave is paid in full for 30 weeks.",
        SICK_PAID.replace("days", "weeks"),
        R.VERBATIM,
        bad="30 weeks",
    ),
    lie(
        "by a date",
        "Unused vacation days must be taken before 30 July.",
        CARRIED,
        R.VERBATIM,
        bad="30 July",
        question=UNTIL,
    ),
    lie(
        "by a name",
        "A loss of data is reported to the fire officer.",
        LOSS,
        R.VERBATIM,
        bad="fire officer",
        question="Who is told of a loss of personal data?",
    ),
    lie(
        "by a negation",
        "Alcohol is reimbursed.",
        "Alcohol is reimbursed.",
        R.VERBATIM,
        bad="Alcohol is reimbursed",
        question="Is alcohol reimbursed?",
    ),
    lie(
        "by a digit in Czech",
        GUARANTEE,
        GUARANTEE,
        R.VERBATIM,
        bad="36 měsíců",
        question=WARRANTY,
        document="smlouva-o-dodavce.pdf",
    ),
    lie(
        "by a number in German",
        "Sicherungen werden 45 Tage aufbewahrt.",
        "Sicherungen werden 45 Tage aufbewahrt",
        R.VERBATIM,
        bad="45 Tage",
        question=BACKUPS,
        document="wissensdatenbank.pdf",
    ),
    lie(
        "cut inside a number",
        "Sick leave is paid in full for 3 days.",
        "Sick leave is paid in full for 3",
        R.VERBATIM,
        bad="for 3 days",
    ),
    lie(
        "out of two pages",
        "Sick leave is paid in full for 3 months.",
        "Sick leave is paid in full for 3 months after that.",
        R.VERBATIM,
        bad="full for 3 months",
    ),
    lie(
        "out of two pages, with an ellipsis",
        "Sick leave is paid in full within 14 days of the claim.",
        "Sick leave is paid in full … within 14 days of the claim.",
        R.VERBATIM,
        bad="full within 14",
    ),
    lie(
        "out of two pages, with dots in brackets",
        "Fire drills are paid in full.",
        "Fire drills [...] paid in full",
        R.VERBATIM,
        bad="drills are paid",
    ),
    lie(
        "out of two sentences of a page",
        "Sick leave is paid in full for 30 days, provided that there is a doctor's note.",
        NOTE,
        R.VERBATIM,
        bad="30 days, provided",
    ),
    lie(
        "out of two rows of a table",
        "A hotel in London is reimbursed up to 180 pounds a night.",
        "Hotel in London 180 pounds a night",
        R.VERBATIM,
        bad="up to 180 pounds",
        question=HOTEL,
    ),
    lie(
        "out of one column of a table",
        "The hotels are in London, elsewhere in the country and abroad.",
        "Hotel in London Hotel elsewhere in the country Hotel abroad",
        R.VERBATIM,
        bad="hotels are in London, elsewhere",
        question=HOTEL,
    ),
    lie(
        "from memory",
        "Sick leave is paid for 28 weeks.",
        "Employees are entitled to statutory sick pay for up to 28 weeks.",
        R.VERBATIM,
        bad="28 weeks",
    ),
    lie(
        "of a page that was not retrieved",
        "The notice period is 1 month during the first two years.",
        NOTICE,
        R.VERBATIM,
        bad="1 month during",
        top_k=1,
        over_retrieve=1,
        short_context_words=10,
    ),
]


@pytest.mark.parametrize("attack", **ids(MISQUOTES))
def test_given_a_misquote_when_asked_then_it_is_never_shown(arena: Arena, attack: Attack, caplog):
    attack_with_drafts(arena, attack, caplog)
