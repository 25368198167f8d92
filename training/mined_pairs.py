"""Labelled pairs of a question with what the product itself reads for it, for the answerability model. Not part of the product.

    python -m training.mined_pairs OUT.jsonl SET [SET ...] [--most N]

SET is a folder of PDFs, questions and gold, as `training.table_reports` makes them, or a file of rows of `question`, `context` and
`answers`, whose contexts become one library. Each question is measured, and what the model was asked about is kept: sentences and rows as
a page holds them, with their headings, and whole passages. One that holds an answer is a yes. So the no's are those that the product would
have shown.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from rag_core.compression.selection import MARK
from rag_core.domain.documents import Metadata
from rag_core.domain.ports import AnswerabilityModel
from rag_core.evaluation.labelled import holds_answer
from rag_core.library.stored.sources import Source, text_source
from rag_core.settings import Settings
from rag_core.wiring import open_engine
from training.answer_pairs import Pair
from training.files import SEED, asking, rows, split_of

HELD = 0.03  # share of the questions that are held out
SENTENCES, PASSAGES = (2, 4), (1, 1)  # pairs of a question at most, labelled yes and labelled no
UNANSWERED = 2  # sentences labelled no of a question of which nothing that was read holds an answer
MAX_CHARS = 350  # in a text without a mark that counts as a sentence; a longer one is a passage


@dataclass(frozen=True)
class Asked:
    """A question with the documents to ask (None for all), its answers, its language, and the set it is from."""

    question: str
    documents: tuple[str, ...] | None
    answers: tuple[str, ...]
    language: str
    source: str


class Listening:
    """An answerability model that keeps the texts it was asked about."""

    def __init__(self, model: AnswerabilityModel) -> None:
        self.model, self.languages, self.version, self.texts = model, model.languages, model.version, list[str]()

    def answers(self, question: str, passages: Sequence[str]) -> list[float]:
        """As the model says."""
        self.texts += [text for text in passages if text not in self.texts]
        return self.model.answers(question, passages)


def of_set(place: Path) -> tuple[list[Source], list[Asked]]:
    """The documents and the questions of a set."""
    if place.is_dir():
        gold = {row["id"]: row for row in rows(place / "gold.jsonl")}
        asked = [
            Asked(
                row["question"], tuple(row["documents"]),
                tuple(gold[row["id"]]["answers"]) if gold[row["id"]]["answerable"] else (), row["lang"], place.name,
            )
            for row in rows(place / "questions.jsonl")
        ]  # fmt: skip
        return [Source.from_path(path) for path in sorted((place / "pdfs").iterdir())], asked
    found = rows(place)
    texts = {row["context"]: row for row in found}
    sources = [
        text_source(f"c{at}", text, id=f"c{at}", language=row["lang"], metadata=Metadata(title=row["title"].replace("_", " ")))
        for at, (text, row) in enumerate(texts.items())
    ]
    return sources, [Asked(row["question"], None, tuple(row["answers"]), row["lang"], row["source"]) for row in found]


def pairs(asked: Asked, texts: Sequence[str], draw: random.Random) -> Iterator[Pair]:
    """The pairs of one question, from the texts that were read for it."""
    question, split = asking(asked.question), split_of(asked.question, HELD)
    sentences = [text for text in texts if f" {MARK} " in text or len(text) < MAX_CHARS]
    for kind, group, (most_yes, most_no) in (
        ("sentence", sentences, SENTENCES), ("passage", [text for text in texts if text not in sentences], PASSAGES),
    ):  # fmt: skip
        yes = [text for text in group if asked.answers and holds_answer(text.split(f" {MARK} ")[0], asked.answers)]
        no = [text for text in group if text not in yes]
        least = most_no if yes or kind == "passage" else UNANSWERED
        for label, of, most in ((True, yes, most_yes), (False, no, least)):
            for text in draw.sample(of, min(most, len(of))):
                yield Pair(question, text, kind, label, f"mined-{asked.source}", asked.language, split)


def mined(place: Path, most: int, draw: random.Random) -> Iterator[Pair]:
    """The pairs of a set, of so many of its questions at most."""
    sources, every = of_set(place)
    settings = Settings.load()
    with tempfile.TemporaryDirectory() as folder:
        engine = open_engine(Path(folder), "mined", settings)
        engine.library.add(sources, settings)
        assert engine.tools.answerability_model is not None
        listening = Listening(engine.tools.answerability_model)
        engine.tools = replace(engine.tools, answerability_model=listening)
        for asked in draw.sample(every, min(most, len(every))):
            listening.texts.clear()
            engine.measure(asked.question, settings, documents=asked.documents)
            yield from pairs(asked, listening.texts, draw)


def main() -> None:
    """Write all pairs, one JSON object a line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("sets", type=Path, nargs="+")
    parser.add_argument("--most", type=int, default=1300, help="questions of one set")
    given = parser.parse_args()
    draw = random.Random(SEED)
    with given.out.open("w", encoding="utf-8") as out:
        for place in given.sets:
            sys.stderr.write(f"reading {place.name}\n")
            out.writelines(json.dumps(asdict(pair), ensure_ascii=False) + "\n" for pair in mined(place, given.most, draw))


if __name__ == "__main__":
    main()
