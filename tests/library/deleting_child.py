"""A process that deletes from a library until it is killed: at the n-th time that it is about to change a file or folder.

    PARTED=1 python deleting_child.py TEMPLATE

Its documents stand in several lists where PARTED says so.

Each line on its standard input, "FOLDER WAY LEFT N", starts such a process on a copy of the template. WAY is one of `WAYS`. LEFT is how
many bytes are free, -1 for no end. N = 0 is never. It says how many changes there were, where it came to its end.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from disk_kit import Disk
from early_kit import SMALL, Held, buoys, indexing
from library_child import say
from library_kit import library

from rag_core.library.library import Library
from rag_core.library.stored import lists

GONE, LISTED, WAITING = "Brambleforth.txt", "Wexford.txt", "buoys"  # published, handed in and not indexed, waiting for its vectors


CHANGES = {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.link", "os.truncate"}


class KillAt:
    """An audit hook that kills the process in its n-th change under `folder`, counted from `begin` on. Nothing can be caught."""

    def __init__(self, folder: str, n: int) -> None:
        self.folder, self.n, self.seen, self.begun = folder, n, 0, False

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.begun or not (event in CHANGES or (event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR))):
            return
        if str(arguments[0]).startswith(self.folder):
            self.seen += 1
            if self.seen == self.n:
                os.kill(os.getpid(), signal.SIGKILL)


def id_of(opened: Library, name: str) -> str:
    """The id of a document that is published, is listed or waits."""
    known = {document.name: document.id for document in opened.view.documents} | {row.name: row.id for row in opened.unfinished()}
    return known[name]


def waiting(opened: Library, hook: KillAt, disk: Disk, left: int) -> None:
    """Delete one that waits for its vectors, and come to an end before the call that indexes does."""
    embedder = opened._embedder
    assert isinstance(embedder, Held)
    with indexing(opened, embedder, buoys(), settings=SMALL):
        id = id_of(opened, WAITING)
        begin(hook, disk, left)
        deleting = threading.Thread(target=lambda: opened.delete(id))
        deleting.start()
        while not opened._waiting.unwanted():
            assert deleting.is_alive()
            time.sleep(0.001)
        embedder.let_all()
        deleting.join()
        end(hook)


def begin(hook: KillAt, disk: Disk, left: int) -> None:
    """From here on each change counts, and so much is free."""
    if left >= 0:
        disk.fill(left)
    hook.begun = True


def end(hook: KillAt) -> None:
    """It was not killed."""
    hook.begun = False
    say("changes", str(hook.seen))
    os._exit(0)


WAYS = {
    "delete": lambda opened: opened.delete(id_of(opened, GONE)),
    "everywhere": lambda opened: opened.erase(id_of(opened, GONE)),
    "listed": lambda opened: opened.delete(id_of(opened, LISTED)),
    "discard": lambda opened: opened.discard([id_of(opened, LISTED)]),
}


def main(template: Path, folder: Path, way: str, left: int, n: int) -> None:
    shutil.copytree(template, folder)
    if os.environ["PARTED"]:
        lists.MIN_DOCUMENTS, lists.MAX_DOCUMENTS = 2, 4
    disk = Disk(folder)
    disk.limit(setattr)
    opened = library(folder, embedder=Held())
    hook = KillAt(str(folder), n)
    sys.addaudithook(hook)
    if way == "waiting":
        waiting(opened, hook, disk, left)
    begin(hook, disk, left)
    WAYS[way](opened)
    end(hook)


if __name__ == "__main__":
    # one fork a run: the imports, which take most of the time, are done once
    for line in sys.stdin:
        folder, way, left, n = line.split()
        child = os.fork()
        if not child:
            main(Path(sys.argv[1]), Path(folder), way, int(left), int(n))
        _, status = os.waitpid(child, 0)
        say("exit", str(os.waitstatus_to_exitcode(status)))
