"""The numbers measured on a retrieval: inputs of the calibrated answerability score.

Each has a range and a meaning that does not depend on the collection's size, so that one score holds for six articles and for a shelf of
filings. This module judges nothing and knows no threshold.

| feature | range | what it is |
|---|---|---|
| top_cosine, mean_cosine | [-1, 1] | cosine of the closest passage; mean of the five closest |
| cosine_gap | [0, 2] | closest minus the mean of the next four |
| top_lexical, lexical_gap | [0, 1] | best BM25 score over the question's own maximum; its lead over the fifth |
| lexical_lead, lexical_spread | [0, 1] | its lead over the second; one minus the mean of all over the best |
| coverage_best | [0, 1] | IDF-weighted share of the question's content terms that the best passage holds |
| coverage_dense, coverage_all | [0, 1] | the same for the closest passage; for all retrieved passages together |
| coverage_sentence | [0, 1] | the same for the best window of two sentences |
| near_best, near_first, near_all | [0, 1] | coverage that counts a term by its likest one: best passage, first one, all together |
| near_window, near_sentence | [0, 1] | the same for the best window of two sentences, and for the best sentence |
| near_draft, near_claim | [0, 1] | the same for the drafted sentences together, and for the first of them |
| pairs | [0, 1] | share of neighbouring question terms that stand next to each other in some passage |
| rarest_missing | [0, 1] | IDF of the rarest question term that no retrieved passage holds, over the largest possible |
| near_missing | [0, 1] | the same, less what is like a term |
| missing_entities | [0, 1] | share of the question's names, codes, years and numbers that the searched documents lack |
| entities_best, entities_first | [0, 1] | share of them in the passage with most; in the first one; 1 without any |
| entities_draft | [0, 1] | share of them in the draft and where it stands; 1 without any |
| entities | {0, 1} | whether the question names anything |
| relevance | [0, 1] | the chance that the first drafted sentence holds the answer, as the extract's own regression says |
| answer_best, answer_first | [-10, 10] | log odds of the answerability model for the best of the passages that it read, and for the first |
| read | {0, 1} | whether it was asked |
| unit_best, unit_next | [-10, 10] | its log odds for the likest sentence or row, and for the likest one that was not drafted |
| unit_share | [0, 1] | the share of the drafted ones in the odds of all that it read |
| fit_holds, fit_near, fit_period, fit_named | [0, 1] | how the likest drafted sentence fits what is asked for: see `gating/fit.py` |
| fit_negation, fit_degree, fit_sure, fit_contradicts, fit_label, fit_row, fit_result | [0, 1] | the same |
| draft_words | [0, 2] | log(1 + words of the draft) / 3 |
| draft_parts | [0, 1] | one over the number of drafted sentences |
| draft_table | [0, 1] | share of the drafted sentences that are rows of a table |
| agreement | [0, 1] | share of the five best of the dense ranking among the five best of the lexical one |
| length | [0, 5] | log(1 + number of content terms) |
| searched | [0, 2] | log10(1 + number of searched passages) / 3: among more passages a wrong one looks better |
| known_language | {0, 1} | whether the embedding model knows the question's language |
| crossed | {0, 1} | whether the first drafted sentence is in another language than the question, so that words cannot be compared |
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag_core.domain.claims import Claim
from rag_core.domain.passages import Hit, PassageKind
from rag_core.domain.ports import LexicalIndex
from rag_core.gating.fit import Fit
from rag_core.language import alike, content_terms, sentences, terms

FITS = (
    "fit_holds", "fit_near", "fit_period", "fit_named", "fit_negation", "fit_degree", "fit_sure", "fit_contradicts", "fit_label", "fit_row",
    "fit_result",
)  # fmt: skip
FEATURES = (
    "top_cosine",
    "mean_cosine",
    "cosine_gap",
    "top_lexical",
    "lexical_gap",
    "lexical_lead",
    "lexical_spread",
    "coverage_best",
    "coverage_dense",
    "coverage_all",
    "coverage_sentence",
    "near_best",
    "near_first",
    "near_all",
    "near_window",
    "near_sentence",
    "near_draft",
    "near_claim",
    "pairs",
    "rarest_missing",
    "near_missing",
    "missing_entities",
    "entities_best",
    "entities_first",
    "entities_draft",
    "entities",
    "relevance",
    "answer_best",
    "answer_first",
    "read",
    "unit_best",
    "unit_next",
    "unit_share",
    "draft_words",
    "draft_parts",
    "draft_table",
    *FITS,
    "agreement",
    "length",
    "searched",
    "known_language",
    "crossed",
)
DRAFTED = frozenset({
    "near_draft", "near_claim", "entities_draft", "relevance", "unit_best", "unit_next", "unit_share", "draft_words", "draft_parts",
    "draft_table", "crossed", *FITS,
})  # fmt: skip
# the features that are of the draft; the others are of the retrieval, whoever drafts
STANDS = 0.8  # string similarity from which a name is taken for an inflected form of another

NO_ODDS = -10.0  # log odds where there is no unit to read

Held = frozenset[str]  # index terms of a stretch of text


@dataclass(frozen=True, slots=True)
class Weights:
    """The question's distinct content terms with their word weights, and the largest weight possible in the library."""

    idf: Mapping[str, float]
    order: tuple[str, ...]
    maximum: float

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return sum(self.idf.values())

    def coverage(self, held: Held | set[str]) -> float:
        """IDF-weighted share of the terms that stand in `held`, in [0, 1]; 0 without terms."""
        return sum(weight for term, weight in self.idf.items() if term in held) / self.total if self.total else 0.0


