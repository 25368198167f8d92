"""A process that deletes from a library until it is killed: at the n-th step; see killing.py.

    python deleting_child.py TEMPLATE

Each line on its standard input, "FOLDER WAY N", starts such a process on a copy of the template. WAY is one of `WAYS`.
N = 0 is never. It says how many steps there were, where it came to its end.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from early_kit import SMALL, Held, buoys, indexing
from killing import KillAt, say
from library_kit import library

from rag_core.library.library import Library

# published, handed in and not indexed, waiting for its vectors
GONE, LISTED, WAITING = (
    "Brambleforth.txt",
    "Wexford.txt",
    "buoys",
)


def id_of(opened: Library, name: str) -> str:
    """The id of a document that is published, is listed or waits."""
    known = {document.name: document.id for document in opened.view.documents} | {
        row.name: row.id for row in opened.unfinished()
    }
    return known[name]


def waiting(opened: Library, hook: KillAt) -> None:
    """Delete one that waits for its vectors, and come to an end before the call that indexes does."""
    embedder = opened._embedder
    assert isinstance(embedder, Held)
    with indexing(opened, embedder, buoys(), settings=SMALL):
        id = id_of(opened, WAITING)
        hook.begin()
        opened.delete(id)
        end(hook)


def end(hook: KillAt) -> None:
    """It was not killed."""
    hook.end()
    say("changes", str(hook.seen))
    os._exit(0)


WAYS = {
    "delete": lambda opened: opened.delete(id_of(opened, GONE)),
    "everywhere": lambda opened: opened.erase(id_of(opened, GONE)),
    "listed": lambda opened: opened.delete(id_of(opened, LISTED)),
    "discard": lambda opened: opened.discard([id_of(opened, LISTED)]),
}


def main(template: Path, folder: Path, way: str, n: int) -> None:
    shutil.copytree(template, folder)
    hook = KillAt(str(folder), n)
    opened = library(folder, embedder=Held())
    if way == "waiting":
        waiting(opened, hook)
    hook.begin()
    WAYS[way](opened)
    end(hook)


if __name__ == "__main__":
    # one fork a run: the imports, which take most of the time, are done once
    for line in sys.stdin:
        folder, way, n = line.split()
        child = os.fork()
        if not child:
            main(Path(sys.argv[1]), Path(folder), way, int(n))
        _, status = os.waitpid(child, 0)
        say("exit", str(os.waitstatus_to_exitcode(status)))
