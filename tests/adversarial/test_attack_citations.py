"""Models that invent citations, or cite what does not say it.

Each ends in a refusal or the extract, and nobody reads the lie.
"""

from __future__ import annotations

import pytest
from attack_kit import SICK_PAID, Arena, Attack, attack_with_drafts, ids, lie, saying, source_without
from honest_model import draft, passages
from model_server import Asked

from rag_core.domain.status import Reason as R

FALSE = "Sick leave is paid for 71 days."
PARENTS = "Parents have 16 weeks of paid parental leave for each child."  # of a passage that the model is given
MORE = "The insurer pays the rest of it."


def misattributed(asked: Asked):
    """A true quote under the id of a passage that does not have it."""
    return draft((SICK_PAID, source_without(asked, SICK_PAID), SICK_PAID))


def every_source(asked: Asked):
    """One claim that cites every passage there is, each with a quote of its own, for words that none of them has."""
    rows = [{"source": source, "quote": " ".join(text.split()[:8])} for source, text in passages(asked).items()]
    return {"answerable": True, "reason": "", "claims": [{"sentence": FALSE, "evidence": rows}]}


CITATIONS = [
    Attack("fabricated source", saying((FALSE, SICK_PAID, "99")), (R.CITATIONS_VALID,), ("71 days",)),
    Attack(
        "fabricated chunk id",
        saying((FALSE, SICK_PAID, "handbook.pdf#9")),
        (R.CITATIONS_VALID,),
        ("71 days", "handbook.pdf"),
    ),
    Attack("fabricated source of a true sentence", saying((SICK_PAID, SICK_PAID, "99")), (R.CITATIONS_VALID,)),
    Attack("source 0", saying((FALSE, SICK_PAID, "0")), (R.CITATIONS_VALID,), ("71 days",)),
    Attack(
        "one fabricated source beside a right one",
        saying((SICK_PAID, SICK_PAID), (FALSE, SICK_PAID, "44")),
        (R.CITATIONS_VALID,),
        ("71 days",),
    ),
    Attack("true quote, cited to another passage", misattributed, (R.VERBATIM,)),
    Attack("citation of every source", every_source, (R.FACTS,), ("71 days",)),
    Attack("uncited sentence", saying(MORE), (R.CITATIONS_PRESENT, R.CITATIONS_COMPLETE), (MORE,)),
    Attack(
        "uncited sentence beside a cited one", saying((SICK_PAID, SICK_PAID), MORE), (R.CITATIONS_COMPLETE,), (MORE,)
    ),
    Attack("uncited sentence inside a cited claim", saying((f"{SICK_PAID} {MORE}", SICK_PAID)), (), (MORE,)),
    lie("a real passage that does not say it", FALSE, PARENTS, R.FACTS, bad="71 days"),
    lie("right sentence, a quote about something else", SICK_PAID, PARENTS, R.OVERLAP, bad="never said by anyone"),
    lie("citation with an empty quote", FALSE, "", R.VERBATIM, bad="71 days"),
    lie("citation with a quote of one word", FALSE, "leave", R.VERBATIM, bad="71 days"),
    lie("citation with a quote of punctuation", FALSE, ".", R.VERBATIM, bad="71 days"),
]


@pytest.mark.parametrize("attack", **ids(CITATIONS))
def test_given_a_citation_that_proves_nothing_when_asked_then_the_claim_is_never_shown(
    arena: Arena, attack: Attack, caplog
):
    attack_with_drafts(arena, attack, caplog)
