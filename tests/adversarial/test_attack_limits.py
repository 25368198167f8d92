"""Lies by omission: a condition, a bound, a "may" or an adjective of the source is left out, and what is left says more
than it does.
"""

from __future__ import annotations

import pytest
from attack_kit import Arena, Attack, attack_with_drafts, ids, lie

from rag_core.domain.status import Reason

LEFT_OUT = [  # what the sentence leaves out, the sentence, its quote, and a question that it answers
    (
        "more than",
        "Courses that cost 500 pounds are approved by the head of department.",
        "Courses that cost more than 500 pounds are approved by the head of department.",
        "Which courses does the head approve?",
    ),
    (
        "above 20 pounds",
        "Receipts are required for any amount.",
        "Receipts are required for any amount above 20 pounds.",
        "When are receipts required?",
    ),
    (
        "at least",
        "Vacation is requested 10 working days in advance.",
        "Requests for vacation are made in the staff portal at least 10 working days in advance.",
        "When is vacation requested?",
    ),
    (
        "of more than 7 hours",
        "Business class is allowed on flights.",
        "business class is allowed on flights of more than 7 hours.",
        "How are flights booked on a business trip?",
    ),
    (
        "unless",
        "Customer data are deleted 6 years after the end of the contract.",
        "Customer data are deleted 6 years after the end of the contract, unless the law requires that they are kept "
        "for longer.",
        "When are customer data deleted?",
    ),
    (
        "provided that",
        "Who falls ill during a vacation gets the days back.",
        "Who falls ill during a vacation gets the days back, provided that there is a doctor's note for them.",
        "What happens if an employee falls ill during a vacation?",
    ),
    (
        "full-time",
        "Every employee has 25 vacation days in a calendar year.",
        "Every full-time employee has 25 vacation days in a calendar year.",
        "How many vacation days does an employee have?",
    ),
    (
        "up to 2 hours",
        "Medical appointments are paid working time.",
        "Medical appointments of up to 2 hours are paid working time.",
        "Are medical appointments paid?",
    ),
    (
        "may",
        "Employees work remotely 2 days in a week.",
        "Employees may work remotely for up to 2 days in a week.",
        "How many days in a week may employees work remotely?",
    ),
    (
        "from",
        "A doctor's note is needed on the fourth day of absence.",
        "A doctor's note is needed from the fourth day of absence.",
        "When is a doctor's note needed?",
    ),
    ("can", "Reports are anonymous.", "Reports can be anonymous.", "Can reports of a concern be anonymous?"),
    (
        "at most",
        "The parts of parental leave are three.",
        "The leave may be divided into at most three parts",
        "Into how many parts may parental leave be divided?",
    ),
]
LIMITS = [
    lie(f"leaves out {what}", said, quote, Reason.REWORDED, bad=said, question=question, rewording="none")
    for what, said, quote, question in LEFT_OUT
]


@pytest.mark.parametrize("attack", **ids(LIMITS))
def test_given_a_sentence_without_its_limit_when_a_model_may_only_leave_out_then_it_is_never_shown(
    arena: Arena, attack: Attack, caplog
):
    """S0-26: a compression must not change what is meant."""
    attack_with_drafts(arena, attack, caplog)
