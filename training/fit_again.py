"""Fit both scores again from where they are, after the answerability model or a feature changed, and write them to `data/`.

    python -m training.fit_again MEASURED.jsonl [MEASURED.jsonl ...] [--c 0.003] [--few-c 0.1] [--few-shift -0.35] [--as-it-is] [--write]

The files are those that `training.fit_scores` measures. Coefficients are held near to the ones in force, which more sets were fitted on
than have to be measured again. In correctness among many passages only what the answerability model says is weighed anew, so that nothing
moves in the languages that it does not read. The score for few passages is fitted with a strength of its own, and may be lowered: the
network learned from other passages of the articles that these questions are of, and is surer there than elsewhere. Prints for each group
what was right, what was said before and now, and AUROC and calibration error, each question judged by a fit that did not see it. The
scaling of single languages is left out; `training.fit_languages` fits it anew afterwards. With `--as-it-is` everything is kept, that too.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from rag_core.evaluation.metrics import auroc, calibration_error, reliability
from rag_core.gating.fitting import adjust
from rag_core.gating.scores import FAR, FILE, Calibration, Identity, is_narrow, read
from rag_core.settings import Settings
from rag_core.wiring import answerability_model, embedder
from training.files import rows, write
from training.fit_scores import LICENCES, balanced_weights, out_of_fold, probabilities

OF_MODEL = ("answer_best", "answer_first", "unit_best", "unit_next", "unit_share")  # features that are 0 where the model was not asked
SAID = ("right", "answerable")  # labels: of correctness, of answerability


@dataclass(frozen=True)
class How:
    """How far weights may go among many passages and among few, and what the odds among few are moved by in the end.

    `as_it_is`: no weight moves; the scores in force are taken over for another network, and only the odds among few passages move.
    """

    c: float = 0.003
    few_c: float = 0.1
    few_shift: float = -0.35
    as_it_is: bool = False


def again(base: Calibration, found: Sequence[dict[str, Any]], label: str, how: How) -> Calibration:
    """The score moved to what these questions say; that for few passages apart from that for many."""
    shift = how.few_shift if label == "right" else 0.0
    if how.as_it_is:
        return replace(base, narrow=replace(base.narrow, intercept=base.narrow.intercept + shift)) if base.narrow else base
    narrow = [row for row in found if is_narrow(row["signals"])]
    wide = [row for row in found if not is_narrow(row["signals"])]
    moved = (_weighed if label == "right" else _moved)(replace(base, narrow=None), wide, label, how.c)
    if base.narrow is None:
        return moved
    few = _moved(base.narrow, narrow, label, how.few_c)
    return replace(moved, narrow=replace(few, intercept=few.intercept + shift))


def _moved(base: Calibration, found: Sequence[dict[str, Any]], label: str, c: float) -> Calibration:
    weights = balanced_weights([row["group"] for row in found])
    return adjust(base, [row["signals"] for row in found], [row[label] for row in found], base.provenance, c=c, weights=weights)


def _weighed(base: Calibration, found: Sequence[dict[str, Any]], label: str, c: float) -> Calibration:
    """The score with other weights of what the model says, and as it was where the model was not asked.

    Beside the weights a shift is fitted, without a penalty, for the questions that were read: the weight of `read` and the intercept
    carry it.
    """
    weights = np.array(balanced_weights([row["group"] for row in found]))
    asked = np.array([bool(row["signals"]["read"]) for row in found])
    y = np.array([row[label] for row in found], dtype=float)[asked]
    at = [base.features.index(name) for name in OF_MODEL]
    mean, scale = np.array(base.mean), np.array(base.scale)
    unasked = np.clip(-mean / scale, -FAR, FAR)[at]
    measured = [row["signals"] for row in found if row["signals"]["read"]]
    x = np.clip((np.array([[row[name] for name in OF_MODEL] for row in measured]) - mean[at]) / scale[at], -FAR, FAR) - unasked
    before, counts = np.array([base.logit(row) for row in measured]), weights[asked]

    def loss(moved: np.ndarray) -> float:
        odds = before + x @ moved[:-1] + moved[-1]
        return float((counts * (np.logaddexp(0, odds) - y * odds)).sum() + moved[:-1] @ moved[:-1] / (2 * c))

    *changes, shift = map(float, minimize(loss, np.zeros(len(at) + 1), method="L-BFGS-B").x)
    coefficients, read_at = list(base.coefficients), base.features.index("read")
    for place, change in zip(at, changes, strict=True):
        coefficients[place] += change
    coefficients[read_at] += shift * base.scale[read_at]
    constant = shift * base.mean[read_at] - float(np.dot(changes, unasked))
    return replace(base, coefficients=tuple(coefficients), intercept=base.intercept + constant)


def report(base: Calibration, found: Sequence[dict[str, Any]], label: str, how: How) -> str:
    """A line for each group: share, mean before and now, AUROC and calibration error before and now."""
    before, now = probabilities(base, found), out_of_fold(found, lambda kept: again(base, kept, label, how))
    group, y = np.array([row["group"] for row in found]), np.array([row[label] for row in found])
    lines = []
    for name in dict.fromkeys(group.tolist()):
        of = group == name
        figures = " | ".join(_figures(p[of], y[of]) for p in (before, now))
        lines.append(f"{label} {name}: {of.sum()} questions, {y[of].mean():.2f} | {figures}")
    weights = np.array(balanced_weights(group.tolist()))
    loss = [float(-(weights * np.log(np.where(y, p, 1 - p).clip(1e-6))).mean()) for p in (before, now)]
    return "\n".join([*lines, f"{label}: log loss {loss[0]:.4f} before, {loss[1]:.4f} now", ""])


def _figures(said: np.ndarray, so: np.ndarray) -> str:
    order, error = auroc(said, so), calibration_error(reliability(said, so))
    return f"{said.mean():.2f}, AUROC {'-' if order is None else f'{order:.3f}'}, error {error:.3f}"


def main() -> None:
    """Read what was measured; report, fit, and write where asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kept", type=Path, nargs="+", help="files of measurements")
    parser.add_argument("--c", type=float, default=How.c, help="how far weights may go; a small one moves the intercepts alone")
    parser.add_argument("--few-c", type=float, default=How.few_c, help="the same among few passages")
    parser.add_argument("--few-shift", type=float, default=How.few_shift, help="added to the log odds of correctness among few passages")
    parser.add_argument("--as-it-is", action="store_true", help="move no weight, and only add --few-shift: the network in force is another")
    parser.add_argument("--write", action="store_true", help="write data/answerability.json")
    given = parser.parse_args()
    how = How(given.c, given.few_c, given.few_shift, given.as_it_is)
    found = [row for path in given.kept for row in rows(path)]
    whole = read(FILE)
    assert whole.correctness is not None
    languages = whole.correctness.languages if how.as_it_is else {}
    bases = {"right": replace(whole.correctness, languages=languages), "answerable": replace(whole, correctness=None)}
    for label in SAID:
        sys.stdout.write(report(bases[label], found, label, how))
    if not given.write:
        return
    settings = Settings.load()
    identity = Identity.of(embedder(settings.embedding_model, "auto"), answerability_model(settings))
    fitted = {label: _named(again(bases[label], found, label, how), identity) for label in SAID}
    about = {"date": date.today().isoformat(), **asdict(how), "sets": dict(Counter(row["group"] for row in found)), "licences": LICENCES}
    hashes = sorted({*whole.provenance.get("question_hashes", ()), *(row["question"] for row in found)})
    step = "taken_over" if how.as_it_is else "again"
    provenance = {**whole.provenance, step: {**about, "program": "training/fit_again.py"}, "question_hashes": hashes}
    made = replace(fitted["answerable"], correctness=fitted["right"], provenance=provenance)
    write(FILE, made.to_json())


def _named(score: Calibration, identity: Identity) -> Calibration:
    narrow = replace(score.narrow, identity=identity) if score.narrow else None
    return replace(score, identity=identity, narrow=narrow)


if __name__ == "__main__":
    main()
