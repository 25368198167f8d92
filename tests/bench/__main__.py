"""Figures of speed on this machine: `make bench`.

Exits non-zero when a figure is past twice its target. Machines are shared and noisy: medians are printed, and ingest is
given as a ratio to plain PyMuPDF plus sentence-transformers with its defaults on the same text in the same run, and to
LangChain and LlamaIndex by turns. PDFs and folders of them may be named: `python -m tests.bench PDF...`. What cannot be
measured is said, with how to get it.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rag_core.decision.decide import replay
from rag_core.engine import Engine
from rag_core.library.stored.sources import Source
from rag_core.settings import Settings
from rag_core.wiring import embedder, open_engine
from tests.bench import model as language_model
from tests.bench import page
from tests.bench import replay as replay_set
from tests.bench.peers import __main__ as peers
from tests.bench.published import embedded_folder

SAMPLES = Path(__file__).resolve().parents[2] / "data" / "samples"
QUESTIONS = (
    "How many days of vacation does an employee have?",
    "What is the common difference of an arithmetic progression?",
    "What is the maximum operating temperature?",
    "How is the device reset?",
    "What is the notice period?",
    "Who won the football world cup in 1998?",
    "Jaká je doba plnění?",
    "Kdy lze smlouvu vypovědět?",
    "Wie beantrage ich einen API-Schlüssel?",
    "Wie oft wird eine Sicherung erstellt?",
)


def median_ms(run: Callable[[], object], times: int) -> float:
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        run()
        taken.append((time.perf_counter() - started) * 1000)
    return statistics.median(taken)


def questions(engine: Engine, settings: Settings) -> float:
    """Median milliseconds of a question without a model, after warm-up.

    Every question is new to the sentence cache of its engine.
    """
    for question in QUESTIONS[:2]:
        engine.ask(question, settings)
    taken = []
    for question in QUESTIONS:
        started = time.perf_counter()
        engine.ask(question, settings)
        taken.append((time.perf_counter() - started) * 1000)
    return statistics.median(taken)


def replays(engine: Engine, settings: Settings) -> float:
    """Median milliseconds of deciding again under another threshold."""
    records = [engine.measure(question, settings) for question in QUESTIONS]
    other = settings.changed(min_correctness=0.9, min_grounded=0.9)
    return statistics.median(
        median_ms(lambda measurements=measurements: replay(measurements, other), 20) for measurements in records
    )


def ingest_ratio(paths: list[Path], settings: Settings) -> tuple[float, float]:
    """Pages a second of ours, and our time over that of the plain way, in the same minute."""
    import pymupdf
    from sentence_transformers import SentenceTransformer

    with tempfile.TemporaryDirectory() as folder:
        engine = open_engine(Path(folder), "bench", settings)
        started = time.perf_counter()
        report = engine.library.add([Source.from_path(path) for path in paths], settings)
        ours = time.perf_counter() - started
        pages = sum(document.page_count for document in report.added)
        texts = [passage.text for passage in engine.library.snapshot.passages]
    plain = SentenceTransformer(str(embedded_folder()), device="cpu")
    plain.encode(texts[:2])
    started = time.perf_counter()
    for path in paths:
        for read in pymupdf.open(path):
            read.get_text()
    plain.encode(texts, show_progress_bar=False)
    return pages / ours, ours / (time.perf_counter() - started)


def main() -> int:
    """Print every figure with its target; 1 when one is past twice its target."""
    settings = Settings.load()
    named = peers.named(sys.argv[1:])
    paths = named or sorted(SAMPLES.glob("*.pdf"))
    started = time.perf_counter()
    model = embedder(settings.embedding_model, settings.embedding_precision)
    load = time.perf_counter() - started
    print(f"model {model.name} loaded in {load:.1f} s; {len(paths)} documents")
    with tempfile.TemporaryDirectory() as folder:
        engine = open_engine(Path(folder), "bench", settings)
        engine.library.add([Source.from_path(path) for path in paths], settings)
        figures = [
            ("question, median", questions(engine, settings), 100.0, "ms"),
            ("replay, median", replays(engine, settings), 5.0, "ms"),
        ]
        figures += replay_set.figures(replay_set.measured(engine, settings), settings)
        figures += language_model.figures(engine, settings)
        beside, missing = peers.measured(named, engine.library.snapshot.passages, settings)
    pages, ratio = ingest_ratio(paths, settings)
    figures.append(("ingest time / plain PyMuPDF + sentence-transformers", ratio, 1.0, "x"))
    figures += page.figures()
    late = peers.told([*figures, *beside], missing)
    print(f"ingest {pages:.1f} pages/s")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
