"""The extractive draft: the sentences that answer the question, verbatim, in document order, each with its citation. No model.

Every unit of the best passages is scored by how much of the question's weight it carries, by similarity, by its place, and by whether it
holds the kind of thing asked for (a number, a date). One sentence when one suffices.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from rag_core.domain.claims import Claim
from rag_core.domain.passages import Hit, PassageKind
from rag_core.domain.ports import PageText, Vectors
from rag_core.gating.features import Weights
from rag_core.grounding.units import Unit, header_of, in_order, units
from rag_core.language import terms, words
from rag_core.settings import DATA, Settings

PASSAGES = 5  # the best passages are read; deeper ones held the answer in under 2 % of the training questions
EMBEDDED_UNITS = 8  # the lexically best units are compared by meaning too, about 3 ms each; twelve answered no better on XQuAD es and hi
OTHER_SECTION = 0.8  # a unit of another section needs this share of the best relevance
FEATURES = ("coverage", "near", "cosine", "rank", "asked", "length")

Embed = Callable[[Sequence[str]], Vectors]


@dataclass(frozen=True, slots=True)
class Scored:
    """A unit with its features and its relevance in [0, 1]."""

    unit: Unit
    features: dict[str, float]
    relevance: float


@dataclass(frozen=True, slots=True)
class Extract:
    """The draft's claims, and the highest cosine of a unit to the question, in [-1, 1].

    `chosen` are the units of the claims, in their order, and `scored` all units that were read.
    """

    claims: tuple[Claim, ...]
    best_sentence: float
    chosen: tuple[Scored, ...] = ()
    scored: tuple[Scored, ...] = ()


@cache
def _weights() -> dict[str, float]:
    return dict(json.loads((DATA / "extract.json").read_text(encoding="utf-8"))["weights"])


def score_units(
    hits: Sequence[Hit], weights: Weights, asks_number: bool, question_vector: Vectors, embed: Embed, page_text: PageText
) -> list[Scored]:
    """Every unit of the best passages, scored; in the order of the hits."""
    candidates: list[tuple[int, Unit, frozenset[str]]] = []
    seen: set[tuple[str, str]] = set()
    for i, hit in enumerate(hits[:PASSAGES]):
        for unit in units(hit.passage, page_text):
            key = (hit.passage.document, unit.text)
            if key not in seen:  # passages overlap
                seen.add(key)
                candidates.append((i, unit, frozenset(terms(unit.text, hit.passage.language))))
    coverage = [weights.coverage(_with_context(unit, held)) for _, unit, held in candidates]
    chosen = sorted(range(len(candidates)), key=lambda j: (-(coverage[j] - 0.05 * candidates[j][0]), j))[:EMBEDDED_UNITS]
    cosines = dict(zip(chosen, embed([candidates[j][1].text for j in chosen]) @ question_vector, strict=True)) if chosen else {}
    scored = []
    for j, (i, unit, _) in enumerate(candidates):
        near = max((coverage[n] for n in (j - 1, j + 1) if 0 <= n < len(candidates) and candidates[n][0] == i), default=0.0)
        count = len(words(unit.text))
        features = {
            "coverage": coverage[j],
            "near": near,
            "cosine": float(max(-1.0, min(1.0, cosines.get(j, 0.0)))),
            "rank": 1 / (1 + i),
            "asked": float(asks_number and any(c.isdigit() for c in unit.text)),
            "length": min(1.0, math.log1p(count) / 4),
        }
        scored.append(Scored(unit, features, relevance(features)))
    return scored


def relevance(features: dict[str, float]) -> float:
    """Logistic of the weighted features, in (0, 1): the chance that the unit holds the answer, as fitted (data/extract.json)."""
    fitted = _weights()
    z = fitted["intercept"] + sum(fitted[name] * features[name] for name in FEATURES)
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, z))))


def choose(scored: Sequence[Scored], settings: Settings) -> list[Scored]:
    """The best unit, and further ones of its document that bear on the question nearly as much, at most `max_sentences`.

    Another section is another topic, and an answer does not blend topics: a unit from there must be about as good (`OTHER_SECTION`).
    """
    ranked = sorted(range(len(scored)), key=lambda j: (-scored[j].relevance, j))
    if not ranked:
        return []
    best = scored[ranked[0]]
    kept = [best]
    for j in ranked[1:]:
        other = scored[j]
        if len(kept) == settings.max_sentences or other.relevance < settings.extra_sentence_ratio * best.relevance:
            break
        here, there = best.unit.passage, other.unit.passage
        apart = here.section != there.section and other.relevance < OTHER_SECTION * best.relevance
        code = PassageKind.CODE in (here.kind, there.kind) and here.kind is not there.kind
        if here.document == there.document and not apart and not code:
            kept.append(other)
    return kept


def extract(
    hits: Sequence[Hit],
    weights: Weights,
    asks_number: bool,
    question_vector: Vectors,
    embed: Embed,
    page_text: PageText,
    settings: Settings,
) -> Extract:
    """Draft an answer from the hits, best first."""
    scored = score_units(hits, weights, asks_number, question_vector, embed, page_text)
    best = max((s.features["cosine"] for s in scored), default=0.0)
    by_unit = {id(s.unit): s for s in choose(scored, settings)}
    ordered = in_order([s.unit for s in by_unit.values()], [hit.passage for hit in hits])
    chosen = tuple(by_unit[id(unit)] for unit in ordered)
    return Extract(tuple(claim_of(one, page_text) for one in chosen), best, chosen, tuple(scored))


def claim_of(scored: Scored, page_text: PageText) -> Claim:
    """The claim that quotes a unit; a table's row is read with its header."""
    unit = scored.unit
    text = unit.text
    header = header_of(unit.passage, page_text) if unit.passage.kind is PassageKind.TABLE else ""
    if header:
        text = f"{header}: {text}"
    evidence = unit.evidence(page_text)
    return Claim(text, evidence, (unit.passage.id,), scored.relevance)


def _with_context(unit: Unit, held: frozenset[str]) -> frozenset[str]:
    """A table row is read with its header and section."""
    if unit.passage.kind is not PassageKind.TABLE:
        return held
    return held | frozenset(terms(f"{unit.passage.header_text} {unit.passage.section}", unit.passage.language))
