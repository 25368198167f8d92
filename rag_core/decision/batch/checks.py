"""The gates and audits over the columns of many cases: one function for each of `gates.GATES` and `audits.AUDITS`.

They have the same names and order (a test compares them), and say the same of each case (a test compares that too). What a check judges,
and where its default came from, stands there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rag_core.decision.batch.columns import CODE, Flags, Floats, Ints, ReplaySet
from rag_core.domain.status import Reason
from rag_core.domain.trace import Direction
from rag_core.gating.gates import least_answerability
from rag_core.settings import Mode, Settings


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """One check of all cases: n values held against their limits.

    Args:
        name: of the gate or audit in the trace.
        values: shape (n,), on `scale`; NaN where nothing was measured.
        limits: shape (n,), or one for all.
        abstains: shape (n,); where it does not apply.
    """

    name: str
    reason: Reason
    mode: Mode
    scale: str
    values: Floats
    limits: Floats | float
    direction: Direction
    abstains: Flags

    @property
    def blocks(self) -> Flags:
        """Shape (n,); where it refuses: enforced, and failed or not measured. Equal passes."""
        if self.mode is not Mode.ENFORCE:
            return np.zeros_like(self.abstains)
        passes = self.values >= self.limits if self.direction is Direction.AT_LEAST else self.values <= self.limits
        return ~(passes | self.abstains)

    @property
    def codes(self) -> Ints:
        """Shape (n,); the reason a refusal by it has, as a code: its own, or that it could not be measured."""
        return np.where(np.isnan(self.values), CODE[Reason.NOT_RUN], CODE[self.reason])


def availability(of: ReplaySet, s: Settings) -> Held:
    """Retrieved passages."""
    found = (~np.isnan(of.distances)).sum(axis=1).astype(float)
    return _at_least(of, "availability", Reason.NOTHING_RETRIEVED, Mode.ENFORCE, "count", found, 1)


def answerability(of: ReplaySet, s: Settings) -> Held:
    """The calibrated score; its limit depends on the question's intent."""
    limits = {intent: least_answerability(s, intent) for intent in set(of.intent)}
    limit = np.array([limits[intent] for intent in of.intent], dtype=float)
    return _at_least(of, "answerability", Reason.ANSWERABILITY, s.answerability_mode, "answerability", of.answerability, limit)


def top_cosine(of: ReplaySet, s: Settings) -> Held:
    """The closest passage."""
    nothing = np.isnan(of.top)
    return _at_least(of, "top_cosine", Reason.TOP_COSINE, s.top_cosine_mode, "cosine", of.top, s.min_top_cosine, nothing)


def mean_confidence(of: ReplaySet, s: Settings) -> Held:
    """The passages on average."""
    nothing = np.isnan(of.mean)
    return _at_least(of, "mean_confidence", Reason.MEAN_CONFIDENCE, s.mean_confidence_mode, "cosine", of.mean, s.min_mean_cosine, nothing)


def relevance(of: ReplaySet, s: Settings) -> Held:
    """The beginnings of the top passages."""
    return _at_least(of, "relevance", Reason.RELEVANCE, s.relevance_mode, "cosine", of.relevance, s.min_relevance)


def distance(of: ReplaySet, s: Settings) -> Held:
    """The distance of the closest passage."""
    closest = np.fmin.reduce(of.distances, axis=1, initial=np.nan)
    return _at_most(of, "distance", Reason.DISTANCE, s.distance_mode, "distance", closest, s.max_distance, np.isnan(closest))


def min_documents(of: ReplaySet, s: Settings) -> Held:
    """The passages within the distance cut."""
    within = (of.distances <= s.max_distance).sum(axis=1).astype(float)
    return _at_least(of, "min_documents", Reason.MIN_DOCUMENTS, s.min_documents_mode, "count", within, s.min_documents)


def keywords(of: ReplaySet, s: Settings) -> Held:
    """The words of the question that the passages hold."""
    required = np.minimum(s.min_keywords, of.known)
    abstains = of.keywords_abstain | (of.known == 0)
    return _at_least(of, "keywords", Reason.KEYWORDS, s.keywords_mode, "count", of.matched, required, abstains)


def required_entities(of: ReplaySet, s: Settings) -> Held:
    """The names of the question that no document holds."""
    return _at_most(
        of, "required_entities", Reason.REQUIRED_ENTITIES, s.required_entities_mode, "count", of.missing_entities,
        s.max_missing_entities, of.names_nothing,
    )  # fmt: skip


def citations_present(of: ReplaySet, s: Settings) -> Held:
    """Claims that name a source."""
    cited = of.named.sum(axis=1).astype(float)
    return _at_least(of, Reason.CITATIONS_PRESENT, Reason.CITATIONS_PRESENT, Mode.ENFORCE, "count", cited, 1, of.no_claims)


