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
    """English questions asked of many hundred passages at once.

    Answered: their passage is there. Not answered: their passage is held out while others of the same article are there, or, for the
    privacy policies and the papers, no passage of that set is there at all.
    """
    labelled = [row for row in rows(data / "answerability.jsonl") if row["lang"] == "en" and row["answerable"]]
    by_source = {name: [r for r in labelled if r["source"].startswith(name)] for name in ("squad2", "policyqa", "qasper")}
    draw = random.Random(SEED)
    contexts = sorted({row["context"] for row in by_source["squad2"]})
    draw.shuffle(contexts)
    out = set(contexts[: len(contexts) // 2])
    squad_in = [row for row in by_source["squad2"] if row["context"] not in out]
    squad_out = [row for row in by_source["squad2"] if row["context"] in out]

    def asked(candidates: list[dict], count: int) -> list[dict]:
        return draw.sample(candidates, min(count, len(candidates)))

    everything = sorted({row["context"] for row in labelled} - out)
    full = [
        (row, True) for source, n in ((squad_in, 250), (by_source["policyqa"], 75), (by_source["qasper"], 75)) for row in asked(source, n)
    ]
    full += [(row, False) for row in asked(squad_out, 250)]
    yield from _ask_all(everything, full, settings)
    lacking = sorted(set(contexts))
    topics = [(row, False) for name in ("policyqa", "qasper") for row in asked(by_source[name], 75)]
    yield from _ask_all(lacking, topics + [(row, True) for row in asked(by_source["squad2"], 100)], settings)


def _ask_all(contexts: list[str], questions: list[tuple[dict, bool]], settings: Settings) -> Iterator[Measured]:
    with tempfile.TemporaryDirectory() as place:
        engine = build_engine(Path(place), "fit", settings)
        engine.library.add([_text({"id": f"c{i}", "text": text, "lang": "en"}) for i, text in enumerate(contexts)], settings)
        for row, answerable in questions:
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
