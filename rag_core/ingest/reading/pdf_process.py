"""Runs one request in the child process that opens PDFs, and brings back what it says.

The child is not trusted: it may crash, hang, or send anything. It runs in its own session with an environment of its
own (no keys, no proxies), without network where the system can block it, and whatever happens here, it and everything
it started is killed before `events` ends. Where this process is killed itself, the kernel ends the child.

Where a page ends the child, it is reported as unreadable, and a new process reads those behind it. Few pages may do so.
"""

from __future__ import annotations

import compileall
import functools
import json
import logging
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from rag_core.domain.ports import Cancel
from rag_core.errors import Cancelled, DamagedPdf, LimitExceeded
from rag_core.ingest.limits import Limits

WORKER = Path(__file__).parents[1] / "pdf_worker"
POLL_S = 0.1  # how long a cancel or the wall limit may go unnoticed
CHUNK_BYTES = 1 << 18  # 256 KiB a read or write of a pipe; chosen
PAGE_LINE_BYTES = 1 << 24  # a page of the most characters, words and rows takes about 10 MB
# in a line: a page's text and the outline have fewer, and each may become an object of 64 bytes and more
MAX_BRACKETS = 400_000
MAX_LINE_BYTES = 1 << 28  # a 25-million-pixel picture as base64 is at most 100 MB; more is not our child speaking
# all that the child has of the environment; ORT_DISABLE_TELEMETRY is ONNX Runtime's own switch, a second line behind
# not importing it
ENVIRONMENT = {
    "PATH": os.defpath,
    # without one, Python asks the system's name service for it at every start, through a socket
    "HOME": "/nonexistent",
    "LANG": "C.UTF-8",
    "OMP_THREAD_LIMIT": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "ORT_DISABLE_TELEMETRY": "1",
}

Event = dict[str, Any]
_log = logging.getLogger(__name__)
# pages of a file that may end a reader; those behind the next one are not read, since each may take all of the time
# allowed
MAX_ENDED = 5
_NOT_READ = "This page was not read, since too many pages before it made the reader end."


@dataclass(frozen=True, slots=True)
class Isolation:
    """The child's own words on how it is isolated: why its network is open ("" if blocked), and its memory limit."""

    unblocked: str
    memory_bytes: int


class Died(Exception):
    """The cause of an error of `events` where the child ended while it read: another one may read on."""


_isolation: Isolation | None = None  # the last child's


def isolation() -> Isolation | None:
    """The last child's own words on how it was isolated; None before the first one."""
    return _isolation


