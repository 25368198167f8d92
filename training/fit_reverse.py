"""Find what a sentence that is surely of something else takes from correctness, all other weights held as they are.

    python -m training.fit_reverse PATH_TO_TRAINING_DATA

The feature was 0 in next to all questions of the fit, so its weight there says nothing. Here the people's questions of SQuAD 2.0 (the half
of its dev set that may be trained on) are counted: an answerable one with the sentence that holds its answer, another one with the sentence
that has most of its words. The weight is the log of how much rarer the feature is on the first than on the second, with half a question
added to each count. No network is asked, so that nothing that it was trained on flatters the figure. Prints the counts.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from rag_core.evaluation.labelled import holds_answer
from rag_core.gating.asked import asked_for
from rag_core.gating.fit import NOWHERE, fits
from rag_core.gating.scores import FILE, Calibration, features_version, read
from rag_core.language import content_terms, sentences, terms
from training.files import rows, write

NAME, SOURCE, LICENCE = "fit_contradicts", "squad2-dev-half", "CC BY-SA 4.0"


def counted(found: list[dict[str, Any]]) -> Counter[tuple[bool, bool]]:
    """How many questions there are by (answerable, whether the sentence is surely of something else)."""
    counts: Counter[tuple[bool, bool]] = Counter()
    for row in found:
        wanted, language = set(content_terms(row["question"], row["lang"])), row["lang"]
        said = [row["context"][start:end] for start, end in sentences(row["context"], language)]
        if row["answerable"]:
            said = [text for text in said if holds_answer(text, row["answers"])]
        if said:
            best = max(said, key=lambda text: len(wanted.intersection(terms(text, language))))
            counts[bool(row["answerable"]), fits(asked_for(row["question"], language), best, NOWHERE, language).contradicts] += 1
    return counts


def weight(counts: Counter[tuple[bool, bool]]) -> float:
    """The log of the odds ratio, negative where the feature speaks against an answer."""
    rate = {label: (counts[label, True] + 0.5) / (counts[label, True] + counts[label, False] + 1) for label in (True, False)}
    return math.log(rate[True] / rate[False])


def weighed(fitted: Calibration, value: float) -> Calibration:
    """The score with this weight on the feature as it is, in place of the one that it had; where it is 0, nothing changes."""
    at_zero = sum(
        coefficient * (0.0 - mean) / scale
        for name, mean, scale, coefficient in zip(fitted.features, fitted.mean, fitted.scale, fitted.coefficients, strict=True)
        if name == NAME
    )
    kept = [i for i, name in enumerate(fitted.features) if name != NAME]

    def with_own(values: tuple[Any, ...], own: Any) -> tuple[Any, ...]:
        return (*(values[i] for i in kept), own)

    return replace(
        fitted,
        features=with_own(fitted.features, NAME),
        mean=with_own(fitted.mean, 0.0),
        scale=with_own(fitted.scale, 1.0),
        coefficients=with_own(fitted.coefficients, value),
        intercept=fitted.intercept + at_zero,
        narrow=weighed(fitted.narrow, value) if fitted.narrow else None,
    )


def main() -> None:
    """Count, report, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    given = parser.parse_args()
    counts = counted([row for row in rows(given.data / "answerability.jsonl") if row["source"] == SOURCE])
    value = round(weight(counts), 3)
    whole = read(FILE)
    assert whole.correctness is not None
    about = {
        "counts": {f"{'answerable' if label else 'not'}, {'yes' if there else 'no'}": n for (label, there), n in sorted(counts.items())},
        "date": date.today().isoformat(), "licence": LICENCE, "program": "training/fit_reverse.py", "source": SOURCE,
    }  # fmt: skip
    identity = replace(whole.identity, features=features_version())

    def renamed(fitted: Calibration) -> Calibration:
        return replace(fitted, identity=identity, narrow=renamed(fitted.narrow) if fitted.narrow else None)

    made = replace(renamed(whole), correctness=renamed(weighed(whole.correctness, value)), provenance={**whole.provenance, NAME: about})
    write(FILE, made.to_json())
    sys.stdout.write(f"{dict(counts)}\nweight {value}\n")


if __name__ == "__main__":
    main()
