"""What a question costs beside the model's own time: a scripted model that thinks for a fixed time, over real HTTP,
against the extract.

The model answers with three claims in words of its own, fewer than their sources have, so that every audit works
(`rewording: audited`). Every question begins with an empty cache of sentences and of what the answerability model said,
with the model and without.
"""

from __future__ import annotations

import itertools
import json
import os
import statistics
import time
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import yaml

from rag_core.adapters.embedding import reader
from rag_core.adapters.embedding.cache import CachedEmbedder
from rag_core.adapters.embedding.recent import Recent
from rag_core.domain.decision import Decision
from rag_core.engine import Engine
from rag_core.settings import Settings
from rag_core.wiring import answerability_model, embedder
from tests.model_server import Asked, ModelServer, Slow

THINKS = 0.3  # seconds
CLAIMS = 3
WARM, MIN_COUNT = 3, 15  # questions before those that count, and how many the model must have answered
ROWS = Path(__file__).resolve().parents[1] / "adversarial" / "compressions.yaml"

Row = dict[str, Any]


def figures(engine: Engine, settings: Settings) -> list[tuple[str, float, float, str]]:
    """Median milliseconds that a model adds to a question beside its own, over a library with the samples; the plain
    total is printed.
    """
    own: dict[str, list[float]] = {}
    total = []
    with ModelServer() as server, patch.dict(os.environ, OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY="bench"):
        drafting = settings.changed(drafter="model", model="bench", fallback_extract=False, rewording="audited")
        for number, rows in enumerate(_asked()):
            server.play(lambda asked, rows=rows: Slow(_reply(asked, rows), THINKS))
            extract_ms, _ = _timed(engine, settings.changed(drafter="extract"), rows[0])
            model_ms, decision = _timed(engine, drafting, rows[0])
            if number >= WARM and decision.metadata["drafter"] == "model":
                total.append(model_ms)
                own.setdefault(rows[0]["language"], []).append(model_ms - 1000 * THINKS - extract_ms)
    if len(total) < MIN_COUNT:
        raise RuntimeError(f"{len(total)} drafts passed the audits: too few to say how long it takes")
    each = ", ".join(f"{language} {statistics.median(times):.1f}" for language, times in own.items())
    whole = statistics.median(total)
    print(
        f"{len(total)} questions with a model that thinks {1000 * THINKS:.0f} ms: {whole:.1f} ms in all; beside it "
        f"{each}"
    )
    beside = statistics.median(itertools.chain.from_iterable(own.values()))
    return [("a model's question beside the model's time, median", beside, 30.0, "ms")]


def _timed(engine: Engine, settings: Settings, row: Row) -> tuple[float, Decision]:
    fresh = CachedEmbedder(embedder(settings.embedding_model, settings.embedding_precision))
    asked = Engine(
        engine.library,
        replace(engine.tools, embedder=fresh, answerability_model=_forgetful(answerability_model(settings))),
    )
    started = time.perf_counter()
    decision = asked.ask(row["question"], settings, [row["document"]])
    return (time.perf_counter() - started) * 1000, decision


def _forgetful(model: Any) -> Any:
    """The answerability model without what it said before: the extract, which is asked first, would leave it to the
    model's question.
    """
    fresh = copy(model)
    fresh._recent = Recent(reader.REMEMBERED)
    return fresh


def _asked() -> list[list[Row]]:
    """Rows to ask about, spread over the languages; behind each the others of its document."""
    rows = yaml.safe_load(ROWS.read_text(encoding="utf-8"))
    return [
        [row, *(other for other in rows if other["document"] == row["document"] and other is not row)]
        for row in rows[:: len(rows) // 33]
    ]


def _reply(asked: Asked, rows: list[Row]) -> dict[str, Any]:
    """The claim of the first row, and of two others whose words were retrieved too."""
    passages = [json.loads(line) for line in asked.user.splitlines() if line.startswith("{") and '"text"' in line]
    claims = []
    for sentence, quote in (row["claims"][0] for row in rows):
        source = next((one["source"] for one in passages if quote in one["text"]), None)
        if source and len(claims) < CLAIMS:
            claims.append({"sentence": sentence, "evidence": [{"source": source, "quote": quote}]})
    return {"answerable": True, "reason": "", "claims": claims}
