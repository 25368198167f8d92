"""A draft and what was measured on its claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from rag_core.domain.bounds import require_between
from rag_core.domain.claims import Citation, Claim


@dataclass(frozen=True, slots=True)
class ClaimMeasurement:
    """The measurements of one claim, judged later; None is "not measured", and that has not passed."""

    quotes_missing: tuple[str, ...] | None = None  # that do not stand on the page they cite
    fabricated: tuple[str, ...] | None = None  # cited ids that were not retrieved
    indicators: tuple[str, ...] | None = None  # indicator phrases in the claim that its evidence does not hold
    overlap: float | None = None  # share of the claim's words in its best evidence, in [0, 1]; None without words
    changed_facts: tuple[tuple[str, str], ...] | None = None  # that its evidence lacks, as (kind, text)
    similarity: float | None = None  # cosine between claim and evidence; None when not measured
    # probability in [0, 1], 1 for one that is its evidence; None where not measured, or where there is no evidence
    support: float | None = None
    flags: tuple[str, ...] = ()  # what speaks against it, by the names of `grounding.entailment.Assessment`
    read: bool = False  # False where it is checked by facts and common words only
    word_for_word: bool = False  # whether the claim is its evidence, word for word; then nothing had to be read
    quotes_elsewhere: tuple[str, ...] = ()  # missing ones that stand in another of the retrieved passages
    words: int | None = None  # between blanks in the claim; None where nothing was measured
    # from `taken_of`; `replace` drops it, so that changed numbers or a changed claim are no measurement any more
    of: Claim | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require_between("ClaimMeasurement.overlap", self.overlap, 0.0, 1.0)
        require_between("ClaimMeasurement.similarity", self.similarity, -1.0, 1.0)
        require_between("ClaimMeasurement.support", self.support, 0.0, 1.0)


def taken_of(claim: Claim, measured: ClaimMeasurement) -> ClaimMeasurement:
    """The measurement bound to the claim that it was taken of; an `Answer` takes no other."""
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
        if self.stored_chars is not None:
            return self.stored_chars
        return len(self.text or " ".join(claim.text for claim in self.claims))
