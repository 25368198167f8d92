"""Measures what each part of the check of claims is worth on labelled answers: a table in Markdown.

    python -m reports.grounding FOLDER … [--set KEY=VALUE …]

A FOLDER holds `claims.jsonl` (id, lang, context, answer) and `gold.jsonl` (id, supported). Every answer is measured
once; balanced accuracy at the threshold of the settings, AUROC and calibration error are printed for the rule of shared
words, for the facts alone, for facts and words without the entailment model, for the entailment model alone, and for
the whole.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from rag_core.entrypoints.terminal import Bad, read_rows
from rag_core.evaluation.metrics import auroc, calibration_error, reliability
from rag_core.grounding.entailment import Measured, judged, measure
from rag_core.grounding.judge import combine
from rag_core.grounding.overlap import overlap
from rag_core.language import is_refusal, sentences
from rag_core.settings import Settings
from rag_core.wiring import embedder, entailment_model

SAME_WORDS, GROUNDED = 0.5, 0.7  # the rule of shared words: share of a sentence's words, share of the sentences

Part = Callable[[Sequence[Measured], str], float]


def shared_words(ones: Sequence[Measured], context: str) -> float:
    """Share of the sentences with half of their words in the context; a share of 0.7 counts as 0.5."""
    share = fmean((overlap(one.claim, context) or 0.0) >= SAME_WORDS for one in ones)
    return share * 0.5 / GROUNDED if share < GROUNDED else 0.5 + (share - GROUNDED) / (1 - GROUNDED) / 2


def facts_alone(ones: Sequence[Measured], _: str) -> float:
    """1 where no fact is changed, less for each that is."""
    return 1.0 / (1 + sum(flag.endswith(("_changed", "_absent")) for one in ones for flag in one.flags) * 1.5)


def without_entailment_model(ones: Sequence[Measured], _: str) -> float:
    """Facts and words."""
    return combine([judged(one, read=False).support or 0.0 for one in ones])


def entailment_alone(ones: Sequence[Measured], _: str) -> float:
    """The network's verdict; even odds where it does not read the language."""
    return combine([1 / (1 + math.exp(-one.value("entailment"))) for one in ones])


def whole(ones: Sequence[Measured], _: str) -> float:
    """The support as the product gives it."""
    return combine([judged(one).support or 0.0 for one in ones])


PARTS: dict[str, Part] = {
    "rule of shared words": shared_words,
    "facts alone": facts_alone,
    "facts and words": without_entailment_model,
    "verifier alone": entailment_alone,
    "**the whole**": whole,
}


def measured(folder: Path, settings: Settings) -> tuple[list[bool], list[list[Measured]], list[str]]:
    """The labels, the measured sentences and the context of each answer of a folder."""
    gold = {row["id"]: bool(row["supported"]) for row in _rows(folder / "gold.jsonl", ("id",))}
    model, reader = embedder(settings.embedding_model, settings.embedding_precision), entailment_model(settings)
    labels, found, contexts = [], [], []
    for row in _rows(folder / "claims.jsonl", ("id", "context", "answer", "lang")):
        spans = [] if is_refusal(row["answer"]) else sentences(row["answer"], row["lang"])
        texts = [row["answer"][start:end] for start, end in spans]
        ones = measure(texts, [row["context"]] * len(texts), row["lang"], model, reader)
        labels.append(gold[row["id"]])
        found.append([one for one in ones if one.evidence])
        contexts.append(row["context"])
    return labels, found, contexts


def _rows(path: Path, required: Sequence[str]) -> list[dict[str, Any]]:
    found = read_rows(path, required)
    bad = [str(row) for row in found if isinstance(row, Bad)]
    if bad:
        sys.exit(bad[0])
    return [row for row in found if not isinstance(row, Bad)]


def balanced_accuracy(labels: Sequence[bool], says: Sequence[bool]) -> float:
    """Mean of the shares of supported and of unsupported answers that are judged rightly."""
    right = [[one == label for one, label in zip(says, labels, strict=True) if label is kind] for kind in (True, False)]
    return fmean(fmean(map(float, one)) for one in right)


def main() -> None:
    """Read the arguments, measure, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    given = parser.parse_args()
    settings = Settings.load(values=dict(one.split("=", 1) for one in given.set))
    tables: dict[str, list[tuple[float, float, float]]] = {name: [] for name in PARTS}
    for folder in given.folders:
        labels, found, contexts = measured(folder, settings)
        for name, part in PARTS.items():
            scores = [part(ones, context) if ones else 0.0 for ones, context in zip(found, contexts, strict=True)]
            says = [score >= settings.min_support for score in scores]
            error = calibration_error(reliability(scores, labels))
            tables[name].append((balanced_accuracy(labels, says), auroc(scores, labels) or 0.0, error or 0.0))
    out = sys.stdout
    out.write(
        f"| balanced accuracy / AUROC / calibration error | {' | '.join(folder.name for folder in given.folders)} | "
        f"mean |\n"
    )
    out.write("|---" * (len(given.folders) + 2) + "|\n")
    for name, cells in tables.items():
        mean = [fmean(column) for column in zip(*cells, strict=True)]
        shown = [" / ".join(f"{value:.3f}".removeprefix("0") for value in cell) for cell in (*cells, mean)]
        out.write(f"| {name} | {' | '.join(shown)} |\n")


if __name__ == "__main__":
    main()