def citations_complete(of: ReplaySet, s: Settings) -> Held:
    """Claims that name none."""
    return _none_of(of, Reason.CITATIONS_COMPLETE, (of.claims & ~of.named).sum(axis=1).astype(float))


def citations_valid(of: ReplaySet, s: Settings) -> Held:
    """Named sources that were not retrieved."""
    return _none_of(of, Reason.CITATIONS_VALID, of.fabricated)


def verbatim(of: ReplaySet, s: Settings) -> Held:
    """Quotes that do not stand on their page."""
    return _none_of(of, Reason.VERBATIM, of.quotes_missing)


def indicator_phrases(of: ReplaySet, s: Settings) -> Held:
    """Phrases of knowledge from elsewhere."""
    return _none_of(of, Reason.INDICATORS, of.indicators, s.indicators_mode)


def length_ratio(of: ReplaySet, s: Settings) -> Held:
    """The draft over what it was drafted from."""
    return _at_most(of, Reason.LENGTH_RATIO, Reason.LENGTH_RATIO, s.length_ratio_mode, "ratio", of.length, s.max_length_ratio, of.no_claims)


def word_overlap(of: ReplaySet, s: Settings) -> Held:
    """Share of claims that their evidence carries."""
    compared = of.rests & ~np.isnan(of.overlap)
    grounded = compared & (of.overlap >= s.min_sentence_overlap) & (of.changed_facts == 0)
    count = compared.sum(axis=1)
    share = np.where(count > 0, grounded.sum(axis=1) / np.maximum(count, 1), np.nan)
    return _at_least(of, Reason.OVERLAP, Reason.OVERLAP, s.overlap_mode, "share", share, s.min_grounded, of.rests_on_nothing)


def facts(of: ReplaySet, s: Settings) -> Held:
    """Facts that the evidence lacks."""
    changed = (of.changed_facts * of.rests).sum(axis=1)
    return _none_of(of, Reason.FACTS, changed, s.facts_mode, of.rests_on_nothing)


def similarity(of: ReplaySet, s: Settings) -> Held:
    """The claim least similar to its evidence."""
    return _at_least(
        of, Reason.SIMILARITY, Reason.SIMILARITY, s.similarity_mode, "cosine", _least(of, of.similarity), s.min_similarity,
        of.rests_on_nothing,
    )  # fmt: skip


def support(of: ReplaySet, s: Settings) -> Held:
    """The claim that its evidence supports least."""
    return _at_least(
        of, Reason.SUPPORT, Reason.SUPPORT, s.support_mode, "support", _least(of, of.support), s.min_support, of.rests_on_nothing
    )  # fmt: skip


def contradictions(of: ReplaySet, s: Settings) -> Held:
    """Sources that contradict each other."""
    count = np.bincount(of.conflicts[:, 0], minlength=len(of)).astype(float)
    return _none_of(of, Reason.CONTRADICTED, count, s.contradictions_mode, _never(of), "contradictions")


Judge = Callable[[ReplaySet, Settings], Held]

GATES: tuple[Judge, ...] = (
    availability, answerability, top_cosine, mean_confidence, relevance, distance, min_documents, keywords, required_entities,
)  # fmt: skip
AUDITS: tuple[Judge, ...] = (
    citations_present, citations_complete, citations_valid, verbatim, indicator_phrases, length_ratio, word_overlap, facts, similarity,
    support, contradictions,
)  # fmt: skip


def _least(of: ReplaySet, values: Floats) -> Floats:
    """Shape (n,); the least of the claims with evidence, NaN where there is none and wherever one is not known."""
    least = np.where(of.rests, values, np.inf).min(axis=1, initial=np.inf)
    return np.where(np.isinf(least), np.nan, least)


def _at_least(
    of: ReplaySet, name: str, reason: Reason, mode: Mode, scale: str, values: Floats, limits: Floats | float, abstains: Flags | None = None
) -> Held:
    return Held(name, reason, mode, scale, values, limits, Direction.AT_LEAST, _never(of) if abstains is None else abstains)


def _at_most(
    of: ReplaySet, name: str, reason: Reason, mode: Mode, scale: str, values: Floats, limits: float, abstains: Flags
) -> Held:  # fmt: skip
    return Held(name, reason, mode, scale, values, limits, Direction.AT_MOST, abstains)


def _none_of(
    of: ReplaySet, reason: Reason, counts: Floats, mode: Mode = Mode.ENFORCE, abstains: Flags | None = None, name: str = ""
) -> Held:  # fmt: skip
    nothing = of.no_claims if abstains is None else of.no_claims | abstains
    return Held(name or reason, reason, mode, "count", counts, 0, Direction.AT_MOST, nothing)


def _never(of: ReplaySet) -> Flags:
    return np.zeros(len(of), dtype=bool)
