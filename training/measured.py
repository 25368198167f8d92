"""The labelled questions that the scores are fitted on, measured by the product's own line. Not part of the product.

Two kinds of search, so that one score serves both: a few documents (`xquad-*`, each question asked once with the articles that answer
it and once with others), and a large library (contexts of `answerability.jsonl`, of which a part is held out, so that their questions
have no answer in it).
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rag_core.case import Case
from rag_core.engine import Engine
from rag_core.ingest.sources import text_source
from rag_core.settings import Settings
from rag_core.wiring import build_engine

LANGUAGES = ("en", "de", "es", "hi", "ru")
LARGE_QUESTIONS = 800
SEED = 7


@dataclass(frozen=True)
class Measured:
    """One labelled question with everything measured for it. `group` is the language, or "large"."""

    case: Case
    engine: Engine
    answerable: bool
    answers: tuple[str, ...]
    group: str


def rows(path: Path) -> list[dict]:
    """The objects of a JSON lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def few_documents(data: Path, language: str, settings: Settings) -> Iterator[Measured]:
    """The questions of one language, each asked of the documents it names."""
    folder = data / f"xquad-{language}"
    gold = {row["id"]: row for row in rows(folder / "gold.jsonl")}
    with tempfile.TemporaryDirectory() as place:
        engine = build_engine(Path(place), "fit", settings)
        engine.library.add([_text(row) for row in rows(folder / "documents.jsonl")], settings)
        for question in rows(folder / "questions.jsonl"):
            label = gold[question["id"]]
            case = engine.measure(question["question"], settings, documents=question["documents"])
            yield Measured(case, engine, label["answerable"], tuple(label["answers"]), language)


def large_library(data: Path, settings: Settings) -> Iterator[Measured]:
    """English questions asked of more than a thousand passages at once: half answered there, half whose passage is held out.

    Only questions written for one passage (SQuAD) are asked: a question of the privacy-policy set is answered by many passages. The
    other sets' passages, and the other passages of the same articles, are there to be confused with.
    """
    labelled = [row for row in rows(data / "answerability.jsonl") if row["lang"] == "en"]
    asked = [row for row in labelled if row["source"].startswith("squad2") and row["answerable"]]
    contexts = sorted({row["context"] for row in asked})
    draw = random.Random(SEED)
    draw.shuffle(contexts)
    out = set(contexts[: len(contexts) // 2])
    kept = sorted({row["context"] for row in labelled} - out)
    with tempfile.TemporaryDirectory() as place:
        engine = build_engine(Path(place), "fit", settings)
        engine.library.add([_text({"id": f"c{i}", "text": text, "lang": "en"}) for i, text in enumerate(kept)], settings)
        for answerable in (True, False):
            candidates = [row for row in asked if (row["context"] not in out) == answerable]
            for row in draw.sample(candidates, min(LARGE_QUESTIONS // 2, len(candidates))):
                case = engine.measure(row["question"], settings)
                yield Measured(case, engine, answerable, tuple(row["answers"]) if answerable else (), "large")


def measured(data: Path) -> Iterator[Measured]:
    """Every labelled question, measured under the default settings."""
    settings = Settings.load()
    for language in LANGUAGES:
        sys.stderr.write(f"measuring xquad-{language}\n")
        yield from few_documents(data, language, settings)
    sys.stderr.write("measuring the large library\n")
    yield from large_library(data, settings)


def _text(row: dict):
    from rag_core.domain import Metadata

    return text_source(row["id"], row["text"], id=row["id"], language=row["lang"], metadata=Metadata(title=row.get("title", "")))
