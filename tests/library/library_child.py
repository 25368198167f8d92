"""A process that changes a library until it is killed: at the n-th time that it is about to change a file or folder.

    python library_child.py FOLDER

Its documents stand in several lists, however few they are, but in every other run: so a library goes from one form to the other and back.
Each line on its standard input, "RUN N", starts such a process; N = 0 is never, and it then says at the end how many changes there were.
Each operation is announced before it starts and confirmed when it returned, so that the parent knows what must be there.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from library_kit import SETTINGS, library, text

from rag_core.domain.documents import Metadata
from rag_core.library.stored import lists

CHANGES = {"os.rename", "os.mkdir", "os.remove", "os.rmdir"}


class KillAt:
    """An audit hook that kills the process in its n-th change under `folder`. Nothing can be caught, nothing is flushed."""

    def __init__(self, folder: str, n: int) -> None:
        self.folder, self.n, self.seen = folder, n, 0

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            changes = isinstance(arguments[1], str) and any(letter in arguments[1] for letter in "wax+")
        else:
            changes = event in CHANGES
        if changes and str(arguments[0]).startswith(self.folder):
            self.seen += 1
            if self.seen == self.n:
                if event == "open":  # the file is made and emptied, nothing is in it yet
                    os.close(os.open(arguments[0], os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
                os.kill(os.getpid(), signal.SIGKILL)


def say(*words: str) -> None:
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()


def main(folder: Path, run: str, n: int) -> None:
    if not run.isdecimal() or int(run) % 2:
        lists.MIN_DOCUMENTS, lists.MAX_DOCUMENTS = 2, 4
    hook = KillAt(str(folder), n)
    sys.addaudithook(hook)
    opened = library(folder)
    before = [document.id for document in opened.snapshot.documents]
    say("add")  # whatever was unfinished
    opened.resume(SETTINGS)
    say("added", *(document.name for document in opened.snapshot.documents))
    if before:
        name = opened.snapshot.document(before[0]).name
        say("delete", name)
        opened.delete(before[0])
        say("deleted", name)
    for part in range(2):
        names = [f"r{run}p{part}n{number}" for number in range(3)]
        say("add", *names)
        report = opened.add([text(name, f"The text of {name} tells about item{name}.", language="en") for name in names], SETTINGS)
        say("added", *(document.name for document in report.added))
    last = report.added[-1]
    opened.set_metadata(last.id, Metadata(title=f"Title of {last.name}"))
    say("changes", str(hook.seen))


if __name__ == "__main__":
    # one fork a run: the imports, which take most of the time, are done once
    for line in sys.stdin:
        run, n = line.split()
        child = os.fork()
        if not child:
            main(Path(sys.argv[1]), run, int(n))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        say("exit", str(os.waitstatus_to_exitcode(status)))
