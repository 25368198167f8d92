"""Messages between a process and its child over pipes: a JSON head and a body of raw bytes.

The length of each comes first.

No pickle: what is received is data, whoever sent it.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from collections.abc import Mapping
from typing import IO, Any

MAX_BYTES = 1 << 28  # a head or a body: the text of far more pages than a file may have; more is a fault
_LENGTHS = struct.Struct("!II")  # bytes of the head and of the body

Head = dict[str, Any]


def write(stream: IO[bytes], head: Mapping[str, object], body: bytes = b"") -> None:
    """Send one message.

    Raises:
        ValueError: head or body is longer than `MAX_BYTES`; nothing was sent.
        OSError: nobody reads any more.
    """
    packed = json.dumps(head).encode()
    _require_short(len(packed), len(body))
    stream.write(_LENGTHS.pack(len(packed), len(body)))
    stream.write(packed)
    stream.write(body)
    stream.flush()


def read(stream: IO[bytes]) -> tuple[Head, bytes]:
    """Wait for one message.

    Raises:
        EOFError: the other side ended, between two messages or within one.
        ValueError: what came is not a message.
    """
    head_bytes, body_bytes = _LENGTHS.unpack(_exactly(stream, _LENGTHS.size))
    _require_short(head_bytes, body_bytes)
    head = json.loads(_exactly(stream, head_bytes))
    if not isinstance(head, dict):
        raise ValueError(f"the head of a message must be an object, got {type(head).__name__}")
    return head, _exactly(stream, body_bytes)


def own_standard_output() -> IO[bytes]:
    """A child's pipe to its parent; what a library prints goes to standard error from now on, and not between two
    messages.
    """
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
