"""Where in a long text a sentence may have come from: windows of sentences, ranked by shared words, then cosine."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rag_core.domain.ports import Embedder, Vectors
from rag_core.language import alike, sentences, terms

_SENTENCES = 3  # in the widest window
_MAX_CHARS = 800  # a "sentence" longer than this (a table, text without full stops) is cut at blanks
_RANKED = 8  # windows a sentence that are compared by cosine, those with most shared words
READ_WORDS = 180  # words of a text that an entailment model reads together with a claim
_WHOLE_WORDS = 220  # up to which a context is one text


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of the context and how near it is to the sentence it was ranked for.

    `lexical` is the share of the sentence's terms that it holds, rare ones counting more and each as much as the likest
    term there, in [0, 1]; `cosine` in [-1, 1].
    """

    text: str
    lexical: float
    cosine: float

    @property
    def score(self) -> float:
        return self.lexical + self.cosine


class _Place(NamedTuple):
    """A window as rows of the context's sentences, and the share of the claim's weighted terms that it holds."""

    share: float
    rows: range


@dataclass(frozen=True, slots=True)
class _Cut:
    """A context as sentences: places, terms, and what each term weighs; `unseen` is any other's weight."""

    context: str
    spans: list[tuple[int, int]]
    bags: list[frozenset[str]]
    rarity: dict[str, float]
    unseen: float

    def sentence(self, row: int) -> str:
        return self.text(range(row, row + 1))

    def text(self, rows: range) -> str:
        """Neighbouring sentences, as they stand in the context."""
        return self.context[self.spans[rows[0]][0] : self.spans[rows[-1]][1]]


def best_windows(
    claims: Sequence[str], contexts: Sequence[str], lang: str, embedder: Embedder
) -> list[tuple[Window, ...]]:
    """For each claim sentence the windows of its context that bear on it, best first; empty for one without words.

    Only the sentences of the eight windows with most shared words are embedded, in one batch for all claims, so that a
    context of 100 kB stays quick; a window's vector is the mean of its sentences'.
    """
    cuts = [_cut(context, lang) for context in contexts]
    chosen = [_places(claim, context, lang) for claim, context in zip(claims, contexts, strict=True)]
    needed = [
        cut.sentence(row) for cut, places in zip(cuts, chosen, strict=True) for place in places for row in place.rows
    ]
    index = {text: at for at, text in enumerate(dict.fromkeys([*needed, *claims]))}
    vectors = _embedded(list(index), embedder)
    found = []
    for claim, cut, places in zip(claims, cuts, chosen, strict=True):
        windows = []
        for place in places:
            mean = vectors[[index[cut.sentence(row)] for row in place.rows]].mean(axis=0)
            cosine = float(mean @ vectors[index[claim]] / max(float(np.linalg.norm(mean)), 1e-9))
            windows.append(Window(cut.text(place.rows), place.share, min(1.0, max(-1.0, cosine))))
        found.append(tuple(sorted(windows, key=lambda window: -window.score)))
    return found


def _embedded(texts: Sequence[str], embedder: Embedder) -> Vectors:
    """The vectors of texts; very long ones by themselves, since a batch is padded to its longest."""
    if not texts:
        return embedder.embed([])
    order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    usual = 2 * len(texts[order[len(order) // 2]])
    short = sum(len(text) <= usual for text in texts)
    found = [embedder.embed([texts[at] for at in rows]) for rows in (order[:short], order[short:]) if rows]
    return np.concatenate(found)[np.argsort(order)]


@lru_cache(maxsize=64)  # what `judge` reads together, and the passages of a question
def _cut(context: str, lang: str) -> _Cut:
    spans = _pieces(context, lang)
    bags = [frozenset(terms(context[start:end], lang)) for start, end in spans]
    counts = Counter(term for bag in bags for term in bag)
    rarity = {term: math.log(1 + len(bags) / count) for term, count in counts.items()}
    return _Cut(context, spans, bags, rarity, math.log(1 + len(bags)))


@lru_cache(maxsize=256)  # the windows of a claim, and what is read of a long text, begin with the same places
def _places(claim: str, context: str, lang: str) -> tuple[_Place, ...]:
    """The windows with most of a claim's weighted terms, of equal ones the shorter, then the earlier."""
    cut, mine = _cut(context, lang), list(dict.fromkeys(terms(claim, lang)))
    if not mine:
        return ()
    like = [alike(term, cut.rarity) for term in mine]
    weights = np.array([max((cut.rarity[other] for other in others), default=cut.unseen) for others in like])
    # how alike each term is to the likest one of each sentence, in [0, 1], shape (terms, sentences)
    held = np.array(
        [
            [max((like for other, like in others.items() if other in bag), default=0.0) for bag in cut.bags]
            for others in like
        ]
    )
    rows, found = len(cut.bags), list[_Place]()
    for size in range(1, min(_SENTENCES, rows) + 1):
        widest = np.max([held[:, offset : rows - size + 1 + offset] for offset in range(size)], axis=0)
        shares = weights @ widest / weights.sum()
        found += [_Place(min(1.0, float(share)), range(first, first + size)) for first, share in enumerate(shares)]
    return tuple(sorted(found, key=lambda place: (-place.share, len(place.rows), place.rows[0]))[:_RANKED])


def _pieces(context: str, lang: str) -> list[tuple[int, int]]:
    pieces = []
    for start, end in sentences(context, lang):
        while end - start > _MAX_CHARS:
            cut = context.rfind(" ", start + _MAX_CHARS // 2, start + _MAX_CHARS)
            cut = cut if cut > 0 else start + _MAX_CHARS
            pieces.append((start, cut))
            start = cut
        pieces.append((start, end))
    return pieces


def readings(claim: str, context: str, lang: str) -> tuple[str, ...]:
    """At most three texts of about `READ_WORDS` words to read a claim against, the likeliest first.

    A shorter context is one text. Of a longer one: its sentences that share most with the claim; what stands around the
    best place; what stands around the second best.
    """
    if len(context.split()) <= _WHOLE_WORDS:
        return (context,)
    cut = _cut(context, lang)
    sizes = [len(context[start:end].split()) for start, end in cut.spans]
    places = [place.rows for place in _places(claim, context, lang)] or [range(1)]
    chosen: dict[int, None] = {}
    for row in (row for place in places for row in place):
        if row not in chosen and sum(sizes[one] for one in chosen) + sizes[row] <= READ_WORDS:
            chosen[row] = None
    gathered = " ".join(cut.sentence(row) for row in sorted(chosen or [places[0][0]]))
    first = _around(places[0], sizes)
    second = next((place for place in places if not set(place) & set(first)), None)
    blocks = [first] + ([_around(second, sizes)] if second else [])
    return tuple(dict.fromkeys([gathered, *map(cut.text, blocks)]))


def _around(place: range, sizes: Sequence[int]) -> range:
    """The place with as many sentences before and behind as `READ_WORDS` allows."""
    first, last = place[0], place[-1]
    while True:
        used = sum(sizes[first : last + 1])
        before = first > 0 and used + sizes[first - 1] <= READ_WORDS
        behind = last + 1 < len(sizes) and used + sizes[last + 1] <= READ_WORDS
        if not (before or behind):
            return range(first, last + 1)
        if behind and (not before or last - place[-1] <= place[0] - first):
            last += 1
        else:
            first -= 1
