"""Readers that begin warm: each is forked from a process that has imported what a reader imports.

A file is read by a child process, and most of its work on a test's file is to import PyMuPDF. What it does with the
file, its limits and its isolation are the product's own here too. Tests of its start do not use this (tests/conftest.py
names the folders that do).
"""

from __future__ import annotations

import os
import select
import selectors
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

WORKER = "WORKER"  # its folder, in the environment: tests know a reader by its command line
NUMBER_BYTES = 4  # a process id, and an exit status as `Popen` gives it


class Nursery:
    """The process that readers are forked from; it begins with the first of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._line: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def reader(self, program: Sequence[str], environment: Mapping[str, str], alive: int) -> Reader:
        """A reader that waits for its request; `program`, `environment` and `alive` are what the product gives its
        own.
        """
        with self._lock:
            if self._line is None:
                self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                with theirs:
                    self._process = subprocess.Popen(
                        [*program[:-2], __file__, str(theirs.fileno())],
                        stdin=subprocess.DEVNULL,
                        stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL,
                        pass_fds=[theirs.fileno()],
                        start_new_session=True,
                        env={**environment, WORKER: program[-2]},
                    )
            return Reader(self._line, alive)

    def close(self) -> None:
        """End it, and wait for its end."""
        if self._line is not None and self._process is not None:
            self._line.close()
            self._process.wait()


class Reader:
    """What the product uses of `subprocess.Popen`, for a reader that was forked."""

    def __init__(self, line: socket.socket, alive: int) -> None:
        reads, sends = os.pipe()
        receives, writes = os.pipe()
        self._ends, says = os.pipe()
        socket.send_fds(line, [b"."], [reads, writes, alive, says])
        for theirs in (reads, writes, says):
            os.close(theirs)
        self.stdin, self.stdout = open(sends, "wb", buffering=0), open(receives, "rb", buffering=0)
        self.pid, self._status = self._number(), None

    def poll(self) -> int | None:
        """How it ended; None while it runs."""
        if self._status is None and select.select([self._ends], [], [], 0)[0]:
            return self.wait()
        return self._status

    def wait(self) -> int:
        """How it ended, once it has: its exit status, or the signal that ended it, below zero."""
        if self._status is None:
            self._status = self._number()
            os.close(self._ends)
        return self._status

    def _number(self) -> int:
        return int.from_bytes(os.read(self._ends, NUMBER_BYTES), "big", signed=True)


@contextmanager
def warm(nursery: Nursery, pdf_process: Any) -> Iterator[None]:
    """Within the block, this process reads files by readers of the nursery; by the product's own where the system has
    none.

    Args:
        nursery: of this process.
        pdf_process: the module of the product that begins readers.
    """
    own = str(pdf_process.WORKER)

    def begin(
        program: Sequence[str], *, env: Mapping[str, str], pass_fds: Sequence[int], **others: Any
    ) -> Reader | subprocess.Popen[bytes]:
        if program[-2] == own:
            return nursery.reader(program, env, *pass_fds)
        return subprocess.Popen(program, env=env, pass_fds=pass_fds, **others)

    if _possible():
        pdf_process.subprocess = SimpleNamespace(Popen=begin, PIPE=subprocess.PIPE, DEVNULL=subprocess.DEVNULL)
    try:
        yield
    finally:
        pdf_process.subprocess = subprocess


def _possible() -> bool:
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):  # not on Linux, or not in this container
        return False
    return True


def _nurse(worker: str, line: socket.socket) -> None:
    """Fork a reader for each message that brings its pipes, and say how each ended."""
    sys.path.append(os.path.dirname(worker))
    from pdf_worker import child
    from pdf_worker.child import import_pymupdf

    import_pymupdf()
    from pdf_worker import pages, render  # noqa: F401
    from pdf_worker.formats import documents  # noqa: F401

    with selectors.DefaultSelector() as ready:
        ready.register(line, selectors.EVENT_READ)
        while True:
            for key, _ in ready.select():
                if key.data is None:
                    told, pipes, _, _ = socket.recv_fds(line, 1, 4)
                    if not told:
                        return
                    pid = os.fork()
                    if not pid:
                        _read(child.main, *pipes)
                    for pipe in pipes[:3]:
                        os.close(pipe)
                    ready.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, pipes[3]))
                    continue
                pid, says = key.data
                ready.unregister(key.fileobj)
                os.close(key.fd)
                # its number stays its own until its end was told
                end = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
                status = end.si_status if end.si_code == os.CLD_EXITED else -end.si_status
                try:
                    os.write(says, status.to_bytes(NUMBER_BYTES, "big", signed=True))
                except BrokenPipeError:
                    pass  # whoever began it is gone
                os.close(says)
                os.waitpid(pid, 0)


def _read(main: Any, reads: int, writes: int, alive: int, says: int) -> None:
    status = 1
    try:
        os.setsid()
        os.dup2(reads, 0)
        os.dup2(writes, 1)
        os.write(says, os.getpid().to_bytes(NUMBER_BYTES, "big", signed=True))
        os.dup2(alive, 3)
        os.closerange(4, os.sysconf("SC_OPEN_MAX"))
        sys.argv = [__file__, "3"]
        main()
        status = 0
    finally:
        os._exit(status)


if __name__ == "__main__":
    _nurse(os.environ.pop(WORKER), socket.socket(fileno=int(sys.argv[1])))