def weigh(question: str, language: str, lexical: LexicalIndex) -> Weights:
    """The content terms of a question with their weights in this library; all its terms when it has no content terms."""
    order = content_terms(question, language) or terms(question, language)
    distinct = list(dict.fromkeys(order))
    return Weights(dict(zip(distinct, lexical.idf(distinct), strict=True)), tuple(order), max(lexical.idf(["\x00"])[0], 1e-9))


def measure(
    known_language: bool,
    weights: Weights,
    hits: Sequence[Hit],
    missing_entities: float,
    *,
    where: Sequence[str] = (),
    searched: int = 0,
    claims: Sequence[Claim] = (),
    entities: Collection[str] = (),
    answerability_logit: Sequence[float] = (),
    drafted: Sequence[float] = (),
    others: Sequence[float] = (),
    fit: Fit | None = None,
    language: str = "und",
) -> dict[str, float]:
    """All features of one retrieval; every one is there, also when nothing was retrieved.

    Args:
        known_language: whether the embedding model knows the question's language.
        weights: from `weigh`.
        hits: best first.
        missing_entities: share in [0, 1].
        where: for each hit its title, section and table header: words that it need not repeat.
        searched: how many passages were searched.
        claims: the draft's sentences, in order.
        entities: the question's names, codes, years and numbers.
        answerability_logit: what the answerability model says of the first passages, best first; none where it was not asked.
        drafted: what it says of the drafted sentences, in any order.
        others: what it says of the sentences that it read and that were not drafted.
        fit: how the likest drafted sentence fits what is asked for.
        language: the question's.
    """
    if not hits:
        return dict.fromkeys(FEATURES, 0.0) | {"missing_entities": missing_entities, "rarest_missing": 1.0, "near_missing": 1.0}
    cosines = sorted((hit.cosine for hit in hits), reverse=True)
    rows = [terms(hit.passage.text, hit.passage.language) for hit in hits]
    lines = [*where, *[""] * (len(hits) - len(where))]
    places = [frozenset(terms(line, hit.passage.language)) for line, hit in zip(lines, hits, strict=True)]
    held = [place.union(row) for row, place in zip(rows, places, strict=True)]
    return {
        **_dense(cosines),
        **_lexical(weights, sorted((hit.lexical for hit in hits), reverse=True)),
        **_coverage(weights, hits, held, claims),
        **_entities(entities, hits, held, places, claims),
        "pairs": _pairs(weights.order, rows),
        "missing_entities": missing_entities,
        "relevance": claims[0].relevance if claims else 0.0,
        "answer_best": max(answerability_logit, default=0.0),
        "answer_first": answerability_logit[0] if answerability_logit else 0.0,
        "read": float(bool(answerability_logit)),
        **_units(drafted, others),
        **_draft(claims, hits),
        **(fit.features() if fit else dict.fromkeys(FITS, 0.0)),
        "agreement": _agreement(hits),
        "length": min(5.0, math.log1p(len(weights.order))),
        "searched": magnitude(searched),
        "known_language": float(known_language),
        "crossed": _crossed(claims, hits, language),
    }


