"""Fit what one feature adds to correctness, all other weights held as they are; of the label of a table's row to the
relevance, too.

    python -m training.fit_rows SET MEASURED.jsonl --extract
    python -m training.fit_rows SET MEASURED.jsonl [--feature fit_result]

SET is a folder of PDFs, questions and gold, as `training.table_reports` makes them; several may be named. `fit_row` is
0 wherever no row of a table was drafted, and `fit_result` is 1 wherever no figure is asked for that would have to be
computed. So nothing else changes, and the labelled texts that the rest was fitted on need not be measured again. The
relevance is fitted first: the score reads what it chose. Prints what was right and what was said, by the feature.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from rag_core.compression.scoring import FEATURES, relevance
from rag_core.evaluation.calibration import holds_right_answer
from rag_core.gating.asked import asks_to_compute
from rag_core.gating.scores import FILE, Calibration, features_version, read
from rag_core.settings import DATA, Settings
from training.files import rows, write
from training.fit_scores import unit_rows
from training.measured import few_documents

NAME = "fit_row"
NEUTRAL = {NAME: 0.0, "fit_result": 1.0}  # where the feature says nothing
ALL = 100_000  # questions: every one
EDGES = (0.0, 0.2, 0.4, 0.6, 0.79, 1.0)  # between the lines of the report; chosen
LICENCES = {"TAT-QA": "CC BY 4.0", "pages of FinQA, and look-ups of ConvFinQA": "MIT"}
PRIOR = 10.0  # variance of the weight before anything was seen; chosen wide


def collect(folder: Path, units: bool, computed: bool) -> list[dict[str, Any]]:
    """One row a question: its features, whether the draft is right, and with `units` every unit's.

    Questions that ask to compute are there with `computed` only: a row that is the one named does not answer them.
    """
    found = []
    for row in few_documents(folder, Settings.load(), ALL):
        measured = row.measurements
        if measured.hits and (computed or not asks_to_compute(measured.question, measured.understanding.language)):
            right = row.answerable and holds_right_answer(measured, row.answers)
            of_units = unit_rows(row) if units and row.answerable else []
            found.append({"signals": dict(measured.features), "right": right, "units": of_units})
    return found


def weight(x: np.ndarray, offset: np.ndarray, y: np.ndarray, intercept: bool) -> tuple[float, float]:
    """The weight of `x` beside log odds that are held, and the intercept that goes with it, 0 without one."""

    def loss(b: np.ndarray) -> float:
        z = offset + x * b[0] + (b[1] if intercept else 0.0)
        return float((np.logaddexp(0, z) - y * z).sum() + b[0] ** 2 / (2 * PRIOR))

    best = minimize(loss, np.zeros(2)).x
    return float(best[0]), float(best[1]) if intercept else 0.0


def fit_relevance(found: list[dict[str, Any]], about: dict[str, Any]) -> None:
    """The weight of the feature among all units of a question's passages; the intercept beside it is not kept, since it
    orders nothing.
    """
    units = [unit for row in found for unit in row["units"]]
    body = json.loads((DATA / "extract.json").read_text(encoding="utf-8"))
    at = FEATURES.index(NAME)
    x, y = np.array([unit[0][at] for unit in units]), np.array([unit[2] for unit in units], dtype=float)
    before = [relevance(dict(zip(FEATURES, unit[0], strict=True)) | {NAME: 0.0}, unit[1]) for unit in units]
    value, _ = weight(x, logit(np.clip(before, 1e-6, 1 - 1e-6)), y, intercept=True)
    for name in ("weights", "read"):
        body[name][NAME] = round(value, 2)
    body["provenance"][NAME] = {"units": len(units), **about}
    write(DATA / "extract.json", body)
    sys.stdout.write(f"relevance {value:.2f}\n")


def fit_correctness(found: list[dict[str, Any]], about: dict[str, Any], name: str) -> None:
    """The feature's weight in correctness."""
    whole = read(FILE)
    assert whole.correctness is not None
    base, neutral = _without(whole.correctness, name), NEUTRAL[name]
    before = np.array([base.logit(row["signals"]) for row in found])
    x, y = (
        np.array([row["signals"][name] - neutral for row in found]),
        np.array([row["right"] for row in found], dtype=float),
    )
    value, _ = weight(*_one_more_of_each(x, before, y), intercept=False)
    fitted = _with(base, name, value)
    identity = replace(whole.identity, features=features_version())
    provenance = {**whole.provenance, name: {"questions": len(found), **about}}
    made = replace(whole, identity=identity, correctness=replace(fitted, identity=identity), provenance=provenance)
    write(FILE, made.to_json())
    sys.stdout.write(f"correctness {value:.2f}\n")
    after, x = expit(before + value * x), x + neutral
    for low, high in zip((-1.0, *EDGES), EDGES, strict=False):
        of = (x > low) & (x <= high)
        if of.any():
            said = f"{expit(before[of]).mean():.2f} before, {after[of].mean():.2f} now"
            sys.stdout.write(
                f"{name} above {low:g} to {high:g}: {of.sum()} questions, right {y[of].mean():.2f}, said {said}\n"
            )


def _one_more_of_each(x: np.ndarray, offset: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The questions with one right and one wrong draft more where the feature speaks, by Laplace's rule: none is not
    never.
    """
    speaks = np.abs(x) > 0
    like = np.array([x[speaks].mean()] * 2), np.array([offset[speaks].mean()] * 2), np.array([0.0, 1.0])
    joined = [np.concatenate(pair) for pair in zip((x, offset, y), like, strict=True)]
    return joined[0], joined[1], joined[2]


def _with(base: Calibration, feature: str, value: float) -> Calibration:
    """The score with one more feature."""
    return replace(
        base,
        features=(*base.features, feature),
        mean=(*base.mean, NEUTRAL[feature]),
        scale=(*base.scale, 1.0),
        coefficients=(*base.coefficients, value),
    )


def _without(fitted: Calibration, feature: str) -> Calibration:
    """The score without the feature, as it was before a fit."""
    keep = [i for i, name in enumerate(fitted.features) if name != feature]

    def kept(values: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(values[i] for i in keep)

    return replace(
        fitted,
        features=kept(fitted.features),
        mean=kept(fitted.mean),
        scale=kept(fitted.scale),
        coefficients=kept(fitted.coefficients),
    )


def main() -> None:
    """Measure, or read what was measured before; fit, report, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+", help="sets of questions")
    parser.add_argument(
        "kept", type=Path, help="file of the measurements; read where it is there, written where it is not"
    )
    parser.add_argument("--extract", action="store_true", help="fit the relevance of rows, and nothing else")
    parser.add_argument(
        "--feature", choices=NEUTRAL, default=NAME, help="the feature whose weight in correctness is fitted"
    )
    given = parser.parse_args()
    if not given.kept.exists():
        found = [row for folder in given.folders for row in collect(folder, given.extract, given.feature != NAME)]
        given.kept.write_text("".join(json.dumps(row) + "\n" for row in found), encoding="utf-8")
    about = {
        "date": date.today().isoformat(),
        "sets": [folder.name for folder in given.folders],
        "licences": LICENCES,
        "program": "training/fit_rows.py",
    }
    if given.extract:
        fit_relevance(rows(given.kept), about)
    else:
        fit_correctness(rows(given.kept), about, given.feature)


if __name__ == "__main__":
    main()
