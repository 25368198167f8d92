"""Fit the three logistic regressions behind the support of a claim, and write data/support.json.

    python -m training.fit_support GROUNDING.jsonl APART.safetensors [ROWS_PER_SOURCE]

A row is {source, licence, lang, context, answer, supported}. Only contexts are used that the support model was not
trained on (`split_of`), and only sources of real answers and hard claims; each source and label weighs the same. How
far the model is to be trusted on texts of other kinds cannot be seen on the kinds that it was trained on: there it is
far better than elsewhere. So the weights are fitted on what a second model says, APART, which was trained on inference
and encyclopaedia sentences alone, and is as strange to these sources as the shipped one is to a user's documents; the
shipped model's log odds are then put on the same scale. A feature may only speak in its own direction: more common
words never lower the support. An answer's features are the means over its sentences.
"""

from __future__ import annotations

import datetime
import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from rag_core.adapters.embedding.embedded import EmbeddedModel
from rag_core.adapters.embedding.support import SupportModel
from rag_core.grounding.entailment import ANYWHERE, FEATURES, WORDS, Measured, measure
from rag_core.language import sentences
from rag_core.settings import DATA
from training.files import SEED, rows
from training.support_rows import split_of

ROWS_PER_SOURCE = 240  # so that no source outweighs another; chosen
SOURCES = ("begin", "faithdial", "q2", "summedits", "fool-me-twice")  # that APART has not seen
PENALTY = 0.02  # on the squares of the weights, beside the mean loss
AGAINST = frozenset({"number_absent", "name_absent", "number_far", "name_far", "changed", "indicator"})


