"""Fit the answerability score and the extract's relevance, and write them to `data/` with their provenance.

    python -m training.fit_scores PATH_TO_TRAINING_DATA UNITS.jsonl --most 60 --extract
    python -m training.fit_scores PATH_TO_TRAINING_DATA MEASURED.jsonl [--hold GROUP,GROUP]

The folder holds `answerability.jsonl` and sets of questions, each a folder of documents or PDFs, questions and gold.
The scores read what the extract's relevance chose: that is fitted first. Prints figures by group, each question judged
by a fit that did not see it.
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
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold

from rag_core.compression.scoring import FEATURES, relevance, score_units
from rag_core.compression.scoring import UNREAD as UNREAD_ODDS
from rag_core.decision.checks.grounding import longest_sentence
from rag_core.domain.measurements import Measurements
from rag_core.evaluation.calibration import holds_right_answer
from rag_core.evaluation.labelled import holds_answer
from rag_core.gating.asked import asked_for
from rag_core.gating.features import nearness, reader
from rag_core.gating.scores import FILE, Calibration, Identity, fit, question_hash
from rag_core.retrieval.query import expand
from rag_core.settings import DATA, Settings
from rag_core.wiring import answerability_model, embedder
from training.files import SEED, rows, write
from training.measured import Measured, measured

LICENCES = {
    "nearmiss-*, crossed-*": "CC BY-SA 4.0",
    "nearmiss-en-reviews (SQuADShifts, Amazon)": "CC BY 4.0",
    "held-*, short-*": "held-out contexts of the sets of the reader, with their licences: data/models/README.md",
    "long-reports (TAT-QA)": "CC BY 4.0",
    "pdf-fit, pdf-fit-all": "ten PDFs listed in data/README.md with their licences; the questions are our own",
    "pdf-real, pdf-real-all": "real documents that the reader was not trained on, with their "
    "licences: data/models/README.md; the questions are our own",
}
EXTRACT_PENALTY = (
    1e-4  # times the sum of the squared weights, beside the mean loss of a question; the better of it and 1e-3
)
EXTRACT_OWN = ("fit_row",)  # chosen, since the labelled questions hold next to none; fitted by fit_rows
C = 0.1  # scikit-learn's, of the regularisation
SHIFT = 0.15  # added to the log odds of a right answer: people's documents are underrated without it; chosen
# The weight of a group by the beginning of its name. Documents that people bring count most, then written places
# ("own-") and held-out contexts ("held-", "short-"), which the reader was never trained on. Of the articles of
# `xquad-*`, `crossed-*`, `nearmiss-*` and `human-*` it read other paragraphs, and is too sure there
# (docs/decisions/05-what-the-scores-are-fitted-on.md).
ANOTHER = "another sentence"
WEIGHTS = {
    ANOTHER: 1.5,
    "held": 3.0,
    "short": 3.0,
    "pdf": 4.0,
    "nearmiss-en-reviews": 4.0,
    "long": 3.0,
    "nearmiss": 2.0,
    "crossed": 6.0,
    "xquad": 2.0,
    "human": 3.0,
    "own": 6.0,
}
# each has a fit of its own, by fit_rows, since few labelled questions tell it; it stays as the file in force has it
OWN = ("fit_row", "fit_result")
FOLDS = 6  # questions of equal text share one


UnitRow = tuple[list[float], float | None, bool]


def unit_rows(row: Measured) -> list[UnitRow]:
    """(features, log odds, holds the answer) of every unit of an answerable question's passages."""
    measurements, engine = row.measurements, row.engine
    corpus, tools, language = engine.library.snapshot, engine.tools, measurements.understanding.language
    spelled = expand(measurements.question)
    scored = score_units(
        measurements.hits,
        asked_for(measurements.question, language),
        corpus.page_text,
        titles=measurements.library.titles,
        near=nearness(spelled, tools.embedder),
        read=reader(spelled, tools.answerability_model),
    )
    return [
        ([s.features[name] for name in FEATURES], s.log_odds, holds_answer(s.unit.text, row.answers)) for s in scored
    ]


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
    """Groups of a kind count the same, however many questions they have; kinds count as `WEIGHTS` says.

    Together as many as there are.
    """
    count = Counter(groups)
    weights = [
        next((value for name, value in WEIGHTS.items() if group.startswith(name)), 1.0) / count[group]
        for group in groups
    ]
    return [weight * len(groups) / sum(weights) for weight in weights]


