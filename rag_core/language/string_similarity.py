"""Measures how alike two index terms are: forms that a stemmer leaves apart, German compounds, names with a case
ending.

"vertrag" and "vertragsparteien", "кубл" and "кублай" say nearly the same; a lexical index knows them as different
words.
"""

from __future__ import annotations

from collections.abc import Collection

MIN_COUNT = 0.6  # below this two terms share nothing that means something
_PREFIX = 4  # letters that an inflected form must share
_PART = 4  # letters of the shortest part of a compound


def string_similarity(term: str, other: str) -> float:
    """How alike two folded index terms are, in [0, 1]: 1 for equal ones, 0 below `MIN_COUNT`.

    The common beginning as a share of the longer term, from four letters on; for a term of four letters or more inside
    a longer one, the root of the share of letters, since a part of a compound says more than its length.
    """
    if term == other:
        return 1.0
    shorter, longer = sorted((term, other), key=len)
    if len(shorter) >= _PART and shorter in longer:
        found = (len(shorter) / len(longer)) ** 0.5
    else:
        common = next((i for i, pair in enumerate(zip(term, other, strict=False)) if pair[0] != pair[1]), len(shorter))
        found = common / len(longer) if common >= _PREFIX else 0.0
    return found if found >= MIN_COUNT else 0.0


def alike(term: str, vocabulary: Collection[str]) -> dict[str, float]:
    """The terms of a vocabulary that are like this one, itself included, each with its similarity."""
    beginning = term[:_PREFIX]
    near = [
        other
        for other in vocabulary
        if other.startswith(beginning) or term in other or (len(other) >= _PART and other in term)
    ]
    return {other: value for other in near if (value := string_similarity(term, other))}