def events(
    request: Mapping[str, object],
    data: bytes | BinaryIO,
    *,
    wall_seconds: float,
    max_line_bytes: int = MAX_LINE_BYTES,
    cancelled: Cancel | None = None,
) -> Generator[Event, None, None]:
    """The child's events, in order, up to and without `done`.

    Args:
        request: everything the child is told, the password included; it travels through a pipe only.
        data: the file, or where it is read from, block by block as the child takes it.
        wall_seconds: time until the child is killed; what the caller takes between two events does not count.
        max_line_bytes: of one event as JSON.
        cancelled: asked about every 0.1 s.

    Raises:
        Cancelled: `cancelled` said so.
        LimitExceeded: the child ran out of time or memory.
        DamagedPdf: the child crashed, or sent what it never sends.
        Both have `Died` as their cause where the child ended by itself or was ended by the system.
    """
    header = json.dumps({**request, "size": size_of(data)}).encode() + b"\n"
    first = request.get("first")
    page, heard = first if isinstance(first, int) else 1, False
    alive, held = os.pipe()  # its end tells the child that this process is gone
    try:
        child = subprocess.Popen(
            # -B: it may write no file, so not its compiled modules either
            [sys.executable, "-I", "-B", str(_compiled(WORKER)), str(alive)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=[alive],
            start_new_session=True,
            env=ENVIRONMENT,
        )
    except BaseException:
        os.close(held)
        raise
    finally:
        os.close(alive)
    try:
        for line in _lines(child, _blocks(header, data), wall_seconds, min(max_line_bytes, MAX_LINE_BYTES), cancelled):
            event = _event(line)
            if event["event"] == "ready" and not heard:  # said once and first: later, a file might say it
                _remember(event)
                heard = True
                continue
            heard = True
            if event["event"] == "done":
                return
            page += event["event"] == "page"
            yield event
        raise _died(child.wait(), page) from Died()
    finally:
        _end(child)
        os.close(held)


@functools.cache
def _compiled(worker: Path) -> Path:
    """The program of the child, once its modules are compiled here: that takes a quarter of a child's start."""
    if not sys.dont_write_bytecode:
        compileall.compile_dir(worker, quiet=2)
    return worker


def _remember(event: Event) -> None:
    global _isolation
    try:
        found = Isolation(str(event["network"]), int(event["memory"]))
    except (KeyError, TypeError, ValueError):
        raise nonsense() from None
    if found.unblocked and found != _isolation:
        _log.warning("PDFs are read without a block on the network. %s", found.unblocked)
    _isolation = found


def _event(line: bytes) -> Event:
    if line.count(b"[") + line.count(b"{") > MAX_BRACKETS:
        raise nonsense()
    try:
        event = json.loads(line, parse_constant=lambda _: 0.0)  # no NaN and no infinity, whatever a font says
        if isinstance(event["event"], str):
            return dict(event)
    except (ValueError, TypeError, KeyError):
        pass  # told below: whatever is not an event is one case
    raise nonsense()


def _lines(
    child: subprocess.Popen[bytes],
    blocks: Iterator[bytes],
    wall_seconds: float,
    max_line_bytes: int,
    cancelled: Cancel | None,
) -> Iterator[bytes]:
    """The lines that the child writes while it is sent `blocks`; neither side ever waits for the other."""
    assert child.stdin is not None
    assert child.stdout is not None
    pending = bytearray()
    deadline = time.monotonic() + wall_seconds
    to_send = memoryview(next(blocks))
    with selectors.DefaultSelector() as ready:
        for pipe, what in ((child.stdin, selectors.EVENT_WRITE), (child.stdout, selectors.EVENT_READ)):
            os.set_blocking(pipe.fileno(), False)
            ready.register(pipe, what)
        while True:
            if cancelled is not None and cancelled():
                raise Cancelled("Reading was stopped.", remedy="Nothing was changed; add the file again at any time.")
            if time.monotonic() > deadline:
                raise LimitExceeded(
                    f"Reading the file took more than the {wall_seconds:g} s allowed.", remedy="Split it into parts."
                )
            for key, _ in ready.select(POLL_S):
                if key.fileobj is child.stdin:
                    to_send = _send(child.stdin.fileno(), to_send, blocks)
                    if not to_send:  # the pipe stays open: when it closes, the child ends
                        ready.unregister(child.stdin)
                    continue
                received = os.read(child.stdout.fileno(), CHUNK_BYTES)
                if not received:
                    return
                pending += received
                *lines, rest = pending.split(b"\n") if b"\n" in received else (pending,)
                pending = rest
                if max(map(len, (pending, *lines))) > max_line_bytes:
                    raise nonsense()
                waiting = time.monotonic()
                yield from map(bytes, lines)
                deadline += time.monotonic() - waiting  # whoever takes the lines may have a page recognised


def size_of(data: bytes | BinaryIO) -> int:
    return len(data) if isinstance(data, bytes) else os.fstat(data.fileno()).st_size


def _blocks(header: bytes, data: bytes | BinaryIO) -> Iterator[bytes]:
    yield header
    if isinstance(data, bytes):
        yield data
        return
    data.seek(0)
    while block := data.read(CHUNK_BYTES):
        yield block


def _send(pipe: int, to_send: memoryview, blocks: Iterator[bytes]) -> memoryview:
    """The rest that is still to be sent; empty when all was sent."""
    try:
        rest = to_send[os.write(pipe, to_send[:CHUNK_BYTES]) :]
        return rest or memoryview(next(blocks, b""))
    except BlockingIOError:
        return to_send
    except BrokenPipeError:
        return to_send[:0]  # the child ended early; what it said, or its exit status, tells why


def nonsense() -> DamagedPdf:
    problem = "The file made the reader fail in a way it never should."
    return DamagedPdf(problem, remedy="Do not trust this file; add a copy from its source.")


def too_much_memory(memory_bytes: int) -> LimitExceeded:
    return LimitExceeded(
        f"Reading the file took more than the {memory_bytes >> 20:,} MiB of memory allowed.",
        remedy="Print it to a new PDF, or split it into parts.",
    )


def _died(status: int, page: int) -> DamagedPdf | LimitExceeded:
    """The error for a child that ended without `done`; `status` as Popen gives it, `page` the one it was reading."""
    if status == -signal.SIGXCPU:
        return LimitExceeded(
            f"Reading the file took more computing time than allowed (at page {page}).",
            remedy="The file is far more complex than its size says: print it to a new PDF, or split it into parts.",
        )
    if status == -signal.SIGKILL:
        return LimitExceeded(
            f"Reading was ended by the system at page {page}, probably for want of memory.",
            remedy="Close other programs, or split the file into parts.",
        )
    return DamagedPdf(
        f"The file made the reader crash at page {page}.",
        remedy="Open it in a PDF viewer, save it again (print to PDF), and add that copy.",
    )


def _end(child: subprocess.Popen[bytes]) -> None:
    """Kill the child's whole process group, and leave neither a zombie nor an open pipe."""
    if child.poll() is None:
        with suppress(ProcessLookupError):  # it may have ended meanwhile
            os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            pipe.close()


def page_events(
    request: Mapping[str, object],
    data: bytes | BinaryIO,
    limits: Limits,
    *,
    max_line_bytes: int,
    cancelled: Cancel | None,
) -> Iterator[Event]:
    """The events of a file up to `done`, as `events`; where no page can be read, it raises how the first one ended."""
    far, ended, wall = _Far(limits.memory_bytes), list[DamagedPdf | LimitExceeded](), limits.wall_seconds
    while True:
        said = {**request, "first": far.told + 1}
        try:
            said_by_child = events(said, data, wall_seconds=wall, max_line_bytes=max_line_bytes, cancelled=cancelled)
            with closing(said_by_child):
                yield from filter(far.is_news, said_by_child)
            break
        except (LimitExceeded, DamagedPdf) as error:
            if not isinstance(error.__cause__, Died):
                raise
            ended.append(error)
        yield from far.passed_over(_why(ended[-1]), 1)
        if len(ended) > MAX_ENDED:
            yield from far.passed_over(_NOT_READ, far.count - far.told)
        if far.told >= far.count:
            break
    if ended and not far.legible:
        raise ended[0]


class _Far:
    """How far a file was read: `told` pages of `count`, of which `legible` are no loss."""

    def __init__(self, memory_bytes: int) -> None:
        self._memory_bytes = memory_bytes
        self.count = self.told = self.legible = 0

    def is_news(self, event: Event) -> bool:
        """Whether to hand on an event, which is counted; raises LimitExceeded, or DamagedPdf for a wrong page."""
        match event["event"]:
            case "open":
                is_first, self.count = not self.count, int(event["count"])
                return is_first
            case "page":
                self.told += 1
                self.legible += bool(event.get("w"))
                if event["n"] != self.told:
                    raise nonsense()
            case "failed" if event["kind"] == "memory" and self.told < self.count:
                raise too_much_memory(self._memory_bytes) from Died()
        return True

    def passed_over(self, problem: str, pages: int) -> Iterator[Event]:
        """The events of the next pages, which cannot be read; none behind the last one."""
        for _ in range(min(pages, self.count - self.told)):
            self.told += 1
            yield {"event": "page", "n": self.told, "source": "unreadable", "problem": problem}


def _why(error: DamagedPdf | LimitExceeded) -> str:
    if isinstance(error, DamagedPdf):
        return "This page made the reader crash."
    what = "memory" if "memory" in error.problem else "computing time"
    return f"Reading this page took more {what} than allowed."
