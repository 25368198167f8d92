"""A process that changes a library until it is killed: at the n-th step; see killing.py.

    python library_child.py FOLDER

Each line on its standard input, "RUN N", starts such a process; N = 0 is never, and it then says at the end how many
steps there were. Each operation is announced before it starts and confirmed when it returned, so that the parent knows
what must be there.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from killing import KillAt, say
from library_kit import SETTINGS, library, text

from rag_core.domain.documents import Metadata


def main(folder: Path, run: str, n: int) -> None:
    hook = KillAt(str(folder), n)
    hook.begin()
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
        report = opened.add(
            [text(name, f"The text of {name} tells about item{name}.", language="en") for name in names], SETTINGS
        )
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
