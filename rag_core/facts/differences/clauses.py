"""Finds clauses and steps of a sentence that have changed places: "the pond freezes because the pump is out" for the contrary.

A word such as "because", "before", "if" or "first" governs the words behind it, up to a stop or the next such word. A claim is wrong where
it has under the word what the evidence has outside of it, and outside of it what the evidence has under it. Another word for the same order
("B after A" for "A before B") is none of it, nor is a clause that only moved to the front.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import permutations

from rag_core.facts.differences.align import Sentence, read
from rag_core.language import LANGUAGES
from rag_core.language.place_words import PlaceRows

_MAX_TOKENS = 80  # words of a sentence; longer ones are tables or lists
_MADE_OF = 2 / 3  # share of a claim's words that the sentence has, at least, as in `rag_core.facts.differences.places`
_MOST = 0.5  # share of a clause's words that have to come from the other one, at least
_STEPS = ("first", "then")  # go on behind a comma
_MAIN = ""


def turned_clauses(claim: str, evidence: str, lang: str) -> Iterator[str]:
    """A word of each of two clauses of a claim that have changed places, as "pump … freezes". Both are reading forms."""
    rows = LANGUAGES[lang].places if lang in LANGUAGES else None
    if rows is None or not rows.clauses:
        return
    theirs = [one for one in read(evidence, lang) if len(one.tokens) <= _MAX_TOKENS]
    for mine in read(claim, lang):
        here = _governed(mine, claim, rows) if len(mine.tokens) <= _MAX_TOKENS else {}
        if set(here.values()) <= {_MAIN}:
            continue
        there = [_governed(one, evidence, rows) for one in theirs]
        best = max((len(here.keys() & one.keys()) for one in there), default=0)
        near = [one for one in there if len(here.keys() & one.keys()) == best] if best >= _MADE_OF * len(here) else []
        found = [_turned(here, one, mine) for one in near]
        if found and all(found):
            yield found[0]


def _turned(here: Mapping[str, str], there: Mapping[str, str], mine: Sentence) -> str:
    """The first two words of clauses that have changed places; empty for none."""
    both = {word: (here[word], there[word]) for word in here if word in there}
    for one, other in permutations({label for pair in both.values() for label in pair}, 2):
        moved, back = ([word for word, pair in both.items() if pair == pair_of] for pair_of in ((one, other), (other, one)))
        sizes = [sum(label == wanted for label, _ in both.values()) for wanted in (one, other)]
        if moved and back and len(moved) >= _MOST * sizes[0] and len(back) >= _MOST * sizes[1]:
            pair = sorted((moved[0], back[0]), key=lambda stem: next(n for n, token in enumerate(mine.tokens) if token.stem == stem))
            return " … ".join(next(token.text for token in mine.tokens if token.stem == stem) for stem in pair)
    return ""


def _governed(sentence: Sentence, text: str, rows: PlaceRows) -> dict[str, str]:
    """For each word of a sentence that stands there once, by its stem, what it is governed by; empty for the main clause."""
    found, label, counts = dict[str, str](), _MAIN, Counter(token.stem for token in sentence.tokens)
    for place, token in enumerate(sentence.tokens):
        gap = text[sentence.tokens[place - 1].end : token.start] if place else ""
        if any(sign in gap for sign in ",;:|") and label not in _STEPS:
            label = _MAIN
        named = next((name for name, words in rows.clauses.items() if words.fullmatch(token.folded)), None)
        if named is not None:
            label = named
        elif token.folded in rows.clause_ends:
            label = _MAIN
        elif sentence.says(place) and counts[token.stem] == 1:
            found[token.stem] = label
    return found