def sample(path: Path, per_source: int) -> list[dict[str, Any]]:
    """At most `per_source` held-out rows of each source, both labels as equal as the source allows."""
    groups: dict[tuple[str, bool], list[dict[str, Any]]] = defaultdict(list)
    for row in rows(path):
        if row["source"].startswith(SOURCES) and split_of(row["context"]) == "held":
            groups[family(row), row["supported"]].append(row)
    draw = random.Random(SEED)
    return [row for _, some in sorted(groups.items()) for row in draw.sample(some, min(per_source // 2, len(some)))]


def family(row: dict[str, Any]) -> str:
    """The source without its parts: "begin" of "begin-test_wow"."""
    return str(next(name for name in SOURCES if row["source"].startswith(name)))


def measured(found: Sequence[dict[str, Any]], entailment_model: SupportModel) -> list[list[Measured]]:
    """For each row its sentences, measured; those without words left out."""
    embedder, all_of = EmbeddedModel(), []
    for number, row in enumerate(found, 1):
        texts = [row["answer"][start:end] for start, end in sentences(row["answer"], row["lang"])]
        ones = measure(texts, [row["context"]] * len(texts), row["lang"], embedder, entailment_model)
        all_of.append([one for one in ones if one.evidence])
        if number % 100 == 0:
            sys.stderr.write(f"{number} of {len(found)} rows measured\n")
    return all_of


def table(of: Sequence[list[Measured]], features: Sequence[str]) -> np.ndarray:
    """Mean features of each row's sentences, shape (rows, len(features))."""
    return np.asarray([np.mean([[one.value(name) for name in features] for one in ones], axis=0) for ones in of])


def weights_of(found: Sequence[dict[str, Any]]) -> np.ndarray:
    """One total weight for each source and label, together 1."""
    counts = Counter((family(row), row["supported"]) for row in found)
    weights = np.array([1 / counts[family(row), row["supported"]] for row in found])
    return np.asarray(weights / weights.sum())


def regression(x: np.ndarray, y: np.ndarray, weights: np.ndarray, features: Sequence[str]) -> np.ndarray:
    """Coefficients and intercept of a logistic regression whose coefficients keep their sign."""
    sign = np.where(y, 1.0, -1.0)

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        margin = sign * (x @ theta[:-1] + theta[-1])
        slope = -sign * weights / (1 + np.exp(margin))
        penalty = np.append(2 * PENALTY * theta[:-1], 0.0)
        return float(weights @ np.logaddexp(0, -margin) + PENALTY * theta[:-1] @ theta[:-1]), np.append(
            x.T @ slope, slope.sum()
        ) + penalty

    bounds = [(None, 0.0) if name in AGAINST else (None, None) if name == "words" else (0.0, None) for name in features]
    return np.asarray(
        minimize(loss, np.zeros(x.shape[1] + 1), jac=True, bounds=[*bounds, (None, None)], method="L-BFGS-B").x
    )


def omissions(x: np.ndarray, found: Sequence[dict[str, Any]], features: Sequence[str]) -> dict[str, dict[str, float]]:
    """Each source judged by a regression that did not see it."""
    y, names, scores = np.array([row["supported"] for row in found]), np.array([family(row) for row in found]), {}
    for name in sorted(set(names)):
        test = names == name
        if len(set(y[test])) < 2:
            continue
        rest = [row for row, one in zip(found, test, strict=True) if not one]
        theta = regression(x[~test], y[~test], weights_of(rest), features)
        said = x[test] @ theta[:-1] + theta[-1]
        scores[str(name)] = {
            "rows": int(test.sum()),
            "auroc": round(float(roc_auc_score(y[test], said)), 3),
            "balanced_accuracy": round(float(balanced_accuracy_score(y[test], said >= 0)), 3),
        }
    return scores


def fitted(
    apart: Sequence[list[Measured]],
    shipped: Sequence[list[Measured]],
    found: Sequence[dict[str, Any]],
    features: Sequence[str],
) -> dict[str, Any]:
    """One regression as `data/support.json` holds it: weights of what APART says, scale of what the shipped model
    says.
    """
    x, own = table(apart, features), table(shipped, features)
    scaled = (x - x.mean(axis=0)) / np.maximum(x.std(axis=0), 1e-6)
    theta = regression(scaled, np.array([row["supported"] for row in found]), weights_of(found), features)
    return {
        "features": list(features),
        "mean": own.mean(axis=0).round(6).tolist(),
        "scale": np.maximum(own.std(axis=0), 1e-6).round(6).tolist(),
        "coefficients": theta[:-1].round(6).tolist(),
        "intercept": round(float(theta[-1]), 6),
        "each_source_left_out": omissions(scaled, found, features),
    }


def main(path: Path, apart: Path, per_source: int) -> None:
    """Fit, print what was measured, write the coefficients with their provenance."""
    found, model = sample(path, per_source), SupportModel()
    shipped, strange = measured(found, model), measured(found, SupportModel(file=apart))
    kept = [at for at, ones in enumerate(shipped) if ones]
    found, shipped, strange = [found[at] for at in kept], [shipped[at] for at in kept], [strange[at] for at in kept]
    card = {
        "read": {**fitted(strange, shipped, found, FEATURES), "verifier": model.version},
        "words": fitted(strange, shipped, found, WORDS),
        "anywhere": fitted(strange, shipped, found, ANYWHERE),
        "provenance": {
            "program": "training/fit_support.py",
            "date": datetime.date.today().isoformat(),
            "embedding_model": "all-MiniLM-L6-v2",
            "rows": len(found),
            "seed": SEED,
            "penalty": PENALTY,
            "languages": sorted({row["lang"] for row in found}),
            "sources": {
                source: {"licence": licence, "rows": count}
                for (source, licence), count in sorted(
                    Counter((row["source"], row["licence"]) for row in found).items()
                )
            },
        },
    }
    (DATA / "support.json").write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    for name in ("read", "words", "anywhere"):
        one = card[name]
        for line in (*zip(one["features"], one["coefficients"], strict=True), *one["each_source_left_out"].items()):
            sys.stdout.write(f"{name} {line[0]}: {line[1]}\n")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) == 4 else ROWS_PER_SOURCE)
