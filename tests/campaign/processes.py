"""Ends a process at a moment of the controller's choosing, and finds what it leaves behind."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

Started = tuple[int, str]  # id and time of start: ids are used again


def end(id: int, *, children_too: bool) -> list[Started]:
    """Kill a process as it is, without a word, and give its descendants at that moment; `children_too` kills them as
    well.
    """
    with suppress(ProcessLookupError):
        os.kill(id, signal.SIGSTOP)  # it starts no other one meanwhile
        _until_stopped(id)
        below = descendants(id)
        os.kill(id, signal.SIGKILL)
        for child, _ in below if children_too else ():
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        return below
    return []


def descendants(id: int) -> list[Started]:
    """Its children, theirs, and so on."""
    found: list[Started] = []
    with suppress(OSError):
        for task in Path(f"/proc/{id}/task").iterdir():
            for child in map(int, (task / "children").read_text(encoding="ascii").split()):
                found += [(child, _start(child)), *descendants(child)]
    return found


def seconds_alive(processes: list[Started], most: float) -> float:
    """How long it takes until none of them runs, in seconds; infinite where one runs after `most`, which is then
    ended.
    """
    begun = time.monotonic()
    while running := [one for one in processes if _runs(one)]:
        if time.monotonic() - begun > most:
            for child, _ in running:
                os.kill(child, signal.SIGKILL)
            return float("inf")
        time.sleep(0.02)
    return time.monotonic() - begun


def _until_stopped(id: int) -> None:
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and _state(id) not in ("T", "Z", ""):
        time.sleep(0.001)


def _runs(process: Started) -> bool:
    return _state(process[0]) not in ("", "Z", "X") and _start(process[0]) == process[1]


def _state(id: int) -> str:
    return _fields(id)[0]


def _start(id: int) -> str:
    return _fields(id)[-1]


def _fields(id: int) -> tuple[str, str]:
    """Its state, and when it was started; empty where there is none."""
    try:
        fields = Path(f"/proc/{id}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return "", ""
    return fields[0], fields[19]
