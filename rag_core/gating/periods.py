"""Whether a sentence or row is of the year, quarter or half that a question asks for."""

from __future__ import annotations

import regex

from rag_core.gating.asked import FIGURES, AskedFor, parts_named
from rag_core.gating.stated import Stated
from rag_core.language import AskedWords

UNKNOWN = 0.5  # where nothing tells of what time it is
_SPACES = regex.compile(r" {2,}")


def kept_period(
    asked: AskedFor, stated: Stated, around: list[Stated], title: Stated, words: AskedWords
) -> tuple[float, bool]:
    """How surely it is of the year or quarter asked for, and whether it surely is of another.

    1 where it has it, .8 what is right above, .7 the title; .5 where none has any, 0 where it has another.
    """
    scores = [UNKNOWN]
    other = False
    if asked.years:
        scores.append(_year(asked.years, stated, around, title))
        other = not scores[-1] and _other_year(asked, stated)
    if asked.parts and words.periods:
        mine = parts_named(stated.spaced, words)
        near = frozenset[str]().union(*(parts_named(one.spaced, words) for one in (*around, title)))
        scores.append(
            1.0 if asked.parts & mine else 0.0 if mine else 0.8 if asked.parts & near else 0.0 if near else UNKNOWN
        )
        same_kind = {part[0] for part in asked.parts} & {part[0] for part in mine}
        other = other or bool(mine and same_kind and not asked.parts & (mine | near))
    elif asked.in_year and asked.flow and asked.type in FIGURES and _is_part_of_year(stated.spaced, words):
        scores, other = [0.0], True
    told = scores[1:] or scores
    return min(told), other


def _year(years: frozenset[int], stated: Stated, around: list[Stated], title: Stated) -> float:
    if years & stated.years:
        return 1.0
    if any(years & one.years for one in around):
        return 0.8 if not stated.years else 0.6
    if years & title.years:
        return 0.7 if not stated.years else UNKNOWN
    # the report of 2021 tells nothing of 2022
    of_another = stated.years or (title.years and not any(one.years for one in around))
    return 0.0 if of_another else UNKNOWN


def _other_year(asked: AskedFor, stated: Stated) -> bool:
    """Whether a figure asked for one year is surely given for another: it says so, or only the title of its document
    names a year.
    """
    return bool(asked.in_year and asked.flow and (stated.own_years or not stated.years) and asked.type in FIGURES)


def _is_part_of_year(said: str, words: AskedWords) -> bool:
    """Whether a text tells of a quarter or half, and of no whole year besides."""
    bare = said
    for name in ("quarter", "half"):
        if pattern := words.periods.get(name):
            bare = pattern.sub(" ", bare)
    whole = words.periods.get("year")
    return bare != said and whole is not None and not whole.search(_SPACES.sub(" ", bare).strip())


def heads_other_period(asked: AskedFor, row: Stated, heads: Stated, words: AskedWords) -> bool:
    """Whether what stands above a row says that its figures are of other years than the one asked for, or of a part of
    that year.
    """
    if asked.type not in FIGURES or not asked.in_year or row.years:
        return False
    if heads.years and asked.in_year not in heads.years:
        return True
    return bool(asked.flow and not asked.parts and _is_part_of_year(heads.spaced, words))
