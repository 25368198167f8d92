"""Labelled (question, passage) pairs with the split that each is in. Not part of the product.

Passages are held out whole, with every question and every translation of theirs; passages of the articles of `xquad-*`
are held out too, since the score is calibrated on those.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from training.files import SEED, Row, rows

HELD = 0.2  # share of the passages that are held out


@dataclass(frozen=True)
class Pair:
    """A question with a passage. `split` is train, held or calibration."""

    question: str
    passage: str
    answerable: bool
    answers: tuple[str, ...]
    source: str
    language: str
    split: str


def labelled(data: Path) -> list[Pair]:
    """The pairs as people labelled them."""
    found = rows(data / "answerability.jsonl")
    origin = _origins(found)
    calibration = " ".join(row["text"] for row in rows(data / "xquad-en" / "documents.jsonl"))
    splits = _splits(found, origin, calibration)
    return [_pair(row, splits[origin[row["context"]]]) for row in found]


def _origins(found: Iterable[Row]) -> dict[str, str]:
    """For each passage the English one it is a translation of, by the names and numbers they share; itself where it is
    none.
    """
    english = {row["context"] for row in found if row["source"] == "squad2-dev-half"}
    marks = [(text, _marks(text)) for text in sorted(english)]
    origin = {}
    for row in found:
        text = row["context"]
        if text not in origin:
            translated = row["source"].startswith("squad2-dev-") and text not in english
            mine = _marks(text) if translated else set()
            origin[text] = (
                max(marks, key=lambda pair: len(mine & pair[1]) / max(1, len(mine | pair[1])))[0]
                if translated
                else text
            )
    return origin


def _splits(found: Iterable[Row], origin: dict[str, str], calibration: str) -> dict[str, str]:
    by_kind: dict[str, set[str]] = defaultdict(set)
    for row in found:
        by_kind[row["source"].split("-")[0]].add(origin[row["context"]])
    draw, splits = random.Random(SEED), {}
    for kind in sorted(by_kind):
        passages = sorted(by_kind[kind])
        draw.shuffle(passages)
        for place, text in enumerate(passages):
            splits[text] = (
                "calibration" if text[:80] in calibration else "held" if place < HELD * len(passages) else "train"
            )
    return splits


def _pair(row: Row, split: str) -> Pair:
    return Pair(
        row["question"],
        row["context"],
        bool(row["answerable"]),
        tuple(row["answers"]),
        row["source"],
        row["lang"],
        split,
    )


def _marks(text: str) -> set[str]:
    return set(re.findall(r"\d+|[A-Z][A-Za-z]{3,}", text))
