"""Labelled (question, passage) pairs for the answerability model: those to train on, and those held out. Not part of the product.

    python -m training.answer_rows PATH_TO_TRAINING_DATA ROWS.jsonl [MORE.jsonl ...]

Passages are held out whole, with every question and every translation of theirs; passages of the articles of `xquad-*` are held out too,
since the score is calibrated on those. A question that has an answer is also paired with a passage of another place that is close to it by
meaning and by words and holds none of the given answers: the kind of passage that a retrieval brings.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from rag_core.adapters.embedding.embedded import EmbeddedModel
from training.files import SEED, Row, rows

HELD = 0.2  # share of the passages that are held out
CANDIDATES = 25  # by meaning, of which the closest by words as well becomes the negative
TOO_EASY = ("policyqa",)  # its questions are templates: another passage answers them as often as not


@dataclass(frozen=True)
class Pair:
    """A question with a passage. `split` is train, held or calibration; `source` ends in "/near" for a negative of our own."""

    question: str
    passage: str
    answerable: bool
    answers: tuple[str, ...]
    source: str
    language: str
    split: str


def labelled(data: Path, more: Sequence[Path] = ()) -> list[Pair]:
    """The pairs as people labelled them; `more` are files of the same form, which are trained on only."""
    found = rows(data / "answerability.jsonl")
    origin = _origins(found)
    calibration = " ".join(row["text"] for row in rows(data / "xquad-en" / "documents.jsonl"))
    splits = _splits(found, origin, calibration)
    pairs = [_pair(row, splits[origin[row["context"]]]) for row in found]
    return pairs + [_pair(row, "train") for path in more for row in rows(path)]


def near_negatives(pairs: Sequence[Pair]) -> list[Pair]:
    """For each answerable question a close passage of the same source and split that does not hold its answer."""
    model, draw, found = EmbeddedModel(), random.Random(SEED), []
    for source in sorted({pair.source for pair in pairs} - set(TOO_EASY)):
        asked = [pair for pair in pairs if pair.source == source and pair.answerable and pair.answers]
        split = {pair.passage: pair.split for pair in pairs if pair.source == source}
        passages = sorted(split)
        if not asked or len(passages) < CANDIDATES:
            continue
        close = model.embed([pair.question for pair in asked]) @ model.embed([text[:1200] for text in passages]).T
        held = [_words(text) for text in passages]
        rarity = {word: np.log(len(passages) / n) for word, n in Counter(word for one in held for word in one).items()}
        for pair, cosines in zip(asked, close, strict=True):
            wanted = {word: rarity[word] for word in _words(pair.question) if word in rarity}
            total = sum(wanted.values()) or 1.0
            shares = {
                row: cosines[row] + 0.5 * sum(weight for word, weight in wanted.items() if word in held[row]) / total
                for row in np.argsort(-cosines)[:CANDIDATES]
            }
            other = [passages[row] for row in sorted(shares, key=lambda row: -shares[row])]
            fits = [text for text in other if split[text] == pair.split and text != pair.passage and not holds(text, pair.answers)]
            if fits:
                found.append(Pair(pair.question, draw.choice(fits[:4]), False, (), f"{source}/near", pair.language, pair.split))
    return found


def _origins(found: Iterable[Row]) -> dict[str, str]:
    """For each passage the English one it is a translation of, by the names and numbers they share; itself where it is none."""
    english = {row["context"] for row in found if row["source"] == "squad2-dev-half"}
    marks = [(text, _marks(text)) for text in sorted(english)]
    origin = {}
    for row in found:
        text = row["context"]
        if text not in origin:
            translated = row["source"].startswith("squad2-dev-") and text not in english
            mine = _marks(text) if translated else set()
            origin[text] = max(marks, key=lambda pair: len(mine & pair[1]) / max(1, len(mine | pair[1])))[0] if translated else text
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
            splits[text] = "calibration" if text[:80] in calibration else "held" if place < HELD * len(passages) else "train"
    return splits


def _pair(row: Row, split: str) -> Pair:
    return Pair(row["question"], row["context"], bool(row["answerable"]), tuple(row["answers"]), row["source"], row["lang"], split)


def _marks(text: str) -> set[str]:
    return set(re.findall(r"\d+|[A-Z][A-Za-z]{3,}", text))


def _words(text: str) -> set[str]:
    return {word.casefold() for word in re.findall(r"\w{4,}", text)}


def holds(text: str, answers: Iterable[str]) -> bool:
    """Whether one of the answers stands in the text, in any case."""
    return any(answer.casefold() in text.casefold() for answer in answers)


def main(data: Path, out: Path, more: Sequence[Path]) -> None:
    """Write all pairs, one JSON object a line."""
    pairs = labelled(data, more)
    pairs += near_negatives(pairs)
    out.write_text("".join(json.dumps(asdict(pair), ensure_ascii=False) + "\n" for pair in pairs), encoding="utf-8")
    for (source, split, answerable), n in sorted(Counter((p.source, p.split, p.answerable) for p in pairs).items()):
        sys.stdout.write(f"{source} {split} {'answerable' if answerable else 'unanswerable'}: {n}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), [Path(name) for name in sys.argv[3:]])
