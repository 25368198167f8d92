"""A command that is told to end first gives up what it holds: temporary folders, child processes, the writer's lock."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Terminated(KeyboardInterrupt):
    """SIGTERM: everything is left as by Ctrl+C."""


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Within the block SIGTERM raises `Terminated`.

    Only in the main thread: elsewhere signals cannot be handled, and nothing is done.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _end(number: int, frame: FrameType | None) -> None:
    raise Terminated
