"""A language model that lies about sentences of documents, and a careful one that only leaves out: who of them is
shown.

The sentences stand in `leaving_out/`. A lie is drafted again and again, whatever is found; the careful model copies the
whole sentence once its first draft was rejected. No gate before the draft helps: the correctness gate observes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from honest_model import draft, passages
from model_server import Asked, ModelServer
from scripted_engine import use_model_of

from rag_core.decision.decide import replay
from rag_core.domain.decision import Decision
from rag_core.engine import Engine
from rag_core.library.stored.sources import Source, text_source
from rag_core.settings import Mode, Settings
from rag_core.wiring import open_engine

FOLDER = Path(__file__).with_name("leaving_out")
SAMPLES = Path(__file__).resolve().parents[2] / "data" / "samples"
LANGUAGES = ("en", "cs", "de", "hi")


@dataclass(frozen=True)
class Case:
    """One question with what a model drafts for it: each draft in its turn, the last one for ever.

    `behaviour` is empty for a careful one.
    """

    language: str
    behaviour: str
    question: str
    source: str
    drafts: tuple[str, ...]


@dataclass(frozen=True)
class Shown:
    """How a case ended: the number of the draft that was shown, 0 for none; why not."""

    case: Case
    draft: int
    why: str


def honest(language: str) -> list[Case]:
    """The careful compressions; a rejected one is followed by its whole sentence."""
    return [
        Case(language, "", row["q"], row["s"], (row.get("c", row["s"]), row["s"]))
        for file in (language, f"undone_{language}")
        for row in _read(f"{file}.yaml")["rows"]
    ]


def lies(language: str) -> list[Case]:
    """The lies, each with the sentence that it quotes."""
    return [
        Case(language, behaviour, question, next(one for one in sentences(language) if key in one), (text,))
        for file in ("lies", "undone")
        for behaviour, key, text, question in _read(f"{file}_{language}.yaml")["lies"]
    ]


def sentences(language: str) -> list[str]:
    """The sentences of a language's document, in their order."""
    later = _read(f"undone_{language}.yaml")
    rows = [row["s"] for found in (_read(f"{language}.yaml"), later) for row in found["rows"]]
    return [*rows, *_read(f"lies_{language}.yaml")["traps"], *later["traps"]]


@cache
def _read(name: str) -> dict[str, Any]:
    return dict(yaml.safe_load((FOLDER / name).read_text(encoding="utf-8")))


@contextmanager
def engine_with(server: ModelServer, folder: Path, languages: Sequence[str]) -> Iterator[Engine]:
    """A library with a document for each language, and the real client of the scripted server."""
    with engine_over(server, folder, {language: sentences(language) for language in languages}) as engine:
        yield engine


@contextmanager
def engine_over(server: ModelServer, folder: Path, stated: Mapping[str, Sequence[str]]) -> Iterator[Engine]:
    """A library with a document of each name, six sentences to a paragraph, and the real client of the scripted server.

    One without sentences is the sample of that name.
    """
    engine = open_engine(folder, settings=Settings.load())
    for name, found in stated.items():
        text = "\n\n".join(" ".join(found[at : at + 6]) for at in range(0, len(found), 6))
        source = text_source(name, text) if found else Source(name, (SAMPLES / name).read_bytes(), "pdf")
        report = engine.library.add([source], Settings.load())
        assert not report.problems, report.problems
    use_model_of(engine, server)
    yield engine


def run(cases: Sequence[Case], engine: Engine, server: ModelServer) -> list[Shown]:
    """Ask each case's question."""
    names = {document.name: document.id for document in engine.library.snapshot.documents}
    found = []
    for case in cases:
        server.play([quoting(case.source, text) for text in case.drafts])
        alone = {
            "correctness_mode": Mode.OBSERVE,
            "fallback_extract": False,
            "max_retries": len(case.drafts) - 1,
        }
        settings = Settings.load(values={"drafter": "model", "model": "scripted", **alone})
        name = next(name for name in names if name.split(".")[0] == case.language)
        measured = engine.measure(case.question, settings, [name])
        decision = replay(measured, settings)
        shown = decision.answered and decision.metadata["drafter"] == "model"
        found.append(Shown(case, len(decision.attempts) if shown else 0, why(decision)))
    return found


def quoting(source: str, text: str) -> Callable[[Asked], dict[str, Any]]:
    """A model that drafts one sentence, with one of the document as its quote; or a sentence for each line, with a line
    as its quote.
    """

    def reply(asked: Asked) -> dict[str, Any]:
        texts = {id: " ".join(passage.split()) for id, passage in passages(asked).items()}
        pairs = zip(text.split("\n"), source.split("\n"), strict=True)
        return draft(
            *(
                (said, next((id for id, passage in texts.items() if quote in passage), "1"), quote)
                for said, quote in pairs
            )
        )

    return reply


def why(decision: Decision) -> str:
    """The reasons for which the drafts were rejected, else that of the refusal."""
    blocking = [check.reason for view in decision.attempts for check in view.checks if check.blocks]
    refused = "" if decision.answered else str(decision.reason)
    return ", ".join(dict.fromkeys(blocking)) or refused or str(decision.metadata.get("drafter_note"))
