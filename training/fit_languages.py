"""Scale correctness in single languages, and write that to `data/answerability.json`.

    python -m training.fit_languages MEASURED.jsonl [MEASURED.jsonl ...] [--languages de,es,hi,ru] [--raised en] [--write]

The files are those that `training.fit_scores` measures. One regression serves all languages. In one that the answerability model does not
read it is too little sure either way, since it has to serve languages that nobody fitted as well. So the log odds of a language that there
are labelled questions in are scaled by two numbers (Platt, Probabilistic outputs for support vector machines, 1999). Prints for each group
what was shown at the default threshold, how much of it was right, and the calibration error, before and now, each question judged by a fit
that did not see it. Languages that are not named keep their two numbers.

The odds of languages in `--raised` are only moved, and less than any group asks for: most reports and filings are in English, and no set
holds all that people bring. They are moved for sentences alone. Rows of tables are right as often as they claim.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from rag_core.evaluation.metrics import calibration_error, reliability
from rag_core.gating.scores import FILE, Calibration, Platt, is_narrow, read
from rag_core.settings import Settings
from training.files import rows, write
from training.fit_scores import LICENCES, balanced_weights, out_of_fold, probabilities

PENALTY = 0.02  # on the squares of the shift and of the slope's distance from 1: what a few hundred questions say goes before it; chosen
LEAST_SLOPE = 0.1  # a slope at or below 0 would turn the order round
LEAST_GROUP = 100  # questions; what fewer of one kind ask for is not known well enough; chosen
SURE = 1.96  # standard errors on either side of an estimate: 95 % of a normal distribution
STEPS = 50  # steps of Newton's method, at most; five are enough


def scaling(base: Calibration, found: Sequence[dict[str, Any]]) -> Platt:
    """The two numbers that these questions of one language ask for; `base` is read without scaling."""
    odds, right = np.array([base.logit(row["signals"]) for row in found]), np.array([row["right"] for row in found], dtype=float)
    counts = np.array(balanced_weights([row["group"] for row in found]))

    def loss(moved: np.ndarray) -> float:
        scaled = moved[1] + moved[0] * odds
        likelihood = (counts * (np.logaddexp(0, scaled) - right * scaled)).sum()
        return float(likelihood + PENALTY / 2 * ((moved[0] - 1) ** 2 + moved[1] ** 2))

    slope, shift = map(float, minimize(loss, np.array([1.0, 0.0]), method="L-BFGS-B", bounds=[(LEAST_SLOPE, None), (None, None)]).x)
    return Platt(round(slope, 4), round(shift, 4))


def raised(base: Calibration, found: Sequence[dict[str, Any]]) -> Platt:
    """The shift that each group of these questions asks for where sentences were drafted: the least of the lower ends of their intervals.

    0 where one of them asks for none. `base` is read without scaling.
    """
    sentences = [row for row in found if not row["signals"]["draft_table"]]
    groups = {name: count for name, count in Counter(row["group"] for row in sentences).items() if count >= LEAST_GROUP}
    lowest = [_lower_end(base, [row for row in sentences if row["group"] == name]) for name in groups]
    return Platt(1.0, round(max(0.0, min(lowest, default=0.0)), 4), sentences=True)


def _lower_end(base: Calibration, found: Sequence[dict[str, Any]]) -> float:
    """Of the 95 % interval of the shift of the log odds that is likeliest, by Newton's method."""
    odds, right = np.array([base.logit(row["signals"]) for row in found]), np.array([row["right"] for row in found], dtype=float)
    shift = 0.0
    for _ in range(STEPS):
        said = expit(odds + shift)
        shift += float(np.clip((right - said).sum() / (said * (1 - said)).sum(), -1, 1))
    said = expit(odds + shift)
    return shift - SURE / float(np.sqrt((said * (1 - said)).sum()))


Scale = Callable[[Calibration, Sequence[dict[str, Any]]], Platt]


def report(base: Calibration, found: Sequence[dict[str, Any]], threshold: float, scale: Scale = scaling) -> str:
    """A line for each group of one language, before and now; `threshold` is that of the default gate, in [0, 1]."""
    code = found[0]["language"]
    before, now = probabilities(base, found), out_of_fold(found, lambda kept: replace(base, languages={code: scale(base, kept)}))
    group, right = np.array([row["group"] for row in found]), np.array([row["right"] for row in found])
    could = np.array([row["answerable"] for row in found])
    lines = []
    for name in dict.fromkeys(group.tolist()):
        of = group == name
        figures = " | ".join(_figures(said[of], right[of], could[of], threshold) for said in (before, now))
        lines.append(f"{name}: {of.sum()} questions | {figures}\n")
    return "".join(lines)


def _figures(said: np.ndarray, right: np.ndarray, could: np.ndarray, threshold: float) -> str:
    shown = said >= threshold
    of_shown = f"{right[shown].mean():.2f}" if shown.any() else "-"
    error = calibration_error(reliability(said, right))
    return f"right of shown {of_shown}, answered rightly {right[shown].sum() / could.sum():.2f}, error {error:.3f}"


def main() -> None:
    """Read what was measured; report, fit, and write where asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kept", type=Path, nargs="+", help="files of measurements")
    parser.add_argument("--languages", default="", help="codes parted by commas")
    parser.add_argument("--raised", default="", help="codes of languages whose odds are only moved, parted by commas")
    parser.add_argument("--write", action="store_true", help="write data/answerability.json")
    given = parser.parse_args()
    whole = read(FILE)
    assert whole.correctness is not None
    base = replace(whole.correctness, languages={})
    found = [row for path in given.kept for row in rows(path) if not row["group"].startswith("unread ")]
    found = [row for row in found if not is_narrow(row["signals"])]
    scaled: dict[str, Platt] = {}
    hows: dict[str, Scale] = dict.fromkeys(filter(None, given.languages.split(",")), scaling)
    hows |= dict.fromkeys(filter(None, given.raised.split(",")), raised)
    for code, scale in hows.items():
        of = [row for row in found if row["language"] == code]
        sys.stdout.write(report(base, of, Settings.load().min_correctness, scale))
        scaled[code] = scale(base, of)
        sys.stdout.write(f"{code}: {scaled[code]}\n")
    if not given.write:
        return
    about = {
        "date": date.today().isoformat(), "program": "training/fit_languages.py", "licences": LICENCES,
        "sets": dict(Counter(row["group"] for row in found if row["language"] in scaled)),
        "scaled": {code: asdict(one) for code, one in scaled.items()},
    }  # fmt: skip
    hashes = sorted({*whole.provenance.get("question_hashes", ()), *(row["question"] for row in found if row["language"] in scaled)})
    provenance = {**whole.provenance, "languages": about, "question_hashes": hashes}
    made = replace(whole, correctness=replace(base, languages={**whole.correctness.languages, **scaled}), provenance=provenance)
    write(FILE, made.to_json())


if __name__ == "__main__":
    main()
