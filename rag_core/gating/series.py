"""Tells whether a sentence is about another member of a series than the one asked for: the chief executive, and not the financial officer.

Sections, annexes and other parts of a law or contract are told apart by `facts.sentence.laws`, codes by `facts.sentence.names`. Here only
the patterns of a language's file count. A sentence that names the one asked for, or stands under a heading that does, is left alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from rag_core.gating.stated import Stated
from rag_core.language import LANGUAGES
from rag_core.retrieval.acronyms import in_full

Member = tuple[str, str]  # the name of a series, and what stands in its place: ("office", "financial")


def members(said: str, language: str) -> frozenset[Member]:
    """The members of series that a `spaced` text names."""
    words = LANGUAGES[language].asked if language in LANGUAGES else None
    if words is None or not words.series:
        return frozenset()
    said = in_full(said, language)
    return frozenset((name, match[1].strip()) for name, pattern in words.series.items() for match in pattern.finditer(said))


def is_other_member(asked: Collection[Member], stated: Stated, around: Iterable[Stated], title: Stated, language: str) -> bool:
    """Whether the sentence names a member of a series of which the question names another; where it names none, the title by a number.

    Numbers are compared with numbers and letters with letters, since 2 may be II. What a textbook of class 10 says, it says of no other.

    Args:
        asked: the question's members.
        stated: the reading of the sentence.
        around: those of the heading and the sentence before.
        title: that of the document's title.
        language: of the sentence; without patterns nothing is told.
    """
    if not asked:
        return False
    above = members(title.spaced, language)
    mine = members(stated.spaced, language) or frozenset(one for one in above if one[1].isdecimal())
    others = {(name, value.isdecimal()) for name, value in mine}
    if mine.isdisjoint(asked) and any((name, value.isdecimal()) in others for name, value in asked):
        return not (above & frozenset(asked) or any(members(one.spaced, language).intersection(asked) for one in around))
    return False
