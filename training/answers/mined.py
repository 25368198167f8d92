"""Labelled texts that the product itself reads for a question, for the answerability model. Not part of the product.

    python -m training.answers.mined OUT.jsonl SET [SET ...] [--most N]

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
from typing import Any

from rag_core.compression.selection import MARK
from rag_core.domain.documents import Metadata
from rag_core.domain.ports import AnswerabilityModel
from rag_core.evaluation.labelled import holds_answer
from rag_core.library.stored.sources import Source, text_source
from rag_core.settings import Settings
from rag_core.wiring import open_engine
from training.files import SEED, asking, rows, split_of

HELD = 0.03  # share of the questions that are held out
MAX_CHARS = 350  # in a text without a mark that counts as a sentence; a longer one is a passage


@dataclass(frozen=True)
class Question:
    """A question with the documents to ask (None for all), its answers, its language, and the set it is from."""

    question: str
    documents: tuple[str, ...] | None
    answers: tuple[str, ...]
    language: str
    source: str


@dataclass(frozen=True)
class Read:
    """A question with every text that was read for it: (text, sentence or passage, whether it answers). `source` names set and language."""

    question: str
    texts: tuple[tuple[str, str, bool], ...]
    source: str
    held: bool


class Listening:
    """An answerability model that keeps the texts it was asked about."""

    def __init__(self, model: AnswerabilityModel) -> None:
        self.model, self.languages, self.version, self.texts = model, model.languages, model.version, list[str]()

    def answers(self, question: str, passages: Sequence[str]) -> list[float]:
        """As the model says."""
        self.texts += [text for text in passages if text not in self.texts]
        return self.model.answers(question, passages)


def of_set(place: Path) -> tuple[list[Source], list[Question]]:
    """The documents and the questions of a set."""
    if place.is_dir():
        gold = {row["id"]: row for row in rows(place / "gold.jsonl")}
        asked = [
            Question(
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
    return sources, [Question(row["question"], None, tuple(row["answers"]), row["lang"], row["source"]) for row in found]


def labelled(asked: Question, texts: Sequence[str]) -> Read:
    """The texts that were read for one question, each text with whether it holds the answer."""
    found = []
    for text in texts:
        kind = "sentence" if f" {MARK} " in text or len(text) < MAX_CHARS else "passage"
        answers = bool(asked.answers) and holds_answer(text.split(f" {MARK} ")[0], asked.answers)
        found.append((text, kind, answers))
    held = split_of(asked.question, HELD) == "held"
    return Read(asking(asked.question), tuple(found), f"mined-{asked.source} {asked.language}", held)


def from_row(row: dict[str, Any]) -> Read:
    """As `main` wrote it."""
    return Read(row["question"], tuple((text, kind, answers) for text, kind, answers in row["texts"]), row["source"], row["held"])


def mined(place: Path, most: int, draw: random.Random) -> Iterator[Read]:
    """The texts that are read for the questions of a set, for so many of them at most."""
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
            yield labelled(asked, listening.texts)


def main() -> None:
    """Write the texts that were read, a question a line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("sets", type=Path, nargs="+")
    parser.add_argument("--most", type=int, default=1300, help="questions of one set")
    given = parser.parse_args()
    draw = random.Random(SEED)
    with given.out.open("w", encoding="utf-8") as out:
        for place in given.sets:
            sys.stderr.write(f"reading {place.name}\n")
            out.writelines(json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in mined(place, given.most, draw))


if __name__ == "__main__":
    main()
