"""Fit the answerability score and the extract's relevance, and write them to `data/` with their provenance.

    python -m training.fit_scores PATH_TO_TRAINING_DATA UNITS.jsonl --most 60 --extract
    python -m training.fit_scores PATH_TO_TRAINING_DATA MEASURED.jsonl [--hold GROUP,GROUP]

The folder holds `answerability.jsonl` and sets of questions, each a folder of documents or PDFs, questions and gold. The scores read what
the extract's relevance chose: that is fitted first. Prints figures by group, each question judged by a fit that did not see it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold

from rag_core.compression.scoring import FEATURES, score_units
from rag_core.compression.scoring import UNREAD as UNREAD_ODDS
from rag_core.decision.checks.claims import longest_sentence
from rag_core.domain.measurements import Measurements
from rag_core.evaluation.calibration import holds_right_answer
from rag_core.evaluation.labelled import holds_answer
from rag_core.gating.answerability import reader
from rag_core.gating.asked import asked_for
from rag_core.gating.features import weigh
from rag_core.gating.fitting import fit
from rag_core.gating.scores import FILE, Calibration, Identity, is_narrow, question_hash
from rag_core.retrieval.query import core, expand
from rag_core.settings import DATA, Settings
from rag_core.wiring import answerability_model, embedder
from training.files import SEED, rows, write
from training.measured import Measured, measured

LICENCES = {
    "xquad-*, nearmiss-*, crossed-*, squad2-dev-half, squad2-dev-es": "CC BY-SA 4.0",
    "policyqa": "MIT",
    "qasper(uda)": "CC BY-SA 4.0",
    "long-reports (TAT-QA)": "CC BY 4.0",
    "pdf-fit, pdf-fit-all": "ten PDFs listed in data/README.md with their licences; the questions are our own",
}
EXTRACT_C = 1.0  # the regularisation's C as in scikit-learn: its default, for a few inputs and thousands of rows
CONTRADICTS = -3.0  # log odds that a contradiction takes away at least; chosen, the labelled questions hold next to none
# Of some fifty features those that did as well on questions left out of the fit as all of them, and C of the regularisation as in
# scikit-learn (docs/log/2026-11-28-ablation-of-features.md)
INPUTS = (
    "top_cosine", "mean_cosine", "cosine_gap", "top_lexical", "lexical_lead", "near_draft", "entities", "relevance", "answer_first",
    "unit_best", "unit_next", "draft_table",
)  # fmt: skip
AMONG_FEW = ("answer_first", "unit_best", "unit_next")
C, C_ACROSS = 0.05, 0.1  # C where words can be compared, and where not
# The weight of a group by the beginning of its name: half or so for documents that people bring, the rest for texts of Wikipedia and other
# sources in many languages; those that nobody reads are many, and each counts little. Chosen before anything was fitted.
WEIGHTS = {
    "pdf": 4.0, "long": 2.0, "short": 2.0, "nearmiss": 1.5, "xquad": 1.0, "large": 2.0, "read": 0.4, "unread": 0.2,
    "one passage, near": 0.3, "one passage, squad2-dev-half": 2.0, "one passage": 0.7,
}  # fmt: skip
NARROW_SHIFT = (
    -0.45
)  # added to the log odds among few passages: the readers have seen other passages of such articles; lets less through (docs/log)
# each has a fit of its own, by fit_rows or fit_reverse, since few labelled questions tell it; it stays as the file in force has it
OWN = ("fit_row", "fit_contradicts", "fit_result")
FOLDS = 6  # questions of equal text share one


def unit_rows(row: Measured) -> list[tuple[list[float], float | None, bool]]:
    """(features, log odds, holds the answer) of every unit of an answerable question's passages."""
    measurements, engine = row.measurements, row.engine
    corpus, tools, language = engine.library.snapshot, engine.tools, measurements.understanding.language
    spelled = expand(measurements.question)
    weights = weigh(core(spelled, language), language, corpus.lexical)
    scored = score_units(
        measurements.hits, weights, asked_for(measurements.question, language), corpus.page_text,
        titles=measurements.library.titles, read=reader(spelled, language, tools.answerability_model),
    )  # fmt: skip
    return [([s.features[name] for name in FEATURES], s.log_odds, holds_answer(s.unit.text, row.answers)) for s in scored]


