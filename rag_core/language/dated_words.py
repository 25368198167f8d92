"""The section of a language file by which the first page of a document says when the document is of."""

from __future__ import annotations

from dataclasses import dataclass

from rag_core.language.values import NEVER, Phrases, SpacedPhrases, StarPattern


@dataclass(frozen=True, slots=True)
class DatedWords:
    """Words on a document's first page that say which of its dates is its own; a language without them has those of English.

    Args:
        labels: whole labels of its own date ("date of report", "last updated"); `after`: those behind the date.
        periods: labels of the last day of the period that it is about ("for the year ended").
        joins: what may open a row that holds a date and nothing else ("vom", "dated").
        within: between the parts of any date ("1st day of July"); `behind`: what may end one ("2024 г.").
        others: says, right above or below a date, that it is the date of something else ("deadline", "meeting").
        amends: says in a title that a date in it may be that of a document that is amended, cited or enclosed.
    """

    labels: SpacedPhrases
    after: SpacedPhrases = ()
    periods: SpacedPhrases = ()
    joins: SpacedPhrases = ()
    within: Phrases = ()
    behind: SpacedPhrases = ()
    others: StarPattern = NEVER
    amends: StarPattern = NEVER
