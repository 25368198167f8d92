"""Kills a process at the n-th time that it is about to change a file of a folder, or to do a statement of SQLite.

Nothing can be caught.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from typing import Any

CHANGES = {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.link", "os.truncate"}
STEPS = 200  # of SQLite's virtual machine: a kill may come within a statement, too


class KillAt:
    """Counts from `begin` on; n = 0 is never."""

    def __init__(self, folder: str, n: int) -> None:
        self._folder, self._n, self.seen, self._begun = folder, n, 0, False
        sys.addaudithook(self._heard)
        connect = sqlite3.connect

        def connected(*of: Any, **how: Any) -> sqlite3.Connection:
            connection: sqlite3.Connection = connect(*of, **how)
            connection.set_trace_callback(lambda statement: self._count())
            connection.set_progress_handler(lambda: self._count() or 0, STEPS)
            return connection

        sqlite3.connect = connected  # type: ignore[assignment]

    def begin(self) -> None:
        """From here on each change counts."""
        self._begun = True

    def end(self) -> None:
        """No change counts any more."""
        self._begun = False

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in CHANGES or (event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR)):
            if str(arguments[0]).startswith(self._folder):
                self._count()

    def _count(self) -> None:
        if self._begun:
            self.seen += 1
            if self.seen == self._n:
                os.kill(os.getpid(), signal.SIGKILL)


def say(*words: str) -> None:
    """A line for the process that runs the test."""
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()