def collect(data: Path, most: int, units: bool) -> Iterator[dict[str, Any]]:
    """One row a question: its features, labels and group, and with `units` those of its units where it is answerable.

    A draft with a sentence too long to be read is left out: it is not shown however sure the score is.
    """
    for row in measured(data, most):
        if row.measurements.hits and not _is_long(row.measurements):
            of_units = unit_rows(row) if row.answerable else []
            one: dict[str, Any] = {
                "signals": dict(row.measurements.features),
                "answerable": row.answerable,
                "right": row.answerable and holds_right_answer(row.measurements, row.answers),
                "group": row.group,
                "language": row.measurements.understanding.language,
                "question": question_hash(row.measurements.question),
                "units": of_units if units and not row.group.startswith("unread ") else [],
            }
            yield one
            if other := of_another_sentence(one["signals"], of_units):
                yield {**one, **other, "units": []}


def of_another_sentence(features_of: dict[str, float], units: list[UnitRow]) -> dict[str, Any] | None:
    """A row's features, label and group where the likest sentence that was not drafted is its draft; None without one.

    An extract quotes the likest sentence, so that it says little of a model's draft that quotes another one.
    """
    read = [
        (dict(zip(FEATURES, features, strict=True)), odds, holds) for features, odds, holds in units if odds is not None
    ]
    read = sorted((one for one in read if one[1] > UNREAD_ODDS), key=lambda one: -relevance(*one[:2]))
    others = [one for one in read if one[1] != features_of["unit_best"]]
    if not others:
        return None
    features, odds, holds = others[0]
    changed = {
        "draft_cosine": features["near"],
        "unit_best": odds,
        "unit_next": max((one[1] for one in read if one is not others[0]), default=UNREAD_ODDS),
        "fit_row": features["fit_row"],
    }
    return {"signals": features_of | changed, "right": holds, "group": ANOTHER}


def _is_long(measurements: Measurements) -> bool:
    return (longest_sentence(measurements) or 0) > measurements.settings.max_sentence_words


