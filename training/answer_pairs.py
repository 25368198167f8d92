"""Labelled pairs of a question with a sentence or a passage, for the answerability model. Not part of the product.

    python -m training.answer_pairs OUT.jsonl FILE.jsonl [FILE.jsonl ...] [--most N]

A file holds rows of `question`, `context` and `answers`, or of `question`, `units` and `gold`, the indexes of the units that answer. The
sentences of a context are cut by the product. One that holds an answer is a yes. A no is a sentence of the same context, or of another
context of the same article, that has many words of the question and no answer; of a question without an answer, the likest sentences.
Some questions are paired with their whole context too, and with another one. Contexts are held out whole.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rag_core.compression.selection import reading
from rag_core.evaluation.labelled import holds_answer
from rag_core.language import content_terms, sentences, terms
from training.files import SEED, asking, rows, split_of

HELD = 0.04  # share of the contexts that are held out
SAME, NEAR, EMPTY = 2, 1, 2  # pairs labelled no: of the same context, of the article; of the context of a question without an answer
LIKELY = 0.7  # share of the no's of the same context that are the likest ones; the others are drawn from all
PASSAGES = 0.25  # share of the questions that are paired with a whole context too
MAX_CHARS = 1400  # in a context that is read whole; longer ones would be cut by the model
MAX_UNITS = 60  # in a context that are looked at, those around the answer
TITLED = 0.6  # share of the pairs that are read with the title of their article
TEMPLATES = ("policyqa",)  # its questions are templates: another context answers them as often as not


@dataclass(frozen=True)
class Pair:
    """A question with a sentence as the model reads it, or a passage. `kind` is sentence or passage, `split` train or held."""

    question: str
    text: str
    kind: str
    answers: bool
    source: str
    language: str
    split: str


@dataclass(frozen=True)
class Unit:
    """A sentence with the one before it, and its index terms."""

    text: str
    before: str
    terms: frozenset[str]


def cut(context: str, language: str) -> list[Unit]:
    """The sentences of a context."""
    texts = [" ".join(context[start:end].split()) for start, end in sentences(context, language)]
    return of_texts(texts, language)


def of_texts(texts: Sequence[str], language: str) -> list[Unit]:
    """Units in reading order."""
    return [Unit(text, texts[at - 1] if at else "", frozenset(terms(text, language))) for at, text in enumerate(texts)]


def _whole(units: Sequence[Unit]) -> str:
    return " ".join(unit.text for unit in units)


class Source:
    """The rows of one file, with the sentences of all its contexts."""

    def __init__(self, found: list[dict[str, Any]]) -> None:
        self.rows = found
        self.units: dict[str, list[Unit]] = {}
        self.article: dict[str, list[str]] = defaultdict(list)
        for row in found:
            key = self.key(row)
            if key not in self.units:
                self.units[key] = of_texts(row["units"], row["lang"]) if "units" in row else cut(row["context"], row["lang"])
                self.article[self.place(row)].append(key)
        held = Counter(term for units in self.units.values() for unit in units for term in unit.terms)
        total = sum(map(len, self.units.values()))
        self.idf = {term: math.log(1 + total / n) for term, n in held.items()}

    @staticmethod
    def place(row: dict[str, Any]) -> str:
        """The article that a row's context is from; the whole source where that is not known."""
        return str(row.get("title") or f"{row['source']} {row['lang']}")

    @staticmethod
    def key(row: dict[str, Any]) -> str:
        """The context that a row is about."""
        return "\n".join(row["units"]) if "units" in row else str(row["context"])

    def pairs(self, draw: random.Random) -> Iterator[Pair]:
        """The pairs of every row."""
        for row in self.rows:
            key, language = self.key(row), row["lang"]
            units = self.units[key]
            asked = content_terms(row["question"], language) or terms(row["question"], language)
            weight = {term: self.idf.get(term, 0.0) for term in set(asked)}

            def similarity(unit: Unit, weight: dict[str, float] = weight) -> float:
                return sum(weight[term] for term in unit.terms & weight.keys())

            gold = row["gold"] if "gold" in row else [at for at, unit in enumerate(units) if holds_answer(unit.text, row["answers"])]
            answerable = bool(row["answerable"] if "answerable" in row else gold)
            if answerable and not gold:
                continue  # it stands across two sentences
            if len(units) > MAX_UNITS:
                around = max(0, min((gold or [draw.randrange(len(units))])[0] - MAX_UNITS // 2, len(units) - MAX_UNITS))
                gold = [at - around for at in gold if around <= at < around + MAX_UNITS]
                units = units[around : around + MAX_UNITS]
            split = split_of(key, HELD)
            title = str(row.get("title") or "").replace("_", " ")

            asks = asking(row["question"])
            elsewhere = [] if row["source"] in TEMPLATES else [other for other in self.article[self.place(row)] if other != key]
            if draw.random() < PASSAGES and len(key) <= MAX_CHARS:
                yield Pair(asks, _whole(units), "passage", answerable, row["source"], row["lang"], split)
                some = draw.sample(elsewhere, min(len(elsewhere), 6))
                fits = [other for other in some if len(other) <= MAX_CHARS and not holds_answer(other, row.get("answers", ()))]
                if answerable and fits:
                    best = max(fits, key=lambda other: max(map(similarity, self.units[other]), default=0.0))
                    yield Pair(asks, _whole(self.units[best]), "passage", False, row["source"], row["lang"], split)

            def made(
                unit: Unit, answers: bool, asks: str = asks, row: dict[str, Any] = row, title: str = title, split: str = split
            ) -> Pair:
                place = title if draw.random() < TITLED else ""
                text = reading(unit.text, place, unit.before)
                return Pair(asks, text, "sentence", answers, row["source"], row["lang"], split)

            others = sorted((unit for at, unit in enumerate(units) if at not in gold), key=similarity, reverse=True)
            if not answerable:
                yield from (made(unit, False) for unit in others[:EMPTY])
                continue
            yield made(max((units[at] for at in gold), key=similarity), True)
            likely = [unit for unit in others[:SAME] if draw.random() < LIKELY]
            rest = [unit for unit in others if unit not in likely]
            drawn = draw.sample(rest, min(len(rest), SAME - len(likely)))
            yield from (made(unit, False) for unit in likely + drawn)
            near = [unit for other in draw.sample(elsewhere, min(len(elsewhere), 6)) for unit in self.units[other]]
            near = [unit for unit in near if not holds_answer(unit.text, row.get("answers", ()))]
            near = sorted(near, key=similarity, reverse=True)[:3]
            yield from (made(unit, False) for unit in draw.sample(near, min(len(near), NEAR)))


def main() -> None:
    """Write all pairs, one JSON object a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--most", type=int, default=60_000, help="questions of one file")
    given = parser.parse_args()
    draw = random.Random(SEED)
    count: Counter[tuple[str, str, str, str, bool]] = Counter()
    with given.out.open("w", encoding="utf-8") as out:
        for path in given.files:
            found = rows(path)
            if len(found) > given.most:
                found = draw.sample(found, given.most)
            for pair in Source(found).pairs(draw):
                out.write(json.dumps(asdict(pair), ensure_ascii=False) + "\n")
                count[pair.source, pair.language, pair.kind, pair.split, pair.answers] += 1
    for (source, language, kind, split, answers), n in sorted(count.items()):
        sys.stdout.write(f"{source} {language} {kind} {split} {'yes' if answers else 'no'}: {n}\n")


if __name__ == "__main__":
    main()
