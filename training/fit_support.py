"""Fit the logistic regression behind `judge` on labelled (context, answer) rows and write data/support.json.

    python training/fit_support.py GROUNDING.jsonl [ROWS_PER_SOURCE]

A row is {source, licence, lang, context, answer, supported}. Every source gives at most ROWS_PER_SOURCE rows (240), half of each label
where it has them, and each source and label weighs the same: premises of inference tests are many and short, real answers are
few. An answer's features are the means over its sentences, whose log odds are then the mean of the sentences' log odds.
"""

from __future__ import annotations

import datetime
import json
import random
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.preprocessing import StandardScaler

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rag_core.adapters.sentence_transformers import SentenceTransformerEmbedder
from rag_core.audit.verdicts import FEATURES, measure_answer
from rag_core.settings import DATA

ROWS_PER_SOURCE = 240
SEED = 20261120
PENALTY = 0.3  # C of the regression; not tuned


def sample(path: Path, per_source: int) -> list[dict[str, Any]]:
    """At most `per_source` rows of each source, both labels as equal as the source allows."""
    groups: dict[tuple[str, bool], list[dict[str, Any]]] = defaultdict(list)
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            groups[row["source"], row["supported"]].append(row)
    rng = random.Random(SEED)
    return [row for _, rows in sorted(groups.items()) for row in rng.sample(rows, min(per_source // 2, len(rows)))]


def features(rows: list[dict[str, Any]]) -> tuple[np.ndarray, list[int]]:
    """Mean features of each row's sentences, shape (rows, len(FEATURES)), and the rows that have any words."""
    embedder, found, kept = SentenceTransformerEmbedder(), [], []
    for index, row in enumerate(rows):
        measured = [one.values for one in measure_answer(row["answer"], row["context"], row["lang"], embedder) if one.evidence]
        if measured:
            found.append(np.mean(measured, axis=0))
            kept.append(index)
        if index % 100 == 99:
            sys.stderr.write(f"{index + 1} of {len(rows)} rows measured\n")
    return np.array(found), kept


def weights_of(rows: list[dict[str, Any]]) -> np.ndarray:
    """One total weight for each source and label."""
    counts = Counter((row["source"], row["supported"]) for row in rows)
    weights = np.array([1 / counts[row["source"], row["supported"]] for row in rows])
    return weights * len(rows) / weights.sum()


def left_out(x: np.ndarray, y: np.ndarray, rows: list[dict[str, Any]], penalty: float) -> dict[str, dict[str, float]]:
    """Each source judged by a model that did not see it."""
    sources, scores = np.array([row["source"] for row in rows]), {}
    for source in sorted(set(sources)):
        test = sources == source
        if len(set(y[test])) < 2:
            continue
        scaler = StandardScaler().fit(x[~test])
        model = LogisticRegression(C=penalty, max_iter=1000)
        model.fit(scaler.transform(x[~test]), y[~test], sample_weight=weights_of([r for r, t in zip(rows, test, strict=True) if not t]))
        said = model.predict_proba(scaler.transform(x[test]))[:, 1]
        scores[source] = {
            "rows": int(test.sum()),
            "auroc": round(float(roc_auc_score(y[test], said)), 3),
            "balanced_accuracy": round(float(balanced_accuracy_score(y[test], said >= 0.5)), 3),
        }
    return scores


def main(path: Path, per_source: int) -> None:
    """Fit, print what was measured, write the coefficients with their provenance."""
    rows = sample(path, per_source)
    x, kept = features(rows)
    rows = [rows[index] for index in kept]
    y = np.array([row["supported"] for row in rows])
    scaler = StandardScaler().fit(x)
    model = LogisticRegression(C=PENALTY, max_iter=1000).fit(scaler.transform(x), y, sample_weight=weights_of(rows))
    scores = left_out(x, y, rows, PENALTY)
    card = {
        "features": FEATURES,
        "mean": scaler.mean_.round(6).tolist(),
        "scale": scaler.scale_.round(6).tolist(),
        "coefficients": model.coef_[0].round(6).tolist(),
        "intercept": round(float(model.intercept_[0]), 6),
        "provenance": {
            "program": "training/fit_support.py",
            "date": datetime.date.today().isoformat(),
            "embedding_model": "all-MiniLM-L6-v2",
            "rows": len(rows),
            "seed": SEED,
            "penalty": PENALTY,
            "languages": sorted({row["lang"] for row in rows}),
            "sources": {
                source: {"licence": licence, "rows": count}
                for (source, licence), count in sorted(Counter((row["source"], row["licence"]) for row in rows).items())
            },
            "each_source_left_out": scores,
        },
    }
    (DATA / "support.json").write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    for line in (*scores.items(), *zip(FEATURES, card["coefficients"], strict=True)):
        sys.stdout.write(f"{line[0]}: {line[1]}\n")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) == 3 else ROWS_PER_SOURCE)
