"""A process that works on a library until somebody kills it. Its controller is `kills`.

`python -m tests.campaign.victim FOLDER` reads lines "OPERATION NUMBER" and forks for each, so that the imports are done
once. The fork says "go PID", announces each step before it starts and confirms it when it returned; the end of the fork
is "exit STATUS".
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from pathlib import Path

import make
from library_kit import SETTINGS, HashEmbedder, library, text

from rag_core.adapters.index.flat import FaissStore
from rag_core.adapters.records.store import FILE, RecordStore
from rag_core.decision.tools import Tools
from rag_core.engine import Engine
from rag_core.library.library import Library
from rag_core.library.stored.sources import Source
from rag_core.records.stored import FeedbackKind


def say(*words: str) -> None:
    """One line, at once, in one write."""
    os.write(1, (" ".join(words) + "\n").encode())


def pdf(name: str, lines: int = 30) -> Source:
    """A page of its own for this name."""
    rows = "".join(
        f"({name} says in row {row} that item{row} of {name} costs {row * 7} euros.) Tj 0 -14 Td "
        for row in range(lines)
    )
    return Source(name, make.raw_page(f"BT /F1 10 Tf 50 740 Td {rows} ET".encode()), "pdf")


def index(folder: Path, number: str) -> None:
    """Two PDFs, whose readers are processes of their own, and two texts."""
    names = [f"n{number}-{part}" for part in range(4)]
    say("add", *names)
    sources = [
        *map(pdf, names[:2]),
        *(text(name, f"The text of {name} tells about item{name}.", language="en") for name in names[2:]),
    ]
    report = library(folder).add(sources, SETTINGS)
    say("added", *(document.name for document in report.added))


def resume(folder: Path, number: str) -> None:
    """Whatever is unfinished."""
    opened = library(folder)
    say("add", *(row.name for row in opened.unfinished()))
    say("added", *(document.name for document in opened.resume(SETTINGS).added))


def rebuild(folder: Path, number: str) -> None:
    """All documents again."""
    say("add")
    Library.rebuild(folder, "default", SETTINGS, embedder=HashEmbedder(), vectors=FaissStore(16))
    say("added")


def delete(folder: Path, number: str) -> None:
    """A third of the documents, one by one."""
    opened = library(folder)
    documents = opened.snapshot.documents
    for document in random.Random(number).sample(documents, len(documents) // 3):
        say("delete", document.name)
        opened.delete(document.id)
        say("deleted", document.name)


def ask(folder: Path, number: str) -> None:
    """Questions, each kept with its measurements and a reader's word."""
    engine, store = Engine(library(folder), Tools(HashEmbedder())), RecordStore(folder / "default" / FILE)
    for part in range(4):
        question = f"What does item{part} of question {number} cost?"
        id = store.keep(engine.measure(question, SETTINGS))
        say("kept", str(id), question)
        store.add_feedback(id, FeedbackKind.HELPFUL, f"word {number}.{part}")
        say("said", str(id))


OPERATIONS: dict[str, Callable[[Path, str], None]] = {
    "index": index,
    "resume": resume,
    "rebuild": rebuild,
    "delete": delete,
    "ask": ask,
}


def main(folder: Path) -> None:
    """One fork for each line."""
    for line in sys.stdin:
        operation, number = line.split()
        child = os.fork()
        if not child:
            say("go", str(os.getpid()))
            try:
                OPERATIONS[operation](folder, number)
            except BaseException as error:
                say("failed", f"{type(error).__name__}: {error}".replace("\n", " "))
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        say("exit", str(os.waitstatus_to_exitcode(status)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