def magnitude(searched: int) -> float:
    """The feature `searched` for so many passages."""
    return min(2.0, math.log10(1 + searched) / 3)


def _units(drafted: Sequence[float], others: Sequence[float]) -> dict[str, float]:
    """Of the log odds of sentences; 0 where none was read, as where no passage was."""
    if not drafted:
        return {"unit_best": 0.0, "unit_next": 0.0, "unit_share": 0.0}
    odds, rest = sum(map(math.exp, drafted)), sum(map(math.exp, others))
    return {"unit_best": max(drafted), "unit_next": max(others, default=NO_ODDS), "unit_share": odds / (odds + rest)}


def _draft(claims: Sequence[Claim], hits: Sequence[Hit]) -> dict[str, float]:
    """The form of the draft."""
    if not claims:
        return {"draft_words": 0.0, "draft_parts": 0.0, "draft_table": 0.0}
    tables = {hit.passage.id for hit in hits if hit.passage.kind is PassageKind.TABLE}
    rows = sum(any(evidence.passage in tables for evidence in claim.evidence) for claim in claims)
    return {
        "draft_words": min(2.0, math.log1p(sum(len(claim.text.split()) for claim in claims)) / 3),
        "draft_parts": 1 / len(claims),
        "draft_table": rows / len(claims),
    }


def _crossed(claims: Sequence[Claim], hits: Sequence[Hit], language: str) -> float:
    written = {hit.passage.id: hit.passage.language for hit in hits}
    first = next((written[one.passage] for claim in claims[:1] for one in claim.evidence if one.passage in written), "und")
    return float("und" not in (language, first) and first != language)


def _dense(cosines: Sequence[float]) -> dict[str, float]:
    following = cosines[1:5]
    gap = cosines[0] - (sum(following) / len(following) if following else 0.0)
    mean = sum(cosines[:5]) / len(cosines[:5])
    return {"top_cosine": cosines[0], "mean_cosine": mean, "cosine_gap": max(0.0, gap)}


def _lexical(weights: Weights, scores: Sequence[float]) -> dict[str, float]:
    """Of the BM25 scores, best first."""
    best, total = scores[0], weights.total or 1.0
    second = scores[1] if len(scores) > 1 else 0.0
    return {
        "top_lexical": min(1.0, best / total),
        "lexical_gap": min(1.0, (best - scores[min(4, len(scores) - 1)]) / total),
        "lexical_lead": min(1.0, (best - second) / total),
        "lexical_spread": 1.0 - sum(scores) / len(scores) / best if best > 0 else 0.0,
    }


