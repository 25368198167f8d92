"""A process beside this one and the messages to it: a JSON head and a body of raw bytes, never a pickle."""

from __future__ import annotations

import json
import logging
import os
import socket
import struct
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import IO, Any, cast

MAX_BYTES = 1 << 28  # a head or a body: the text of far more pages than a file may have; more is a fault
_LENGTHS = struct.Struct("!II")  # bytes of the head and of the body

Head = dict[str, Any]


def write(stream: IO[bytes], head: Mapping[str, object], body: bytes = b"") -> None:
    """Send one message; raises ValueError, with nothing sent, beyond `MAX_BYTES`, OSError where nobody reads."""
    packed = json.dumps(head).encode()
    _require_short(len(packed), len(body))
    stream.write(_LENGTHS.pack(len(packed), len(body)))
    stream.write(packed)
    stream.write(body)
    stream.flush()


def read(stream: IO[bytes]) -> tuple[Head, bytes]:
    """Wait for one message; raises EOFError where the other side ended, ValueError where what came is none."""
    head_bytes, body_bytes = _LENGTHS.unpack(_exactly(stream, _LENGTHS.size))
    _require_short(head_bytes, body_bytes)
    head = json.loads(_exactly(stream, head_bytes))
    if not isinstance(head, dict):
        raise ValueError(f"the head of a message must be an object, got {type(head).__name__}")
    return head, _exactly(stream, body_bytes)


def own_standard_output() -> IO[bytes]:
    """A child's pipe to its parent; what a library prints goes to standard error from now on."""
    pipe = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return os.fdopen(pipe, "wb")


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError("the other side ended")
    return data


def _require_short(*sizes: int) -> None:
    if max(sizes) > MAX_BYTES:
        raise ValueError(f"a message of {max(sizes)} bytes is longer than the {MAX_BYTES} allowed")


ROOT = Path(__file__).resolve().parents[3]  # the repository: the process imports rag_core from there
LINE_BYTES = 4096  # in a line of its standard error; longer ones are cut into pieces
LAST_WORDS_CHARS = 200  # characters of the line that an error quotes from a process that ended; chosen


class Started:
    """A module run in a process of its own, and pipes to it; its standard error goes to `log`. Raises OSError.

    With more `channels` than its standard input and output it gets sockets, whose numbers are its arguments.
    """

    def __init__(
        self, module: str, environment: Mapping[str, str], log: logging.Logger, name: str, channels: int = 1
    ) -> None:
        pairs = [socket.socketpair() for _ in range(channels - 1)]
        others = [theirs.fileno() for _, theirs in pairs]
        path = os.pathsep.join(filter(None, [str(ROOT), environment.get("PYTHONPATH")]))
        # -P: the folder where the program was started may hold a file named like a module
        with ExitStack() as closing:
            for one in chain(*pairs):
                closing.enter_context(one)
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", module, *map(str, others)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**environment, "PYTHONPATH": path},
                pass_fds=others,
            )
            both = [cast(IO[bytes], ours.makefile("rwb")) for ours, _ in pairs]  # which keep them open
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.requests, self.replies = self.process.stdin, self.process.stdout
        self.channels: list[tuple[IO[bytes], IO[bytes]]] = [
            (self.requests, self.replies),
            *zip(both, both, strict=True),
        ]
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
