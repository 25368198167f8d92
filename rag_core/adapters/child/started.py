"""A module of ours that runs in a process beside this one, is spoken to through pipes, and whose standard error goes to
a log.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parents[3]  # the repository: the process imports rag_core from there
LINE_BYTES = 4096  # in a line of its standard error; longer ones are cut into pieces
LAST_WORDS_CHARS = 200  # characters of the line that an error quotes from a process that ended; chosen


class Started:
    """The process, the pipes to it, and the last line that it wrote to standard error.

    Args:
        module: to run.
        environment: of the process; it finds modules of ours besides.
        log: gets each line of its standard error.
        name: of the thread that reads them.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self, module: str, environment: Mapping[str, str], log: logging.Logger, name: str) -> None:
        path = os.pathsep.join(filter(None, [str(ROOT), environment.get("PYTHONPATH")]))
        # -P: the folder where the program was started may hold a file named like a module
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**environment, "PYTHONPATH": path},
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.requests, self.replies = self.process.stdin, self.process.stdout
        self._said: deque[str] = deque(maxlen=1)
        self.listener = threading.Thread(
            target=_log_lines, args=(self.process.stderr, self._said, log), daemon=True, name=name
        )
        self.listener.start()

    def last_words(self) -> list[str]:
        """The last line of its standard error, cut; none where it wrote none."""
        return [line[:LAST_WORDS_CHARS] for line in self._said]


def _log_lines(stream: IO[bytes], said: deque[str], log: logging.Logger) -> None:
    with stream:
        while line := stream.readline(LINE_BYTES):
            if text := line.decode(errors="replace").strip():
                said.append(text)
                log.info("%s", text)