def _coverage(weights: Weights, hits: Sequence[Hit], held: Sequence[Held], claims: Sequence[Claim]) -> dict[str, float]:
    """The places of the question's terms, each by the term itself and by the one most like it."""
    union = frozenset[str]().union(*held)
    drafted = [frozenset(terms(claim.text, hits[0].passage.language)) for claim in claims]
    draft = frozenset[str]().union(*drafted)
    near = _Near(weights, union | draft)
    parts = [_sentences(hit) for hit in hits[:5]]
    windows = [window for held_by in parts for window in ([a | b for a, b in pairwise(held_by)] or held_by)]
    closest = max(range(len(hits)), key=lambda i: (hits[i].cosine, -i))
    rarest = max((idf for term, idf in weights.idf.items() if term not in union), default=0.0)
    return {
        "coverage_best": max(map(weights.coverage, held)),
        "coverage_dense": weights.coverage(held[closest]),
        "coverage_all": weights.coverage(union),
        "coverage_sentence": max(map(weights.coverage, windows), default=0.0),
        "near_best": max(map(near.coverage, held)),
        "near_first": near.coverage(held[0]),
        "near_all": near.coverage(union),
        "near_window": max(map(near.coverage, windows), default=0.0),
        "near_sentence": max((near.coverage(one) for held_by in parts for one in held_by), default=0.0),
        "near_draft": near.coverage(draft),
        "near_claim": near.coverage(drafted[0]) if drafted else 0.0,
        "rarest_missing": min(1.0, rarest / weights.maximum),
        "near_missing": min(
            1.0, max((idf * (1 - near.of(term, union)) for term, idf in weights.idf.items()), default=0.0) / weights.maximum
        ),
    }


class _Near:
    """Coverage that counts a term by the likest one that stands there."""

    def __init__(self, weights: Weights, vocabulary: Held) -> None:
        self._weights = weights
        self._alike = {term: alike(term, vocabulary) for term in weights.idf}

    def of(self, term: str, held: Held) -> float:
        """How like the likest term is, in [0, 1]."""
        return 1.0 if term in held else max((value for other, value in self._alike[term].items() if other in held), default=0.0)

    def coverage(self, held: Held) -> float:
        """In [0, 1]; never less than `Weights.coverage`."""
        total = self._weights.total
        return min(1.0, sum(idf * self.of(term, held) for term, idf in self._weights.idf.items()) / total) if total else 0.0


def _sentences(hit: Hit) -> list[Held]:
    """The terms of each sentence of a passage."""
    text, language = hit.passage.text, hit.passage.language
    return [frozenset(terms(text[start:end], language)) for start, end in sentences(text, language)]


def _entities(
    entities: Collection[str], hits: Sequence[Hit], held: Sequence[Held], places: Sequence[Held], claims: Sequence[Claim]
) -> dict[str, float]:
    """How many of the things that the question names stand in one passage, in the first, and in the draft with its place."""
    if not entities:
        return {"entities_best": 1.0, "entities_first": 1.0, "entities_draft": 1.0, "entities": 0.0}
    language = hits[0].passage.language
    named = [terms(entity, language) for entity in entities]
    place = {hit.passage.id: words for hit, words in zip(hits, places, strict=True)}
    cited = frozenset[str]().union(*(place.get(evidence.passage, frozenset()) for claim in claims for evidence in claim.evidence))
    draft = cited.union(*(terms(claim.text, language) for claim in claims))
    shares = [_named(named, one) for one in held]
    return {"entities_best": max(shares), "entities_first": shares[0], "entities_draft": _named(named, draft), "entities": 1.0}


def _named(named: Sequence[Sequence[str]], held: Held) -> float:
    """Share of the entities of which every term, or an inflected form of it, stands there."""
    return sum(all(term in held or max(alike(term, held).values(), default=0.0) > STANDS for term in one) for one in named) / len(named)


def _agreement(hits: Sequence[Hit]) -> float:
    dense = {i for i, hit in enumerate(hits) if 0 < hit.dense_rank <= 5}
    lexical = {i for i, hit in enumerate(hits) if 0 < hit.lexical_rank <= 5}
    return len(dense & lexical) / max(1, min(5, len(hits)))


def _pairs(order: Sequence[str], held: Sequence[Sequence[str]]) -> float:
    """Share of neighbouring question terms that stand next to each other, with at most one word between, in some passage."""
    wanted = set(pairwise(order))
    if not wanted:
        return 0.0
    near = {pair for row in held for pair in pairwise(row)} | {pair for row in held for pair in zip(row, row[2:], strict=False)}
    return len(wanted & near) / len(wanted)
