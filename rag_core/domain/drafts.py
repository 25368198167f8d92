"""A draft and what was measured on its claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from rag_core.domain.bounds import require_between
from rag_core.domain.claims import Citation, Claim


@dataclass(frozen=True, slots=True)
class ClaimMeasurement:
    """The measurements of one claim; thresholds judge them later.

    None is "not measured", and what was not measured has not passed.

    Args:
        quotes_missing: quotes that do not stand on the page they cite.
        words: between blanks in the claim; None where nothing was measured.
        quotes_elsewhere: those of them that stand in another of the retrieved passages: a citation of the wrong place.
        fabricated: cited ids that were not retrieved.
        indicators: indicator phrases in the claim that its evidence does not hold.
        overlap: share of the claim's words in its best evidence, in [0, 1]; None when the claim has no words.
        changed_facts: numbers, dates, names, negations of the claim that its evidence lacks, as (kind, text).
        similarity: cosine between claim and evidence; None when not measured.
        support: estimated probability in [0, 1] that the evidence supports the claim; 1 for one that is its evidence,
            word for word. None when it could not be measured, or there is no evidence.
        flags: what speaks against it, by the names of `grounding.entailment.Assessment`.
        read: False for a claim that no entailment model could read, so that it is checked by facts and common words
            only.
        word_for_word: whether the claim is its evidence, word for word; then nothing had to be read.
        of: the claim that this was measured on, from `taken_of`; None where nobody says. `replace` drops it, so that
            changed numbers or a changed claim are no measurement any more.
    """

    quotes_missing: tuple[str, ...] | None = None
    fabricated: tuple[str, ...] | None = None
    indicators: tuple[str, ...] | None = None
    overlap: float | None = None
    changed_facts: tuple[tuple[str, str], ...] | None = None
    similarity: float | None = None
    support: float | None = None
    flags: tuple[str, ...] = ()
    read: bool = False
    word_for_word: bool = False
    quotes_elsewhere: tuple[str, ...] = ()
    words: int | None = None
    of: Claim | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require_between("ClaimMeasurement.overlap", self.overlap, 0.0, 1.0)
        require_between("ClaimMeasurement.similarity", self.similarity, -1.0, 1.0)
        require_between("ClaimMeasurement.support", self.support, 0.0, 1.0)


def taken_of(claim: Claim, measured: ClaimMeasurement) -> ClaimMeasurement:
    """The measurement bound to the claim that it was taken of; an `Answer` takes no other.

    For what measures, and what reads it back.
    """
    bound = replace(measured)
    object.__setattr__(bound, "of", claim)
    return bound


@dataclass(frozen=True, slots=True)
class Draft:
    """A drafted answer with what was measured on it, claim by claim. `drafter` is extract, raw, model or none."""

    drafter: str = "none"
    claims: tuple[Claim, ...] = ()
    measured: tuple[ClaimMeasurement, ...] = ()
    citations: Mapping[str, Citation] = field(default_factory=lambda: MappingProxyType({}))  # by evidence key
    text: str = ""  # a draft's raw text where it is not just its claims
    context_chars: int = 0
    stored_chars: int | None = None  # length of a draft whose text was deleted since; see `rag_core.records`

    @property
    def chars(self) -> int:
        """Characters of the drafted text."""
        if self.stored_chars is not None:
            return self.stored_chars
        return len(self.text or " ".join(claim.text for claim in self.claims))
