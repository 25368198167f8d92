"""Fit what tells small talk and questions about the documents as such from questions about what they say, and write
data/models/intents.safetensors.

    python -m training.intents QUESTIONS.jsonl … [--out FILE]

`training/intents.jsonl` has our own examples: `intent`, `lang`, `questions`. The files have questions about contents,
with `lang` and `question`: they and their keywords alone count as no such intent. Says how many examples of a language
are found by a fit that has seen none of it.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from sklearn.linear_model import LogisticRegression

from rag_core.adapters.embedding.embedded import EmbeddedModel
from rag_core.adapters.embedding.intents import INTENTS, INTENTS_FILE, LEAST, likeliest
from rag_core.domain.ports import Vectors
from rag_core.language import keywords
from training.files import SEED, rows

OWN = Path(__file__).with_suffix(".jsonl")
# questions of a language that are read, and those of which only a few keywords are; less than all: each is embedded
MOST, BARE = 600, 300
WEIGHT = 0.3  # a question of the files counts so much beside an example of ours; chosen
C = 100.0  # inverse of the penalty; of 10, 100 and 1,000 the best on languages left out


def contents(files: Sequence[Path], draw: random.Random) -> list[tuple[str, str]]:
    """Questions about contents with their language, some as keywords alone."""
    by_language = defaultdict[str, set[str]](set)
    for file in files:
        for row in rows(file):
            by_language[row["lang"]].add(row["question"])
    found = []
    for language, questions in sorted(by_language.items()):
        drawn = draw.sample(sorted(questions), min(MOST + BARE, len(questions)))
        for number, question in enumerate(drawn):
            bare = list(keywords(question, language))[: draw.randint(1, 3)] if number < BARE else []
            found.append((language, " ".join(bare) or question))
    return found


def fitted(vectors: Vectors, labels: Vectors, weights: Vectors) -> tuple[Vectors, Vectors]:
    """The weights (intents, dim) and intercepts (intents,) of a multinomial regression."""
    model = LogisticRegression(C=C, max_iter=1000).fit(vectors, labels, sample_weight=weights)
    # in rows: safetensors writes the memory as it lies
    return np.ascontiguousarray(model.coef_, np.float32), model.intercept_.astype(np.float32)


def main() -> None:
    """Read the arguments, fit, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, default=INTENTS_FILE)
    given = parser.parse_args()
    own = [(row["intent"], row["lang"], text) for row in rows(OWN) for text in row["questions"]]
    others = contents(given.files, random.Random(SEED))
    texts = [*(text for *_, text in own), *(text for _, text in others)]
    vectors = EmbeddedModel().embed(texts, "query")
    labels = np.array([*(INTENTS.index(kind) for kind, *_ in own), *[0] * len(others)])
    weights = np.array([*[1.0] * len(own), *[WEIGHT] * len(others)])
    languages = np.array([*(language for _, language, _ in own), *(language for language, _ in others)])
    for language in sorted({language for _, language, _ in own}):
        held = languages == language
        seen = fitted(vectors[~held], labels[~held], weights[~held])
        found = np.array([INTENTS.index(likeliest(vector, *seen)) for vector in vectors[held]])
        right = found == labels[held]
        social = labels[held] > 0
        sys.stderr.write(
            f"{language}: {right[social].mean():.2f} of {social.sum()} found, "
            f"{(~right[~social]).sum()} of {(~social).sum()} taken for one\n"
        )
    coefficients, intercepts = fitted(vectors, labels, weights)
    save_file({"weights": coefficients, "intercepts": intercepts}, given.out)
    sys.stderr.write(f"{len(own)} examples, {len(others)} questions, least probability {LEAST}\n")


if __name__ == "__main__":
    main()
