"""Fit what tells that a text beside a sentence takes that back, limits or frames it: data/models/undoing.safetensors.

    python -m training.reader.undoing [--out FILE]

It learns from `training/reader/places.jsonl`: two places that differ in one sentence or heading, of which one no longer
answers; what stands beside other sentences that answer does no harm. And from the wordings of
`training/reader/undoing.json`. Says how many of the pairs of places left out it tells from the other.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from safetensors.numpy import save_file
from sklearn.linear_model import LogisticRegression

from rag_core.adapters.embedding.embedded import EmbeddedModel
from rag_core.adapters.embedding.undoing import SIDES, UNDOING_FILE
from rag_core.domain.ports import Side
from training.files import Row, rows
from training.reader.places import CELL, FILE, PATH

WORDINGS = Path(__file__).with_suffix(".json")
NEXT, APART = 3, 3  # places behind one that may differ from it in one sentence alone, and sentences between; chosen
USUAL = 0.3  # what stands beside any sentence counts so much beside an example of a pair; chosen
C = 1.0  # inverse of the penalty; of 1, 4 and 16 the best on attacks of another hand


class Example(NamedTuple):
    """A text beside a sentence that answers, and whether it takes that back; `pair` is 0 without a twin."""

    side: Side
    text: str
    undoes: bool
    weight: float
    pair: int = 0


def _differing(one: Row, other: Row, sentence: str) -> Iterator[tuple[Side, str]]:
    """Texts beside the sentence in one place and not in the other; a heading only where all else is the same."""
    units, at = one["units"], one["units"].index(sentence)
    found = [n for n, unit in enumerate(units) if unit not in other["units"] and abs(n - at) <= APART]
    yield from (("before" if n < at else "after", units[n]) for n in found)
    if set(units) == set(other["units"]):
        yield from (("heading", part) for part in one["place"].split(PATH) if part not in other["place"].split(PATH))


def of_pairs(places: list[Row]) -> Iterator[Example]:
    """The differences of two places that are nearly the same, where a sentence answers in one of them alone."""
    number = 0
    for (n, one), further in product(enumerate(places), range(1, NEXT + 1)):
        other = places[n + further] if n + further < len(places) else one
        alike = one["lang"] == other["lang"] and set(one["units"]) & set(other["units"])
        answered = {asked["q"]: asked["gold"] for asked in other["asked"]} if alike else {}
        for asked in one["asked"]:
            gold = answered.get(asked["q"], asked["gold"])
            if bool(gold) == bool(asked["gold"]):
                continue
            good, bad, (at, *more) = (one, other, asked["gold"]) if asked["gold"] else (other, one, gold)
            sentence = good["units"][at]
            if more or sentence not in bad["units"]:
                continue
            number += 1
            yield from (Example(side, text, True, 1.0, number) for side, text in _differing(bad, good, sentence))
            yield from (Example(side, text, False, 1.0, number) for side, text in _differing(good, bad, sentence))


def of_others(places: list[Row]) -> Iterator[Example]:
    """Texts beside sentences that answer, and the wordings."""
    for place in places:
        for at in [one["gold"][0] for one in place["asked"] if len(one["gold"]) == 1 and one["answer"]]:
            yield Example("heading", place["place"].split(PATH)[-1], False, USUAL)
            sides: tuple[tuple[Side, int], ...] = (("before", at - 1), ("after", at + 1))
            for side, n in sides:
                if 0 <= n < len(place["units"]) and CELL not in place["units"][n]:
                    yield Example(side, place["units"][n], False, USUAL)
    for wordings in json.loads(WORDINGS.read_text(encoding="utf-8")).values():
        for side in SIDES:
            yield from (Example(side, text, True, 1.0) for text in wordings[side])
            yield from (Example(side, text, False, 1.0) for text in wordings[f"harmless_{side}"])


def fitted(some: list[Example], vectors: dict[str, np.ndarray]) -> tuple[np.ndarray, float]:
    """The weights of the vector and the intercept: the log odds that a text undoes."""
    model = LogisticRegression(C=C, max_iter=300, solver="liblinear").fit(
        np.stack([vectors[one.text] for one in some]),
        [one.undoes for one in some],
        sample_weight=[one.weight for one in some],
    )
    return model.coef_[0].astype(np.float32), float(model.intercept_[0])


def main() -> None:
    """Read the arguments, fit, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=UNDOING_FILE)
    given = parser.parse_args()
    places = rows(FILE)
    undoing = {(one.side, one.text): one for one in of_pairs(places) if one.undoes}
    every = {(one.side, one.text): one for one in (*of_others(places), *of_pairs(places))} | undoing
    texts = sorted({text for _, text in every}, key=len)
    embedder, size = EmbeddedModel(), 512
    found = [embedder.embed(texts[n : n + size]) for n in range(0, len(texts), size)]
    vectors = dict(zip(texts, np.concatenate(found), strict=True))
    weights: dict[str, np.ndarray] = {}
    for side in SIDES:
        some = [one for one in every.values() if one.side == side]
        seen, held = [one for one in some if one.pair % 5 or not one.pair], [one for one in some if one.pair % 5 == 0]
        line, intercept = fitted(seen, vectors)
        odds = {
            mark: [vectors[one.text] @ line + intercept for one in held if one.pair and one.undoes is mark]
            for mark in (True, False)
        }
        told = float(np.mean([a > b for a, b in product(odds[True], odds[False])]))
        line, intercept = fitted(some, vectors)
        weights[side] = np.append(line, np.float32(intercept))
        sys.stderr.write(f"{side}: {sum(one.undoes for one in some)} of {len(some)} undo, {told:.2f} of pairs told\n")
    save_file(weights, given.out)


if __name__ == "__main__":
    main()
