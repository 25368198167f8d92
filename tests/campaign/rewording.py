"""Compressions in a model's own words under the preset `compliance`: which good ones are shown, and which bad ones.

    python -m tests.campaign.rewording [--preset balanced] [--lies tests/adversarial/fresh_lies.yaml] [--gates]

The pairs stand in `tests/adversarial/compression_pairs.yaml`; a file of lies has the documents that they are about.
Each is drafted again and again, whatever is found. Gates before the draft only observe, so that what is measured are
the audits of the draft; with `--gates` they stand as the preset has them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from model_server import ModelServer

from rag_core.decision.decide import replay
from rag_core.engine import Engine
from rag_core.settings import DEFAULT_PRESET, Mode, Settings
from tests.campaign import ROOT
from tests.campaign.leaving_out import engine_over, quoting, why

PAIRS = ROOT / "tests/adversarial/compression_pairs.yaml"
PRESET = "compliance"
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


def run(
    drafts: Sequence[Draft], engine: Engine, server: ModelServer, preset: str = PRESET, *, gates: bool = False
) -> Iterator[End]:
    """Ask each draft's question of its document, under a preset."""
    kept = engine.library.snapshot.documents
    names = {name: document.id for document in kept for name in (document.name, document.name.rpartition(".")[0])}
    alone = {"drafter": "model", "model": "scripted", "fallback_extract": False, "max_retries": 0}
    settings = Settings.load(preset, {**alone, **({} if gates else OBSERVED)})
    for one in drafts:
        server.play([quoting(one.source, one.text)])
        decision = replay(engine.measure(one.question, settings, [names[one.document]]), settings)
        shown = decision.answered and decision.metadata["drafter"] == "model"
        yield End(one, shown, "" if shown else why(decision))


def report(found: Sequence[End]) -> str:
    """Shares by document, then what was shown by kind, as text."""
    lines = []
    for document in dict.fromkeys(one.draft.document for one in found):
        shares = [
            [one for one in found if one.draft.document == document and one.draft.good is good]
            for good in (True, False)
        ]
        words = [
            f"{name} {sum(one.shown for one in share)} of {len(share)}"
            for name, share in zip(("good", "bad"), shares, strict=True)
            if share
        ]
        lines.append(f"{document}: shown {', '.join(words)}")
    bad = [one for one in found if not one.draft.good]
    total, through = Counter(one.draft.kind for one in bad), Counter(one.draft.kind for one in bad if one.shown)
    return "\n".join([*lines, *(f"  {kind}: {through[kind]} of {count}" for kind, count in sorted(total.items()))])


def main() -> int:
    """Run it; 1 where the default shows a bad one."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign.rewording")
    parser.add_argument("--preset", default=PRESET)
    parser.add_argument("--lies", type=Path, help="a file of documents and lies in place of the pairs")
    parser.add_argument("--gates", action="store_true", help="let the gates before the draft stand")
    chosen = parser.parse_args()
    drafts = pairs()
    languages = dict.fromkeys(one.document for one in drafts)
    stated = {
        language: [one.source for one in drafts if one.good and one.document == language] for language in languages
    }
    if chosen.lies:
        stated, drafts = lies(chosen.lies)
    found = []
    with (
        ModelServer() as server,
        tempfile.TemporaryDirectory() as folder,
        engine_over(server, Path(folder), stated) as engine,
    ):
        for one in run(drafts, engine, server, chosen.preset, gates=chosen.gates):
            found.append(one)
            if one.shown is not one.draft.good:
                what = "shown" if one.shown else "rejected"
                print(f"{one.draft.document} | {one.draft.kind} | {what} | {one.draft.text} | {one.why}", flush=True)
    print(report(found))
    return int(chosen.preset == DEFAULT_PRESET and any(one.shown and not one.draft.good for one in found))


if __name__ == "__main__":
    sys.exit(main())
