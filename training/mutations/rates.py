"""Counts how often a changed fact is seen, by operator and language, and how often a true sentence is flagged."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from rag_core.facts import changed_facts
from training.mutations.operators import OPERATORS, mutations
from training.mutations.rewriting import REWRITES, rewrites
from training.mutations.texts import Sample

UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Variant:
    """A sentence as it was put to the check of facts.

    `operator` is an operator, "unchanged", or the kind of a harmless rewrite.
    """

    operator: str
    text: str
    sample: Sample

    @property
    def harmful(self) -> bool:
        """Whether the evidence no longer supports it."""
        return self.operator in OPERATORS


@dataclass
class Rates:
    """Counts by (operator, language), and the variants that came out wrong: missed changes, flagged harmless ones with
    what was flagged.
    """

    tried: Counter[tuple[str, str]] = field(default_factory=Counter)
    flagged: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: list[tuple[Variant, tuple[tuple[str, str], ...]]] = field(default_factory=list)

    def of(self, operator: str, lang: str) -> float | None:
        """The share that was flagged, in [0, 1]; None where none was tried."""
        total = self.tried[operator, lang]
        return self.flagged[operator, lang] / total if total else None


def variants(sample: Sample, draw: random.Random) -> Iterator[Variant]:
    """A sentence as it is, with each change, and with each harmless one."""
    yield Variant(UNCHANGED, sample.sentence, sample)
    for made in mutations(sample.sentence, sample.page, sample.lang, draw):
        yield Variant(made.operator, made.text, sample)
    for made in rewrites(sample.sentence, sample.lang, draw):
        yield Variant(made.operator, made.text, sample)


def measure(samples: Iterable[Sample], draw: random.Random, most: int | None = None) -> Rates:
    """Put every variant to `changed_facts` with the evidence of its sentence; of each operator in each language at most
    `most`.
    """
    rates = Rates()
    for sample in samples:
        for variant in variants(sample, draw):
            key = variant.operator, sample.lang
            if most is not None and variant.operator != UNCHANGED and rates.tried[key] >= most:
                continue
            found = changed_facts(variant.text, sample.evidence, sample.lang)
            rates.tried[key] += 1
            rates.flagged[key] += bool(found)
            if bool(found) != variant.harmful:
                rates.wrong.append((variant, found))
    return rates


def table(rates: Rates) -> str:
    """The rates as text: a row for each operator and kind, a column for each language, "caught or flagged/tried"."""
    languages = sorted({lang for _, lang in rates.tried})
    lines = [f"{'':12}" + "".join(f"{lang:>20}" for lang in languages)]
    for operator in (*OPERATORS, UNCHANGED, *REWRITES):
        cells = (_cell(rates, operator, lang) for lang in languages)
        lines.append(f"{operator:12}" + "".join(f"{cell:>20}" for cell in cells))
    return "\n".join(lines)


def _cell(rates: Rates, operator: str, lang: str) -> str:
    share = rates.of(operator, lang)
    return "-" if share is None else f"{share:.3f} {rates.flagged[operator, lang]}/{rates.tried[operator, lang]}"
