"""Fit the answerability score and the extract's relevance, and write them to `data/` with their provenance.

    python -m training.fit_scores PATH_TO_TRAINING_DATA [FILE_TO_KEEP_THE_MEASUREMENTS_IN] [--extract]

Needs the folders `xquad-*` and the file `answerability.jsonl`; prints cross-validated figures. Folds hold out questions, then a language
or another kind of search, so that a figure says what to expect of one that was not fitted on. About six minutes on two cores.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold

from rag_core.compression.extract import FEATURES, score_units
from rag_core.evaluation.labelled import holds_answer
from rag_core.gating.features import weigh
from rag_core.gating.scores import Calibration, Identity, fit, is_narrow, question_hash
from rag_core.language import asks_number
from rag_core.retrieval.query import core, expand
from rag_core.settings import DATA, Settings
from rag_core.wiring import answerability_model, embedder
from training.files import SEED
from training.measured import Measured, measured

LICENCES = {
    "xquad-en, xquad-de, xquad-es, xquad-hi, xquad-ru": "CC BY-SA 4.0",
    "squad2-dev-half": "CC BY-SA 4.0",
    "policyqa": "MIT",
    "qasper(uda)": "CC BY-SA 4.0",
}
EXTRACT_C = 10.0  # the regularisation's C as in scikit-learn: weak, for a few inputs and thousands of rows
C = 0.03  # the regularisation's C as in scikit-learn; the best of 0.003, 0.01, 0.03 and 0.1 with whole articles left out
READ_ALONE = ("answer_best", "top_cosine")  # more features did worse on a source that was left out
FOLDS = 6  # questions of equal text share one


def unit_rows(row: Measured) -> list[tuple[list[float], bool]]:
    """(features, holds the answer) of every unit of an answerable question's passages."""
    measurements, engine = row.measurements, row.engine
    corpus, tools, language = engine.library.snapshot, engine.tools, measurements.understanding.language
    spelled = expand(measurements.question)
    vector = tools.embedder.embed([spelled])[0]
    weights = weigh(core(spelled, language), language, corpus.lexical)
    scored = score_units(
        measurements.hits, weights, asks_number(measurements.question, language), vector, tools.embedder.embed, corpus.page_text
    )
    return [([s.features[name] for name in FEATURES], holds_answer(s.unit.text, row.answers)) for s in scored]


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


def collect(data: Path, extract: bool) -> dict[str, list[Any]]:
    """Features, labels and groups of all questions, and with `extract` the unit rows of the answerable ones, as plain lists."""
    found: dict[str, list[Any]] = {"signals": [], "labels": [], "groups": [], "units": [], "questions": []}
    for row in measured(data):
        if not row.measurements.hits:
            continue
        found["signals"].append(dict(row.measurements.features))
        found["labels"].append(row.answerable)
        found["groups"].append(row.group)
        found["questions"].append(question_hash(row.measurements.question))
        if row.answerable and extract:
            found["units"].append([row.group, unit_rows(row)])
    return found


def main(data: Path, kept: Path | None = None, *, extract: bool = False) -> None:
    """Measure, or read what was measured before; fit, report, write. `extract` fits the sentences' relevance too."""
    if kept is not None and kept.exists():
        found = json.loads(kept.read_text(encoding="utf-8"))
    else:
        found = collect(data, extract)
        if kept is not None:
            kept.write_text(json.dumps(found), encoding="utf-8")
    features, labels, groups = found["signals"], found["labels"], found["groups"]
    settings = Settings.load()
    identity = Identity.of(embedder(settings.embedding_model, "auto"), answerability_model(settings))
    y, group = np.array(labels), np.array(groups)
    narrow = np.array([is_narrow(row) for row in features])

    def fit_on(rows: np.ndarray) -> Calibration:
        """The score for many passages, and for those few that the answerability model reads."""
        wide = _fit(identity, [i for i in rows if not narrow[i]], features, labels, groups, c=C, products=True)
        few = _fit(identity, [i for i in rows if narrow[i]], features, labels, groups, features=READ_ALONE)
        return replace(wide, narrow=few)

    held_out, crossed = {}, np.zeros(len(y))
    for name in dict.fromkeys(groups):
        fold = fit_on(np.flatnonzero(group != name))
        held_out[name] = figures(_probabilities(fold, [features[i] for i in np.flatnonzero(group == name)]), y[group == name])
    for train, test in GroupKFold(FOLDS).split(y, y, found["questions"]):
        crossed[test] = _probabilities(fit_on(train), [features[i] for i in test])
    whole = fit_on(np.arange(len(y)))
    cross_validated = {name: figures(crossed[group == name], y[group == name]) for name in held_out}
    fitted = {
        name: figures(_probabilities(whole, [features[i] for i in np.flatnonzero(group == name)]), y[group == name]) for name in held_out
    }
    provenance = {
        "sets": dict(Counter(groups)),
        "licences": LICENCES,
        "date": date.today().isoformat(),
        "seed": SEED,
        "program": "training/fit_scores.py",
        "fitted": fitted,
        "cross_validated": cross_validated,
        "this_group_left_out": held_out,
        "strength": C,
        "question_hashes": sorted(set(found["questions"])),
    }
    _write(DATA / "answerability.json", replace(whole, provenance=provenance).to_json())
    sys.stdout.write(json.dumps({"cross-validated": cross_validated, "left out": held_out}, indent=1) + "\n")
    if extract:
        fit_extract(found, {key: provenance[key] for key in ("licences", "date", "seed", "program")})


def _fit(
    identity: Identity, rows: list[int], measured: list[dict[str, float]], labels: list[bool], groups: list[str], **how: Any
) -> Calibration:
    weights = balanced_weights([groups[i] for i in rows])
    return fit(identity, [measured[i] for i in rows], [labels[i] for i in rows], {}, weights=weights, **how)


def fit_extract(found: dict[str, list[Any]], about: dict[str, Any]) -> None:
    """Fit how well a sentence bears on its question. The score reads it: fit that again afterwards."""
    units = [unit for _, rows in found["units"] for unit in rows]
    x, holds_answer = np.array([u[0] for u in units]), np.array([u[1] for u in units])
    regression = LogisticRegression(C=EXTRACT_C, max_iter=5000).fit(x, holds_answer)
    weights = {"intercept": float(regression.intercept_[0]), **dict(zip(FEATURES, map(float, regression.coef_[0]), strict=True))}
    auroc = round(float(roc_auc_score(holds_answer, regression.predict_proba(x)[:, 1])), 4)
    _write(DATA / "extract.json", {"weights": weights, "provenance": {"units": len(units), "auroc": auroc, **about}})


def _probabilities(calibration: Calibration, rows: list[dict[str, float]]) -> np.ndarray:
    return np.array([calibration.probability(row) for row in rows])


def _write(path: Path, body: dict[str, Any]) -> None:
    path.write_text(json.dumps(body, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    given = [argument for argument in sys.argv[1:] if argument != "--extract"]
    main(Path(given[0]), Path(given[1]) if len(given) > 1 else None, extract="--extract" in sys.argv)
