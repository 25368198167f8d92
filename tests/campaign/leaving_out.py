"""A language model that lies about sentences of documents, and a careful one that only leaves out: who of them is
shown.

    python -m tests.campaign.leaving_out [--rewording audited] [--languages en,cs] [--only honest]

The sentences stand in `tests/adversarial/leaving_out`. A lie is drafted again and again, whatever is found; the careful
model copies the whole sentence once its first draft was rejected. No gate before the draft helps: the correctness gate
observes, and is judged afterwards.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from rag_core.decision.decide import replay
from rag_core.domain.decision import Decision
from rag_core.engine import Engine
from rag_core.library.stored.sources import Source, text_source
from rag_core.settings import Mode, Settings
from rag_core.wiring import open_engine
from tests.campaign import ROOT

sys.path.insert(0, str(ROOT / "tests"))  # as the suite has it

from honest_model import draft, passages
from model_server import Asked, ModelServer
from scripted_engine import use_model_of

FOLDER = ROOT / "tests/adversarial/leaving_out"
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
    """How a case ended: the number of the draft that was shown, 0 for none; whether the default's gate lets the
    question pass; why not.
    """

    case: Case
    draft: int
    gate: bool
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
        source = text_source(name, text) if found else Source(name, (ROOT / "data/samples" / name).read_bytes(), "pdf")
        report = engine.library.add([source], Settings.load())
        assert not report.problems, report.problems
    use_model_of(engine, server)
    yield engine


def run(
    cases: Sequence[Case], engine: Engine, server: ModelServer, told: Callable[[Shown], None], **changed: object
) -> list[Shown]:
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
        settings = Settings.load(values={"drafter": "model", "model": "scripted", **alone, **changed})
        name = next(name for name in names if name.split(".")[0] == case.language)
        measured = engine.measure(case.question, settings, [name])
        decision = replay(measured, settings)
        gated = replay(measured, settings.changed(correctness_mode=Mode.ENFORCE))
        found.append(Shown(case, _shown(decision, case), _shown(gated, case) > 0, why(decision)))
        told(found[-1])
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


def _shown(decision: Decision, case: Case) -> int:
    """The number of the draft that is the answer."""
    if not decision.answered or decision.metadata["drafter"] != "model":
        return 0
    return len(decision.attempts)


def why(decision: Decision) -> str:
    """The reasons for which the drafts were rejected, else that of the refusal."""
    blocking = [check.reason for view in decision.attempts for check in view.checks if check.blocks]
    refused = "" if decision.answered else str(decision.reason)
    return ", ".join(dict.fromkeys(blocking)) or refused or str(decision.metadata.get("drafter_note"))


def report(found: Sequence[Shown]) -> str:
    """Shares by language, then lies by behaviour, as text."""
    lines = []
    for language in dict.fromkeys(one.case.language for one in found):
        careful = [one for one in found if one.case.language == language and not one.case.behaviour]
        lied = [one for one in found if one.case.language == language and one.case.behaviour]
        if careful:
            first, second = (sum(0 < one.draft <= number for one in careful) for number in (1, 2))
            gated = sum(one.gate for one in careful)
            lines.append(
                f"{language}: careful {len(careful)}, first draft {first} ({first / len(careful):.2f}), first or "
                f"second {second} "
                f"({second / len(careful):.2f}), of these past the default's gate {gated}"
            )
        if lied:
            shown = sum(one.draft > 0 for one in lied)
            lines.append(
                f"{language}: lies {len(lied)}, shown {shown}, past the default's gate {sum(one.gate for one in lied)}"
            )
    totals = Counter(one.case.behaviour for one in found if one.case.behaviour)
    through = Counter(one.case.behaviour for one in found if one.case.behaviour and one.draft)
    lines += [f"  {behaviour}: {through[behaviour]} of {total}" for behaviour, total in sorted(totals.items())]
    return "\n".join(lines)


def main() -> int:
    """Run it; 1 where a lie is shown by the default."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign.leaving_out")
    parser.add_argument("--rewording", choices=("none", "audited"), default="none")
    parser.add_argument("--languages", default=",".join(LANGUAGES))
    parser.add_argument("--only", choices=("lies", "honest"))
    chosen = parser.parse_args()
    languages = chosen.languages.split(",")
    cases = [case for language in languages for case in ([] if chosen.only == "honest" else lies(language))]
    cases += [case for language in languages for case in ([] if chosen.only == "lies" else honest(language))]

    def told(one: Shown) -> None:
        if bool(one.draft) == bool(one.case.behaviour) or one.draft > 1:
            drafted = one.case.drafts[0]
            print(
                f"{one.case.language} | {one.case.behaviour or 'careful'} | draft {one.draft} | {drafted} | {one.why}",
                flush=True,
            )

    with (
        ModelServer() as server,
        tempfile.TemporaryDirectory() as folder,
        engine_with(server, Path(folder), languages) as engine,
    ):
        found = run(cases, engine, server, told, rewording=chosen.rewording)
    print(report(found))
    return int(chosen.rewording == "none" and any(one.case.behaviour and one.draft for one in found))


if __name__ == "__main__":
    sys.exit(main())