def figures(probabilities: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """AUROC; false refusals at 5 % wrong answers; both error rates at 0.5."""
    no = np.sort(probabilities[~labels])[::-1]
    cut = no[int(0.05 * len(no))]
    return {
        "n": len(labels),
        "share": round(float(labels.mean()), 3),
        "auroc": round(float(roc_auc_score(labels, probabilities)), 4),
        "false_refusals_at_5pct_wrong": round(float((probabilities[labels] <= cut).mean()), 4),
        "false_refusals_at_half": round(float((probabilities[labels] < 0.5).mean()), 4),
        "wrong_answers_at_half": round(float((probabilities[~labels] >= 0.5).mean()), 4),
    }


def balanced_weights(groups: list[str]) -> list[float]:
    """Groups of a kind count the same, however many questions they have; kinds count as `WEIGHTS` says. Together as many as there are."""
    count = Counter(groups)
    weights = [next((value for name, value in WEIGHTS.items() if group.startswith(name)), 1.0) / count[group] for group in groups]
    return [weight * len(groups) / sum(weights) for weight in weights]


def collect(data: Path, most: int, units: bool) -> Iterator[dict[str, Any]]:
    """One row a question: its features, labels and group, and with `units` those of its units where it is answerable.

    A draft with a sentence too long to be read is left out: it is not shown however sure the score is.
    """
    for row in measured(data, most):
        if row.measurements.hits and not _is_long(row.measurements):
            right = row.answerable and holds_right_answer(row.measurements, row.answers)
            yield {
                "signals": dict(row.measurements.features), "answerable": row.answerable, "right": right, "group": row.group,
                "language": row.measurements.understanding.language,
                "question": question_hash(row.measurements.question),
                "units": unit_rows(row) if units and row.answerable and not row.group.startswith("unread ") else [],
            }  # fmt: skip


def _is_long(measurements: Measurements) -> bool:
    return (longest_sentence(measurements) or 0) > measurements.settings.max_sentence_words


def main() -> None:
    """Measure, or read what was measured before; fit, report, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("kept", type=Path, help="file of the measurements; read where it is there, written where it is not")
    parser.add_argument("--most", type=int, default=400, help="questions of one set")
    parser.add_argument("--extract", action="store_true", help="fit the relevance of sentences, and nothing else")
    parser.add_argument("--hold", default="", help="groups that are measured and reported, and not fitted, parted by commas")
    given = parser.parse_args()
    if not given.kept.exists():
        with given.kept.open("w", encoding="utf-8") as out:
            for row in collect(given.data, given.most, given.extract):
                out.write(json.dumps(row) + "\n")
    found = rows(given.kept)
    about = {"licences": LICENCES, "date": date.today().isoformat(), "seed": SEED, "program": "training/fit_scores.py"}
    if given.extract:
        fit_extract(found, about)
    else:
        fit_both(found, given.hold.split(","), about)


def fit_both(found: list[dict[str, Any]], held: Sequence[str], about: dict[str, Any]) -> None:
    """Fit answerability and correctness, print what is to be expected of either, and write them."""
    settings = Settings.load()
    identity = Identity.of(embedder(settings.embedding_model, "auto"), answerability_model(settings))
    kept = [row for row in found if row["group"] not in held]
    tables, fitted = {}, {}
    for label in ("answerable", "right"):
        tables[label] = expected(identity, kept, label)
        fitted[label] = fit_on(identity, kept, label)
        for name in held:
            of = [row for row in found if row["group"] == name]
            if of:
                tables[label][f"{name} (held)"] = figures(probabilities(fitted[label], of), np.array([row[label] for row in of]))
    provenance = {
        "sets": dict(Counter(row["group"] for row in kept)), "expected": tables, "strength": [C, C_ACROSS],
        "question_hashes": sorted({row["question"] for row in kept}), **about,
    }  # fmt: skip
    write(DATA / "answerability.json", replace(fitted["answerable"], correctness=fitted["right"], provenance=provenance).to_json())
    sys.stdout.write("".join(f"{label} {name} {figure}\n" for label, table in tables.items() for name, figure in table.items()))


def expected(identity: Identity, found: list[dict[str, Any]], label: str) -> dict[str, dict[str, float]]:
    """Figures by group, each question judged by a fit without it: questions of equal text are left out together."""
    crossed = out_of_fold(found, lambda kept: fit_on(identity, kept, label))
    group, y = np.array([row["group"] for row in found]), np.array([row[label] for row in found])
    return {name: figures(crossed[group == name], y[group == name]) for name in dict.fromkeys(group.tolist())}


def fit_on(identity: Identity, found: Sequence[dict[str, Any]], label: str) -> Calibration:
    """The score for many passages, for those few that the answerability model reads all of, and across languages."""
    narrow = [row for row in found if is_narrow(row["signals"])]
    across = [row for row in found if row["signals"]["crossed"] and not is_narrow(row["signals"])]
    wide = [row for row in found if not row["signals"]["crossed"] and not is_narrow(row["signals"])]
    made = _fit(identity, wide, label, c=C, features=INPUTS)
    among_few = _fit(identity, narrow, label, features=AMONG_FEW)
    if label == "right":
        in_force = json.loads(FILE.read_text(encoding="utf-8"))["correctness"]
        made = _with_own(made, in_force)
        among_few = _with_own(replace(among_few, intercept=among_few.intercept + NARROW_SHIFT), in_force["narrow"])
    return replace(made, narrow=among_few, crossed=_fit(identity, across, label, c=C_ACROSS, features=INPUTS, least=20) if across else None)


def _with_own(fitted: Calibration, in_force: dict[str, Any]) -> Calibration:
    """With the features that have a fit of their own, weighed as they are in the score in force."""
    own = [name for name in OWN if name in in_force["signals"]]

    def of(field: str) -> tuple[float, ...]:
        return tuple(in_force[field][in_force["signals"].index(name)] for name in own)

    return replace(
        fitted, features=(*fitted.features, *own), mean=(*fitted.mean, *of("mean")), scale=(*fitted.scale, *of("scale")),
        coefficients=(*fitted.coefficients, *of("coefficients")),
    )  # fmt: skip


def _fit(identity: Identity, found: Sequence[dict[str, Any]], label: str, **how: Any) -> Calibration:
    weights = balanced_weights([row["group"] for row in found])
    return fit(identity, [row["signals"] for row in found], [row[label] for row in found], {}, weights=weights, **how)


def fit_extract(found: list[dict[str, Any]], about: dict[str, Any]) -> None:
    """Fit how well a sentence bears on its question, read and unread. The scores read it: fit them again afterwards."""
    units = [unit for row in found for unit in row["units"]]
    read = [unit for unit in units if unit[1] is not None and unit[1] > UNREAD_ODDS]
    weights, auroc = {}, {}
    for name, of, inputs in (("weights", units, FEATURES), ("read", read, (*FEATURES, "log_odds"))):
        x, y = np.array([[*unit[0], unit[1]][: len(inputs)] for unit in of]), np.array([unit[2] for unit in of])
        regression = LogisticRegression(C=EXTRACT_C, max_iter=5000).fit(x, y)
        weights[name] = {"intercept": float(regression.intercept_[0]), **dict(zip(inputs, map(float, regression.coef_[0]), strict=True))}
        weights[name]["fit_contradicts"] = min(CONTRADICTS, weights[name]["fit_contradicts"])
        auroc[name] = round(float(roc_auc_score(y, regression.predict_proba(x)[:, 1])), 4)
    write(DATA / "extract.json", {**weights, "provenance": {"units": len(units), "read": len(read), "auroc": auroc, **about}})
    sys.stdout.write(f"{auroc}\n")


def probabilities(calibration: Calibration, found: Sequence[dict[str, Any]]) -> np.ndarray:
    """The probabilities that a calibration gives, shape (n,)."""
    return np.array([calibration.probability(row["signals"]) for row in found])


def out_of_fold(found: Sequence[dict[str, Any]], make: Callable[[list[dict[str, Any]]], Calibration]) -> np.ndarray:
    """Each question's probability by a fit that did not see it, shape (n,): questions of equal text share a fold."""
    said = np.zeros(len(found))
    for train, test in GroupKFold(FOLDS).split(found, groups=[row["question"] for row in found]):
        said[test] = probabilities(make([found[i] for i in train]), [found[i] for i in test])
    return said


if __name__ == "__main__":
    main()
