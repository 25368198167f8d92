"""Fit the answerability score and the extract's relevance, and write them to `data/` with their provenance.

    python -m training.fit_scores PATH_TO_TRAINING_DATA [FILE_TO_KEEP_THE_MEASUREMENTS_IN]

Needs the folders `xquad-*` and the file `answerability.jsonl`; prints cross-validated figures. Folds hold out a language, or the large
library, so that a figure says what to expect of a language that was not fitted on. About fifteen minutes on two cores.
"""

from __future__ import annotations

import json
import sys
import unicodedata
from collections import Counter
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from rag_core.calibrate import Calibration, Identity, fit, question_hash
from rag_core.draft.extract import FEATURES, score_units
from rag_core.language import asks_number
from rag_core.question import core, expand
from rag_core.settings import DATA
from rag_core.signals import weigh
from rag_core.wiring import embedder
from training.measured import SEED, Measured, measured

LICENCES = {
    "xquad-en, xquad-de, xquad-es, xquad-hi, xquad-ru": "CC BY-SA 4.0",
    "squad2-dev-half": "CC BY-SA 4.0",
    "policyqa": "MIT",
    "qasper(uda)": "CC BY-SA 4.0",
}
EXTRACT_STRENGTH = 10.0


def normal(text: str) -> str:
    """Words, folded; letters keep their combining marks."""
    text = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(c if c.isalnum() or unicodedata.category(c)[0] == "M" else " " for c in text).split())


def holds(text: str, answers: tuple[str, ...]) -> bool:
    """Whether the text contains one of the answers as whole words."""
    return any(normal(a) and f" {normal(a)} " in f" {normal(text)} " for a in answers)


def unit_rows(row: Measured) -> list[tuple[list[float], bool]]:
    """(features, holds the answer) of every unit of an answerable question's passages."""
    case, engine = row.case, row.engine
    corpus, tools, language = engine.library.snapshot, engine.tools, case.understanding.language
    spelled = expand(case.question)
    vector = tools.embedder.embed([spelled])[0]
    weights = weigh(core(spelled, language), language, corpus.lexical)
    scored = score_units(case.hits, weights, asks_number(case.question, language), vector, tools.embedder.embed, corpus.page_text)
    return [([s.features[name] for name in FEATURES], holds(s.unit.text, row.answers)) for s in scored]


def figures(probabilities: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """AUROC; false refusals at 5 % wrong answers; both error rates at 0.5."""
    no = np.sort(probabilities[~labels])[::-1]
    cut = no[int(0.05 * len(no))]
    return {
        "n": len(labels),
        "auroc": round(float(roc_auc_score(labels, probabilities)), 4),
        "false_refusals_at_5pct_wrong": round(float((probabilities[labels] <= cut).mean()), 4),
        "false_refusals_at_half": round(float((probabilities[labels] < 0.5).mean()), 4),
        "wrong_answers_at_half": round(float((probabilities[~labels] >= 0.5).mean()), 4),
    }


def balanced_weights(groups: list[str]) -> list[float]:
    """Every group counts the same."""
    count = Counter(groups)
    return [len(groups) / (len(count) * count[group]) for group in groups]


def collect(data: Path) -> dict[str, list]:
    """Signals, labels and groups of all questions, and the unit rows of the answerable ones, as plain lists."""
    found: dict[str, list] = {"signals": [], "labels": [], "groups": [], "units": [], "questions": []}
    for row in measured(data):
        if not row.case.hits:
            continue
        found["signals"].append(dict(row.case.signals))
        found["labels"].append(row.answerable)
        found["groups"].append(row.group)
        found["questions"].append(question_hash(row.case.question))
        if row.answerable:
            found["units"].append([row.group, unit_rows(row)])
    return found


def main(data: Path, kept: Path | None = None) -> None:
    """Measure, or read what was measured before; fit, report, write."""
    if kept is not None and kept.exists():
        found = json.loads(kept.read_text(encoding="utf-8"))
    else:
        found = collect(data)
        if kept is not None:
            kept.write_text(json.dumps(found), encoding="utf-8")
    signals, labels, groups = found["signals"], found["labels"], found["groups"]
    identity = Identity.of(embedder("all-MiniLM-L6-v2", "auto"))
    units = [unit for _, rows in found["units"] for unit in rows]
    y, group = np.array(labels), np.array(groups)
    held_out = {}
    for name in dict.fromkeys(groups):
        train = [i for i in range(len(y)) if groups[i] != name]
        fold = fit(
            identity, [signals[i] for i in train], [labels[i] for i in train], {}, weights=balanced_weights([groups[i] for i in train])
        )
        held_out[name] = figures(_probabilities(fold, [signals[i] for i in np.flatnonzero(group == name)]), y[group == name])
    whole = fit(identity, signals, labels, {}, weights=balanced_weights(groups))
    fitted = {
        name: figures(_probabilities(whole, [signals[i] for i in np.flatnonzero(group == name)]), y[group == name]) for name in held_out
    }
    provenance = {
        "sets": dict(Counter(groups)),
        "licences": LICENCES,
        "date": date.today().isoformat(),
        "seed": SEED,
        "program": "training/fit_scores.py",
        "fitted": fitted,
        "this_group_left_out": held_out,
        "question_hashes": sorted(set(found["questions"])),
    }
    _write(DATA / "answerability.json", replace(whole, provenance=provenance).to_json())
    x, holds_answer = np.array([u[0] for u in units]), np.array([u[1] for u in units])
    regression = LogisticRegression(C=EXTRACT_STRENGTH, max_iter=5000).fit(x, holds_answer)
    weights = {"intercept": float(regression.intercept_[0]), **dict(zip(FEATURES, map(float, regression.coef_[0]), strict=True))}
    auroc = round(float(roc_auc_score(holds_answer, regression.predict_proba(x)[:, 1])), 4)
    about = {"units": len(units), "auroc": auroc, **{k: provenance[k] for k in ("licences", "date", "seed", "program")}}
    _write(DATA / "extract.json", {"weights": weights, "provenance": about})
    sys.stdout.write(json.dumps({"fitted": fitted, "left out": held_out, "extract": about}, indent=1) + "\n")


def _probabilities(calibration: Calibration, rows: list[dict[str, float]]) -> np.ndarray:
    return np.array([calibration.probability(row) for row in rows])


def _write(path: Path, body: dict) -> None:
    path.write_text(json.dumps(body, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
