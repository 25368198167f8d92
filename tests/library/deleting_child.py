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

from killing import KillAt, say
from library_kit import library
from reading_kit import FIRST, SMALL, Held, indexing, pdf

from rag_core.library.indexing import batches
from rag_core.library.library import Library

# published, handed in and not indexed, being read
GONE, LISTED, READ = "Brambleforth.txt", "Wexford.txt", "bay-0.pdf"


def id_of(opened: Library, name: str) -> str:
    """The id of a document that is published, is listed or is being read."""
    known = {document.name: document.id for document in opened.view.documents} | {
        row.name: row.id for row in opened.unfinished()
    }
    return known[name]


def being_read(opened: Library, hook: KillAt) -> None:
    """Delete one of which the first pages can be asked, and come to an end before the call that indexes does."""
    embedder = opened._embedder
    assert isinstance(embedder, Held)
    batches.FIRST_PAGES = FIRST
    with indexing(opened, embedder, pdf(0), settings=SMALL):
        embedder.let(1)
        id = id_of(opened, READ)
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
    if way == "being_read":
        being_read(opened, hook)
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
