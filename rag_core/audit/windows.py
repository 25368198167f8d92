"""Where in a long text a sentence may have come from: windows of one to three sentences, ranked by words first and meaning second."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag_core.language import sentences, terms
from rag_core.ports import Embedder, Vectors

_SENTENCES = 3  # in the widest window
_MAX_CHARS = 800  # a "sentence" longer than this (a table, text without full stops) is cut at blanks
_EMBEDDED = 12  # windows a sentence that are embedded, the best by words; more were not better and cost time


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of the context and how near it is to the sentence it was ranked for.

    `lexical` is the share of the sentence's terms that it holds, rare terms counting more, in [0, 1]; `cosine` in [-1, 1].
    """

    text: str
    lexical: float
    cosine: float

    @property
    def score(self) -> float:
        """What windows are ranked by."""
        return self.lexical + self.cosine


def best_windows(claims: Sequence[str], context: str, lang: str, embedder: Embedder) -> list[tuple[Window, ...]]:
    """For each claim sentence the windows of the context that bear on it, best first; empty for a context without words.

    One batch is embedded for all sentences, at most a dozen windows for each, so that a context of 100 kB stays quick.
    """
    spans = _pieces(context, lang)
    bags = [frozenset(terms(context[start:end], lang)) for start, end in spans]
    counts = Counter(term for bag in bags for term in bag)
    rarity = {term: math.log(1 + len(bags) / count) for term, count in counts.items()}
    unseen = math.log(1 + len(bags))
    chosen: list[list[tuple[float, str]]] = []
    for claim in claims:
        weights = {term: rarity.get(term, unseen) for term in terms(claim, lang)}
        chosen.append(_nearest(weights, spans, bags, context) if weights else [])
    texts = list(dict.fromkeys([text for row in chosen for _, text in row] + list(claims)))
    places = {text: row for row, text in enumerate(texts)}
    vectors = embedder.embed(texts)
    return [
        _ranked(row, vectors[[places[text] for _, text in row]] @ vectors[places[claim]]) for claim, row in zip(claims, chosen, strict=True)
    ]


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


def _nearest(weights: dict[str, float], spans: list[tuple[int, int]], bags: list[frozenset[str]], context: str) -> list[tuple[float, str]]:
    """The windows that hold most of the weighted terms; of equal ones the shorter, then the earlier."""
    total = sum(weights.values())
    mine = frozenset(weights)
    common = [mine & bag for bag in bags]
    found = []
    for size in range(1, _SENTENCES + 1):
        for first in range(len(spans) - size + 1):
            held = frozenset().union(*common[first : first + size])
            found.append((sum(weights[term] for term in held) / total, size, first))
    found.sort(key=lambda window: (-window[0], window[1], window[2]))
    return [(min(share, 1.0), context[spans[first][0] : spans[first + size - 1][1]]) for share, size, first in found[:_EMBEDDED]]


def _ranked(row: list[tuple[float, str]], cosines: Vectors) -> tuple[Window, ...]:
    windows = [Window(text, share, float(np.clip(cosine, -1.0, 1.0))) for (share, text), cosine in zip(row, cosines, strict=True)]
    return tuple(sorted(windows, key=lambda window: -window.score))
