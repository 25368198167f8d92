"""The labelled questions that the scores are fitted on, measured by the product's own line. Not part of the product.

Three kinds of search, so that one score serves all: a few documents (`xquad-*`, each question asked once with the
articles that answer it and once with others), a large library (contexts of `answerability.jsonl`, of which a part is
held out, so that their questions have no answer in it), and one passage (the same contexts, with the questions that
people wrote to be nearly answered).
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rag_core.domain.documents import Metadata
from rag_core.domain.measurements import Measurements
from rag_core.engine import Engine
from rag_core.evaluation.labelled import holds_answer
from rag_core.library.stored.sources import Source, text_source
from rag_core.settings import Settings
from rag_core.wiring import open_engine
from training.answer_rows import Pair, labelled
from training.files import SEED, Row, rows

PDFS = 7  # times as many are drawn of a folder of PDFs, which holds documents of many kinds
ONE_PASSAGE = 800  # questions of one source at most
NEAR = "one passage, near"


@dataclass(frozen=True)
class Measured:
    """One labelled question with everything measured for it.

    `group` is the folder, "large", or names the source of one passage.
    """

    measurements: Measurements
    engine: Engine
    answerable: bool
    answers: tuple[str, ...]
    group: str


def few_documents(folder: Path, settings: Settings, most: int) -> Iterator[Measured]:
    """The questions of one folder, each asked of the documents it names."""
    gold = {row["id"]: row for row in rows(folder / "gold.jsonl")}
    draw = random.Random(SEED)
    every = rows(folder / "questions.jsonl")
    asked = draw.sample(
        every, min(len(every), most if "pdfs" not in [path.name for path in folder.iterdir()] else PDFS * most)
    )
    with tempfile.TemporaryDirectory() as place:
        engine = open_engine(Path(place), "fit", settings)
        if (folder / "pdfs").exists():
            sources = [Source.from_path(path) for path in sorted((folder / "pdfs").iterdir())]
        else:
            sources = [_text(row) for row in rows(folder / "documents.jsonl")]
        engine.library.add(sources, settings)
        for question in asked:
            label = gold[question["id"]]
            answers = tuple(label["answers"])
            found = engine.measure(question["question"], settings, documents=question["documents"])
            yield Measured(found, engine, label["answerable"], answers, folder.name)


def large_library(data: Path, settings: Settings, most: int) -> Iterator[Measured]:
    """English questions asked of many hundred passages at once; only such whose passage the answerability model was not
    trained on.

    Answered: their passage is there. Not answered: their passage is held out while others of the same article are
        there, or, for the
    privacy policies and the papers, no passage of that set is there at all.
    """
    pairs = [pair for pair in labelled(data) if pair.language == "en" and pair.answerable]
    by_source = {name: [p for p in pairs if p.source.startswith(name)] for name in ("squad2", "policyqa", "qasper")}
    draw = random.Random(SEED)
    contexts = sorted({pair.passage for pair in by_source["squad2"]})
    draw.shuffle(contexts)
    out = set(contexts[: len(contexts) // 2])

    def asked(candidates: list[Pair], count: int) -> list[Pair]:
        unseen = [pair for pair in candidates if pair.split != "train"]
        return draw.sample(unseen, min(count, most, len(unseen)))

    squad_in = [pair for pair in by_source["squad2"] if pair.passage not in out]
    squad_out = [pair for pair in by_source["squad2"] if pair.passage in out]
    everything = sorted({pair.passage for pair in pairs} - out)
    full = [
        (pair, True)
        for source, n in ((squad_in, 250), (by_source["policyqa"], 75), (by_source["qasper"], 75))
        for pair in asked(source, n)
    ]
    full += [(pair, False) for pair in asked(squad_out, 250)]
    yield from _ask_all(everything, full, settings)
    topics = [(pair, False) for name in ("policyqa", "qasper") for pair in asked(by_source[name], 75)]
    yield from _ask_all(sorted(contexts), topics + [(pair, True) for pair in asked(by_source["squad2"], 100)], settings)


def one_passage(data: Path, settings: Settings, most: int) -> Iterator[Measured]:
    """Questions asked of one passage each, of passages that the answerability model was not trained on.

    Of the passage that people labelled them with; an answerable one also of the first passage that a search of all
    brings and that does not hold its answer, but for the privacy policies, whose questions are templates that many
    passages answer.
    """
    unseen = [pair for pair in labelled(data) if pair.split == "held" and pair.language in ("en", "es")]
    for source in sorted({pair.source for pair in unseen}):
        pairs = [pair for pair in unseen if pair.source == source]
        pairs = random.Random(SEED).sample(pairs, min(ONE_PASSAGE, most, len(pairs)))
        names = {text: f"c{i}" for i, text in enumerate(sorted({pair.passage for pair in pairs}))}
        texts = {name: text for text, name in names.items()}
        with _engine(((name, text, pairs[0].language) for text, name in names.items()), settings) as engine:
            for pair in pairs:
                own = names[pair.passage]
                measurements = engine.measure(pair.question, settings, documents=[own])
                yield Measured(measurements, engine, pair.answerable, pair.answers, f"one passage, {source}")
                if not pair.answerable or source == "policyqa":
                    continue
                everywhere = engine.measure(pair.question, settings)
                found = (everywhere.library.names[hit.passage.document] for hit in everywhere.hits)
                other = next(
                    (name for name in found if name != own and not holds_answer(texts[name], pair.answers)), None
                )
                if other is not None:
                    yield Measured(engine.measure(pair.question, settings, documents=[other]), engine, False, (), NEAR)
                    yield Measured(measurements, engine, True, pair.answers, NEAR)


@contextmanager
def _engine(texts: Iterable[tuple[str, str, str]], settings: Settings) -> Iterator[Engine]:
    """A library of (id, text, language) that is gone afterwards."""
    with tempfile.TemporaryDirectory() as place:
        engine = open_engine(Path(place), "fit", settings)
        engine.library.add(
            [_text({"id": id, "text": text, "lang": language}) for id, text, language in texts], settings
        )
        yield engine


def _ask_all(contexts: list[str], questions: list[tuple[Pair, bool]], settings: Settings) -> Iterator[Measured]:
    with _engine(((f"c{i}", text, "en") for i, text in enumerate(contexts)), settings) as engine:
        for pair, answerable in questions:
            measurements = engine.measure(pair.question, settings)
            yield Measured(measurements, engine, answerable, pair.answers if answerable else (), "large")


def measured(data: Path, most: int) -> Iterator[Measured]:
    """Every labelled question, measured under the default settings.

    Each folder of `data` with documents and gold is a set of few documents, or of PDFs. At most so many questions of a
    set are drawn.
    """
    settings = Settings.load()
    for folder in sorted(path.parent for path in data.glob("*/gold.jsonl")):
        sys.stderr.write(f"measuring {folder.name}\n")
        yield from few_documents(folder, settings, most)
    if (data / "answerability.jsonl").exists():
        sys.stderr.write("measuring the large library\n")
        yield from large_library(data, settings, most)
        sys.stderr.write("measuring one passage at a time\n")
        yield from one_passage(data, settings, most)


def _text(row: Row) -> Source:
    return text_source(
        row["id"], row["text"], id=row["id"], language=row["lang"], metadata=Metadata(title=row.get("title", ""))
    )
