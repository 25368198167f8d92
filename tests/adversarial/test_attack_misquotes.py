"""Models that misquote: by a word, a digit, a unit, a date, a name, a negation; by joining what stands apart.

No misquote is ever shown.
"""

from __future__ import annotations

from typing import Any

import pytest
from attack_kit import SICK_PAID, Arena, Attack, attack_with_drafts, ids, lie

from rag_core.domain.status import Reason as R

NOTE = "Sick leave is paid in full for 30 days in a calendar year, provided that there is a doctor's note for them."
NOTICE = "The notice period is 1 month during the first two years and 3 months after that."
HOTEL = "How much is reimbursed for a hotel in London?"
GUARANTEE = "Dodavatel poskytuje na zboží záruku v délce 36 měsíců od převzetí."
WARRANTY = "Jak dlouhá je záruka na zboží?"


def misquote(name: str, sentence: str, quote: str, bad: str, **changed: Any) -> Attack:
    """A sentence whose quote stands on no page as it is written."""
    return lie(name, sentence, quote, R.VERBATIM, bad=bad, **changed)


MISQUOTES = [
    misquote("by a digit", "Sick leave is paid in full for 36 days.", SICK_PAID.replace("30", "36"), "36 days"),
    misquote(
        "by a digit in Czech", GUARANTEE, GUARANTEE, "36 měsíců", question=WARRANTY, document="smlouva-o-dodavce.pdf"
    ),
    misquote(
        "out of two pages, with an ellipsis",
        "Sick leave is paid in full within 14 days of the claim.",
        "Sick leave is paid in full … within 14 days of the claim.",
        "full within 14",
    ),
    misquote(
        "out of two sentences of a page",
        "Sick leave is paid in full for 30 days, provided that there is a doctor's note.",
        NOTE,
        "30 days, provided",
    ),
    misquote(
        "out of two rows of a table",
        "A hotel in London is reimbursed up to 180 pounds a night.",
        "Hotel in London 180 pounds a night",
        "up to 180 pounds",
        question=HOTEL,
    ),
    misquote(
        "from memory",
        "Sick leave is paid for 28 weeks.",
        "Employees are entitled to statutory sick pay for up to 28 weeks.",
        "28 weeks",
    ),
    misquote(
        "of a page that was not retrieved",
        "The notice period is 1 month during the first two years.",
        NOTICE,
        "1 month during",
        top_k=1,
        short_context_words=10,
    ),
]


@pytest.mark.parametrize("attack", **ids(MISQUOTES))
def test_given_a_misquote_when_asked_then_it_is_never_shown(arena: Arena, attack: Attack, caplog):
    attack_with_drafts(arena, attack, caplog)
