"""Finds a claim that mixes two halves of a sentence: "14 pounds in summer", where it is 14 in winter and 19 in summer.

A sentence is parted at commas, semicolons and words such as "and". A claim that keeps one half goes without the other; one that takes
words of both, in one statement, and leaves out words of both, may have put together what does not belong together. It has, where the
second half is left without its own beginning, whose part a word of the first half takes, or where the order of both is turned. Nothing is
said of sentences with a subordinate clause, whose words may change places.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from rag_core.facts.differences.align import Sentence, Token, read
from rag_core.language import LANGUAGES, fold
from rag_core.language.schema import LanguageInfo

_MAX_TOKENS = 60  # words of a sentence; longer ones are tables or lists
_MAX_PARTS = 4  # a longer row of them is a list
_STOPS = ",;:|"


def mixed_halves(claim: str, evidence: str, lang: str) -> Iterator[str]:
    """A word of each of two halves of a sentence that a claim has put together, as "14 … summer". Both are reading forms."""
    info = LANGUAGES[lang] if lang in LANGUAGES else None
    if info is None or info.acts is None or info.limits is None:
        return
    joints = info.acts.joins
    theirs = [one for one in read(evidence, lang) if _is_plain(one, info)]
    for mine in read(claim, lang):
        said = mine.said if _is_plain(mine, info) else frozenset[str]()
        near = [one for one in theirs if said and said <= one.terms]  # nothing is said in words of its own
        found = [_mixed(mine, claim, _parts(one, evidence, joints), joints) for one in near]
        if found and all(found):
            yield found[0]


def _is_plain(sentence: Sentence, info: LanguageInfo) -> bool:
    """Whether a sentence is short, and no word of it begins a clause or a step that may change places."""
    limits, governed = info.limits, info.places.clauses.values() if info.places else ()
    phrases = (*limits.joins, *limits.then, *limits.conditions) if limits else ()
    below = frozenset(fold(word.removeprefix("*-")) for word in phrases) - (info.acts.joins if info.acts else frozenset())
    words = [token.folded for token in sentence.tokens]
    return len(words) <= _MAX_TOKENS and below.isdisjoint(words) and not any(of.fullmatch(word) for of in governed for word in words)


def _parts(sentence: Sentence, text: str, joints: frozenset[str]) -> list[list[Token]]:
    """The words of each part of a sentence that say something; none of a part without any."""
    parts: list[list[Token]] = [[]]
    for place, token in enumerate(sentence.tokens):
        gap = text[sentence.tokens[place - 1].end : token.start] if place else ""
        if token.folded in joints or any(sign in gap for sign in _STOPS):
            parts.append([])
        if not token.light and token.folded not in joints:
            parts[-1].append(token)
    return [part for part in parts if part]


def _mixed(mine: Sentence, claim: str, parts: Sequence[list[Token]], joints: frozenset[str]) -> str:
    """The two words of parts that a statement of the claim mixes; empty where it mixes none."""
    if not 1 < len(parts) <= _MAX_PARTS:
        return ""
    stems = [frozenset(token.stem for token in part) for part in parts]
    for statement in _parts(mine, claim, joints):
        for one, other in combinations(range(len(parts)), 2):
            rest = frozenset[str]().union(*(stems[n] for n in range(len(parts)) if n not in (one, other)))
            first, second = (
                [token.stem for token in parts[at] if token.stem not in stems[apart] | rest] for at, apart in ((one, other), (other, one))
            )
            if found := _of_both(statement, first, second):
                return found
    return ""


def _of_both(statement: Sequence[Token], first: Sequence[str], second: Sequence[str]) -> str:
    """The first word of each half in a statement that mixes both; `first` and `second` are what each half has alone, in order."""
    said = [token.stem for token in statement]
    taken, also = ([token for token in statement if token.stem in half] for half in (first, second))
    if not (taken and also) or set(first) <= set(said) or set(second) <= set(said):
        return ""
    beheaded = second[0] not in said and _takes_its_place(first, second, said)
    turned = also[0].start < taken[-1].start
    if not (beheaded or turned):
        return ""
    pair = sorted((taken[-1] if beheaded else taken[0], also[0]), key=lambda token: token.start)
    return " … ".join(token.text for token in pair)


def _takes_its_place(first: Sequence[str], second: Sequence[str], said: Sequence[str]) -> bool:
    """Whether the claim has of the first half what stands where the second half begins: a value for a value, else what it ends with."""
    kept = [stem for stem in first if stem in said]
    if second[0][0].isdecimal():
        return any(stem[0].isdecimal() for stem in kept)
    return len(kept) > 1
