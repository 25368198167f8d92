"""Tells whether a sentence says the reverse of what is asked: "a rapid response" where a slow one was asked for.

Only by the pairs of a language's file. A question or a sentence that has both words of a pair compares them, and is left alone.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

import regex

from rag_core.gating.stated import Stated
from rag_core.language import LANGUAGES


def is_reverse(asked: Collection[str], stated: Stated, language: str) -> bool:
    """Whether the sentence has the opposite of a word of the question, and not that word itself.

    Args:
        asked: the question's words, folded.
        stated: the reading of the sentence.
        language: of the sentence; without pairs nothing is told.
    """
    pairs = _asked_sides(frozenset(asked), language)
    return any(_has(stated.words, other) and not _has(stated.words, mine) for mine, other in pairs)


@lru_cache(maxsize=1 << 10)
def _asked_sides(asked: frozenset[str], language: str) -> tuple[tuple[regex.Pattern[str], regex.Pattern[str]], ...]:
    """Of each pair of which a question has one side only: that side, and the other."""
    words = LANGUAGES[language].asked if language in LANGUAGES else None
    sides = [side for one, other in (words.opposites if words else ()) for side in ((one, other), (other, one))]
    return tuple((mine, other) for mine, other in sides if _has(asked, mine) and not _has(asked, other))


def _has(words: Collection[str], pattern: regex.Pattern[str]) -> bool:
    return any(map(pattern.fullmatch, words))
