"""Words that restrict a noun and were left out: "every full-time employee", "all guests who stay longer"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rag_core.facts.align import Sentence, Token
from rag_core.grounding.omissions.said import Said
from rag_core.grounding.omissions.words import LimitWords

_ADJECTIVES = 3  # words at most between "every" and its noun
_FIRST = 2  # words of a relative clause that say whether it was kept


def dropped_adjectives(sentence: Sentence, told: str, mine: Said, asked: Said, limits: LimitWords) -> Iterator[str]:
    """The words between "every" and its noun, where the claim speaks of every one of them and the question does not name them."""
    tokens = sentence.tokens
    for first in (n for n, token in enumerate(tokens) if token.folded in limits.all):
        for noun in range(first + 2, min(first + 2 + _ADJECTIVES, len(tokens))):
            between = tokens[first + 1 : noun]
            if not _run_on(tokens[first : noun + 1], told) or not all(_says(sentence, n) for n in range(first + 1, noun)):
                break
            if mine.is_general(tokens[noun], limits.all) and not any(mine.has(token) or asked.has(token) for token in between):
                yield told[tokens[first].start : tokens[noun].end]
                break


def dropped_relatives(sentence: Sentence, told: str, mine: Said, asked: Said, limits: LimitWords) -> Iterator[str]:
    """The words that follow a noun behind "who", where the claim speaks of every one of them.

    The noun stands behind "every", or begins the sentence and no comma follows it: what a comma parts from it restricts nothing.
    """
    tokens = sentence.tokens
    for place in (n for n in range(1, len(tokens)) if tokens[n].folded in limits.who):
        noun, start = tokens[place - 1], 0 if place == 1 else place - 2
        begins = place == 1 and told[noun.end : tokens[place].start] == " "
        if noun.light or not (begins or (place > 1 and tokens[start].folded in limits.all)):
            continue
        words = [token for token in tokens[place + 1 :] if not token.light][:_FIRST]
        if words and mine.is_general(noun, limits.all) and not any(mine.has(token) or asked.has(token) for token in words):
            yield told[tokens[start].start : words[-1].end]


def _run_on(tokens: Sequence[Token], told: str) -> bool:
    """Whether nothing but blanks and hyphens stands between these words, and a blank behind the first."""
    gaps = [told[one.end : other.start] for one, other in pairwise(tokens)]
    return gaps[0] == " " and all(gap in (" ", "-", "\u2011") for gap in gaps)


def _says(sentence: Sentence, place: int) -> bool:
    """Whether a word may be an adjective."""
    return sentence.says(place) and not sentence.tokens[place].text[0].isdecimal()
