"""Reads a file on where one of its pages ends the reader: the page is reported as unreadable, and a new process reads those behind it.

A plan with a million lines, or a picture that crashes MuPDF, then costs a report its own page and not the other 300. Each process has the
limits of the first one, and few pages may end a reader.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import BinaryIO

from rag_core.domain.ports import Cancel
from rag_core.errors import DamagedPdf, LimitExceeded
from rag_core.ingest.limits import Limits
from rag_core.ingest.reading import pdf_process
from rag_core.ingest.reading.pdf_process import Died, Event

MAX_ENDED = 5  # pages of a file that may end a reader; those behind the next one are not read, since each may take all of the time allowed
_NOT_READ = "This page was not read, since too many pages before it made the reader end."


def page_events(
    request: Mapping[str, object],
    data: bytes | BinaryIO,
    limits: Limits,
    *,
    max_line_bytes: int,
    cancelled: Cancel | None,
) -> Iterator[Event]:
    """The events of a file that is read, in order, up to and without `done`: see `pdf_process.events` for the rest.

    Raises:
        LimitExceeded, DamagedPdf: as there; how the first page ended the reader where no page can be read, or where it ended before any.
    """
    far, ended, wall = _Far(limits.memory_bytes), list[DamagedPdf | LimitExceeded](), limits.wall_seconds
    while True:
        said = {**request, "first": far.told + 1}
        try:
            events = pdf_process.events(said, data, wall_seconds=wall, max_line_bytes=max_line_bytes, cancelled=cancelled)
            with closing(events):
                yield from filter(far.is_news, events)
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
        """Whether to hand on an event, which is counted; each process opens the file anew.

        Raises:
            LimitExceeded: by `Died`, a page takes too much memory.
            DamagedPdf: it is another page than was asked for.
        """
        match event["event"]:
            case "open":
                is_first, self.count = not self.count, int(event["count"])
                return is_first
            case "page":
                self.told += 1
                self.legible += bool(event["w"])
                if event["n"] != self.told:
                    raise pdf_process.nonsense()
            case "failed" if event["kind"] == "memory" and self.told < self.count:
                raise pdf_process.too_much_memory(self._memory_bytes) from Died()
        return True

    def passed_over(self, problem: str, pages: int) -> Iterator[Event]:
        """The events of the next pages, which cannot be read; none behind the last one."""
        nothing = {"words": "", "lines": "", "cells": "", "text": "", "hidden": 0, "sample": "", "kinds": {}}
        for _ in range(min(pages, self.count - self.told)):
            self.told += 1
            yield {"event": "page", "n": self.told, "w": 0.0, "h": 0.0, "source": "unreadable", "problem": problem, **nothing}


def _why(error: DamagedPdf | LimitExceeded) -> str:
    """The problem of a page that ended the reader."""
    if isinstance(error, DamagedPdf):
        return "This page made the reader crash."
    what = "memory" if "memory" in error.problem else "computing time"
    return f"Reading this page took more {what} than allowed."
