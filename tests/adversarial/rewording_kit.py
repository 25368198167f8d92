"""Compressions in a model's own words under the preset `compliance`: which good ones are shown, and which bad ones.

The pairs stand in `compression_pairs.yaml`; a file of lies has the documents that they are about. Gates before the
draft only observe, so that what is measured are the checks of the draft.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from leaving_out_kit import quoting, why
from model_server import ModelServer

from rag_core.decision.decide import replay
from rag_core.engine import Engine
from rag_core.settings import Mode, Settings

PAIRS = Path(__file__).with_name("compression_pairs.yaml")
OBSERVED = {"correctness_mode": Mode.OBSERVE, "top_cosine_mode": Mode.OBSERVE, "keywords_mode": Mode.OBSERVE}


@dataclass(frozen=True)
class Draft:
    """The words of a model about one sentence of a document, and whether it may be shown."""

    document: str
    kind: str
    question: str
    source: str
    text: str
    good: bool


@dataclass(frozen=True)
class End:
    """A draft with how it ended: whether it was shown, and why not."""

    draft: Draft
    shown: bool
    why: str


def pairs() -> list[Draft]:
    """The good and the bad compression of each sentence; documents are named by their language."""
    rows: Mapping[str, list[dict[str, Any]]] = yaml.safe_load(PAIRS.read_text(encoding="utf-8"))
    return [
        Draft(language, row["kind"], row["q"], row["s"], row[which], which == "good")
        for language, found in rows.items()
        for row in found
        for which in ("good", "bad")
    ]


def lies(path: Path) -> tuple[dict[str, list[str]], list[Draft]]:
    """The sentences of each document of a file, none of a sample, and the lies about them; one of several sentences has
    a line for each.
    """
    read = yaml.safe_load(path.read_text(encoding="utf-8"))
    found = [
        Draft(document, kind, question, source, text, good=False)
        for document, kind, question, source, text in read["lies"]
    ]
    return {**{one.document: [] for one in found}, **read["documents"]}, found


def run(drafts: Sequence[Draft], engine: Engine, server: ModelServer, preset: str) -> Iterator[End]:
    """Ask each draft's question of its document, under a preset."""
    kept = engine.library.snapshot.documents
    names = {name: document.id for document in kept for name in (document.name, document.name.rpartition(".")[0])}
    alone = {"drafter": "model", "model": "scripted", "fallback_extract": False, "max_retries": 0}
    settings = Settings.load(preset, {**alone, **OBSERVED})
    for one in drafts:
        server.play([quoting(one.source, one.text)])
        decision = replay(engine.measure(one.question, settings, [names[one.document]]), settings)
        shown = decision.answered and decision.metadata["drafter"] == "model"
        yield End(one, shown, "" if shown else why(decision))