def main() -> None:
    """Measure, or read what was measured before; fit, report, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument(
        "kept", type=Path, help="file of the measurements; read where it is there, written where it is not"
    )
    parser.add_argument("--most", type=int, default=400, help="questions of one set")
    parser.add_argument("--extract", action="store_true", help="fit the relevance of sentences, and nothing else")
    parser.add_argument(
        "--hold", default="", help="groups that are measured and reported, and not fitted, parted by commas"
    )
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
        of_label = [row for row in kept if label == "right" or row["group"] != ANOTHER]
        tables[label] = expected(identity, of_label, label)
        fitted[label] = fit_on(identity, of_label, label)
        for name in held:
            of = [row for row in found if row["group"] == name]
            if of:
                tables[label][f"{name} (held)"] = figures(
                    probabilities(fitted[label], of), np.array([row[label] for row in of])
                )
    provenance = {
        "sets": dict(Counter(row["group"] for row in kept)),
        "expected": tables,
        "strength": C,
        "question_hashes": sorted({row["question"] for row in kept}),
        **about,
    }
    write(
        DATA / "answerability.json",
        replace(fitted["answerable"], correctness=fitted["right"], provenance=provenance).to_json(),
    )
    sys.stdout.write(
        "".join(f"{label} {name} {figure}\n" for label, table in tables.items() for name, figure in table.items())
    )


def expected(identity: Identity, found: list[dict[str, Any]], label: str) -> dict[str, dict[str, float]]:
    """Figures by group, each question judged by a fit without it: questions of equal text are left out together."""
    crossed = out_of_fold(found, lambda kept: fit_on(identity, kept, label))
    group, y = np.array([row["group"] for row in found]), np.array([row[label] for row in found])
    return {name: figures(crossed[group == name], y[group == name]) for name in dict.fromkeys(group.tolist())}


def fit_on(identity: Identity, found: Sequence[dict[str, Any]], label: str) -> Calibration:
    """The score of a label: with what has a fit of its own, where it is that of right answers."""
    weights = balanced_weights([row["group"] for row in found])
    measured, labels = [row["signals"] for row in found], [row[label] for row in found]
    made = fit(identity, measured, labels, {}, weights=weights, c=C)
    if label != "right":
        return made
    shifted = replace(made, intercept=made.intercept + SHIFT)
    return _with_own(shifted, json.loads(FILE.read_text(encoding="utf-8"))["correctness"])


def _with_own(fitted: Calibration, in_force: dict[str, Any]) -> Calibration:
    """With the features that have a fit of their own, weighed as they are in the score in force."""
    own = [name for name in OWN if name in in_force["features"]]

    def of(field: str) -> tuple[float, ...]:
        return tuple(in_force[field][in_force["features"].index(name)] for name in own)

    return replace(
        fitted,
        features=(*fitted.features, *own),
        mean=(*fitted.mean, *of("mean")),
        scale=(*fitted.scale, *of("scale")),
        coefficients=(*fitted.coefficients, *of("coefficients")),
    )


def fit_extract(found: list[dict[str, Any]], about: dict[str, Any]) -> None:
    """Fit how well a sentence bears on its question, read and unread. The scores read it: fit them again afterwards.

    The weights are those that best choose, among the sentences of each question, one that holds the answer; scale and
    intercept make a probability of their sum. What has a fit of its own, by fit_rows, or was chosen stays as it is.
    """
    in_force = json.loads((DATA / "extract.json").read_text(encoding="utf-8"))
    free = [name for name in FEATURES if name not in EXTRACT_OWN]
    weights, auroc, count = {}, {}, {}
    for name, inputs in (("weights", free), ("read", [*free, "log_odds"])):
        own = {one: in_force[name][one] for one in EXTRACT_OWN}
        questions = [
            units
            for row in found
            if (units := _inputs(row["units"], inputs, own, read=name == "read")) and units[2].any()
        ]
        fitted = _choosing(questions)
        x = np.concatenate([one @ fitted for one, *_ in questions])
        plain = np.concatenate([offset == 0 for _, offset, _ in questions])
        y = np.concatenate([holds for *_, holds in questions])
        scale = LogisticRegression(C=np.inf).fit(x[plain, None], y[plain])
        of = dict(zip(inputs, map(float, fitted * scale.coef_[0, 0]), strict=True))
        weights[name] = {"intercept": float(scale.intercept_[0]), **of, **own}
        auroc[name], count[name] = round(float(roc_auc_score(y, x)), 4), len(y)
    kept = {"fit_row": in_force["provenance"]["fit_row"]}
    write(
        DATA / "extract.json",
        {**weights, "provenance": {"units": count, "questions": len(questions), "auroc": auroc, **kept, **about}},
    )
    sys.stdout.write(f"{weights}\n{auroc}\n")


def _inputs(
    units: list[Any], inputs: list[str], own: dict[str, float], *, read: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Of the units of one question: the inputs, (units, inputs); what is added to their score, and which hold the
    answer, (units,).
    """
    rows = [
        (dict(zip((*FEATURES, "log_odds"), (*features, odds), strict=True)), holds)
        for features, odds, holds in units
        if not read or (odds is not None and odds > UNREAD_ODDS)
    ]
    if not rows:
        return None
    offset = np.array([sum(own[name] * one[name] for name in own) for one, _ in rows])
    return np.array([[one[name] for name in inputs] for one, _ in rows]), offset, np.array([holds for _, holds in rows])


def _choosing(questions: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> np.ndarray:
    """The weights under which the softmax over each question's units gives most to those that hold its answer."""

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        total, slope = EXTRACT_PENALTY * float(weights @ weights), 2 * EXTRACT_PENALTY * weights
        for x, offset, holds in questions:
            z = x @ weights + offset
            share = np.exp(z - z.max())
            right = share[holds].sum()
            total -= float(np.log(right / share.sum())) / len(questions)
            slope = slope - x.T @ (share * holds / right - share / share.sum()) / len(questions)
        return total, slope

    return np.asarray(minimize(loss, np.zeros(questions[0][0].shape[1]), jac=True).x)


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
