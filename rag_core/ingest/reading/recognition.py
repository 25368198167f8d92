"""Has the pages of a scan read, several at once, each in a process of its own; hands them on in their order.

The process that opens the PDF draws a page; what is passed on here is packed pixels, which this process never unpacks.
A page on which an engine hangs, crashes or takes all memory is reported as unreadable, and the others go on. What was
read can be kept, so that a reading that was killed goes on at the page it was at.
"""

from __future__ import annotations

import base64
import hashlib
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from rag_core.domain.documents import Page
from rag_core.domain.ports import Cancel
from rag_core.domain.scanned import RAPIDOCR, TESSERACT
from rag_core.errors import Cancelled, IngestError, LimitExceeded
from rag_core.ingest.layout import sure_share, with_part
from rag_core.ingest.limits import Limits
from rag_core.ingest.reading import pdf_process
from rag_core.ingest.reading.ocr_engines import Fitting, fitting, most_at_once, tried
from rag_core.ingest.reading.pdf_process import Event

MAX_PROCESSES = 16  # each takes a core, and by Tesseract about 200 MB
WAIT_S = 0.05  # how long a cancel may go unnoticed
WALL_FACTOR = 4  # times the CPU seconds a page may take: on a busy machine it waits more than it works
# letters and digits that are read beside a page's own text at least, and the share of them that is sure; chosen
FEW_LETTERS, MOSTLY_SURE = 20, 0.7
HELD_BYTES = 64 << 20  # pictures that wait or are being read; a page of print is packed to 0.4 MB, a noisy one to 4 MB


class Kept(Protocol):
    """The readings of pictures made before, by a key that names the picture and all it is read with."""

    def get(self, key: str) -> Event | None:
        """The event that was put under the key."""

    def put(self, key: str, event: Event) -> None:
        """Keep an event."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A page event and its picture, which is being read; None where it has none."""

    event: Event
    read: Future[Event] | None = None
    bytes: int = 0


class Recognition:
    """Reads the pictures of one file. Use it in a `with`: nothing of it runs afterwards.

    Args:
        request: what every reading is told: memory, languages and the like, as `rag_core.ingest.reading.pdf` tells its
            child.
        limits: of time.
        kept: what was read before; None to keep nothing.
        cancelled: asked about twenty times a second while a page is waited for.
    """

    def __init__(
        self, request: Mapping[str, object], limits: Limits, kept: Kept | None, cancelled: Cancel | None
    ) -> None:
        self._request, self._limits, self._kept, self._cancelled = request, limits, kept, cancelled
        self._processes = min(MAX_PROCESSES, cores(), most_at_once(RAPIDOCR if request["weights"] else TESSERACT))
        self._threads = ThreadPoolExecutor(self._processes, thread_name_prefix="ocr")
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._spent, self._running = 0.0, dict[int, float]()

    def __enter__(self) -> Recognition:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()  # each thread kills its process within `pdf_process.POLL_S`
        self._threads.shutdown(cancel_futures=True)

    def in_order(self, events: Iterator[Event]) -> Iterator[Event]:
        """The same events, those of pages with what was read of their pictures; raises Cancelled.

        No more pictures are held than `HELD_BYTES` and twice as many as there are processes: `events` then waits.
        """
        waiting: deque[_Waiting] = deque()
        for event in events:
            waiting.append(self._begun(event))
            while waiting and (self._is_full(waiting) or waiting[0].read is None or waiting[0].read.done()):
                yield self._ended(waiting.popleft())
        while waiting:
            yield self._ended(waiting.popleft())

    def _begun(self, event: Event) -> _Waiting:
        picture = event.pop("picture", None)
        if picture is None:
            return _Waiting(event)
        data = base64.b64decode(picture["zip"], validate=True)
        shape = {name: int(picture[name]) for name in ("width", "height", "dpi")}
        return _Waiting(event, self._threads.submit(self._read, data, shape, int(event["n"])), len(data))

    def _is_full(self, waiting: deque[_Waiting]) -> bool:
        pictures = [one for one in waiting if one.read is not None and not one.read.done()]
        return len(pictures) > 2 * self._processes or sum(one.bytes for one in waiting) > HELD_BYTES

    def _ended(self, one: _Waiting) -> Event:
        if one.read is None:
            return one.event
        while not one.read.done():
            if self._cancelled is not None and self._cancelled():
                raise Cancelled("Reading was stopped.", remedy="Nothing was changed; add the file again at any time.")
            with suppress(TimeoutError):
                one.read.exception(WAIT_S)
        return _joined(one.event, one.read.result())

    def _read(self, data: bytes, shape: Mapping[str, int], number: int) -> Event:
        """The event `recognised` of a picture; `unreadable` says why there is none."""
        names = ("languages", "tessdata", "weights", "page_chars", "page_words")
        said = {**shape, **{name: self._request[name] for name in names}}
        key = hashlib.sha256(repr(sorted(said.items())).encode() + data).hexdigest()
        if self._kept is not None and (known := self._kept.get(key)) is not None:
            return known
        with self._lock:
            now = time.monotonic()
            if self._spent + sum(now - began for began in self._running.values()) >= self._limits.ocr_seconds:
                return _unreadable(
                    f"and the {self._limits.ocr_seconds:g} s allowed for reading pictures in one file are spent."
                )
            self._running[number] = now
        try:
            event = self._recognised(data, said)
            if said["weights"] and said["languages"] and event.get("engine") != RAPIDOCR:
                event = self._recognised(data, {**said, "weights": ""})
        except LimitExceeded:
            return _unreadable("and text recognition failed on it: it took more time or memory than a page is allowed.")
        except IngestError:
            return _unreadable("and text recognition failed on it.")
        finally:
            with self._lock:
                self._spent += time.monotonic() - self._running.pop(number)
        if self._kept is not None:
            self._kept.put(key, event)
        return event

    def _recognised(self, data: bytes, said: Mapping[str, object]) -> Event:
        """A picture as read in the languages that fit it. Those of a page left to Tesseract are found by Tesseract."""
        fits = self._fitting(data, said)
        if fits.unreadable and not said["weights"]:
            return _unreadable(fits.unreadable)
        event = self._asked("recognise", "recognised", data, {**said, "languages": fits.languages})
        if fits.problem and event.get("engine") == TESSERACT:
            event["problem"] = f"{event['problem']} {fits.problem}".strip()
        return event

    def _fitting(self, data: bytes, said: Mapping[str, object]) -> Fitting:
        """The languages that fit a picture."""
        installed = str(said["languages"]).split("+") if said["languages"] else []
        if not installed:
            return Fitting("")
        looked = self._asked("look", "looked", data, {**said, "languages": tried(installed, said["weights"])})
        return fitting(str(looked["script"]), str(looked["text"]), installed)

    def _asked(self, what: str, answer: str, data: bytes, said: Mapping[str, object]) -> Event:
        seconds = self._limits.ocr_seconds_per_page
        limits = {"cpu_seconds": seconds, "cpu_seconds_per_page": 0, "ocr_seconds": 0}
        request = {**self._request, **limits, what: said, "password": ""}
        wall, most = WALL_FACTOR * seconds, pdf_process.PAGE_LINE_BYTES
        answers = pdf_process.events(request, data, wall_seconds=wall, max_line_bytes=most, cancelled=self._stop.is_set)
        for event in answers:
            if event["event"] != answer:
                break
            return event
        raise IngestError("Text recognition failed.", remedy="Add a clearer scan.")


def _joined(page: Event, read: Event) -> Event:
    """A page event with what was read of its picture, where that is more than its own text."""
    damage, in_part = str(page["problem"]), page["source"] == "text"
    if "unreadable" in read:
        what, source = ("Part of this page", "text") if in_part else ("This page", "unreadable")
        return {**page, "source": source, "problem": f"{what} is a picture {read['unreadable']} {damage}".strip()}
    text, own = str(read["text"]), str(page["text"])
    if in_part:
        if sum(map(str.isalnum, text)) < FEW_LETTERS:  # a logo, or what a photo was taken for
            return page
        if sure_share(read) < MOSTLY_SURE:
            return {**page, "problem": f"Part of this page is a picture that was not read. {damage}".strip()}
        more = {"source": "ocr", "engine": read["engine"], "problem": f"{read['problem']} {damage}".strip()}
        return {**page, **more, **with_part(page, read)}
    if len(text) > len(own) and any(map(str.isalnum, text)):
        layout = {name: read[name] for name in ("words", "lines", "cells", "engine")}
        return {**page, **layout, "text": text, "source": "ocr", "problem": f"{read['problem']} {damage}".strip()}
    if own:  # a picture with a caption: the text layer was all there is to read
        return {**page, "source": "text"}
    return {**page, "problem": f"This page is a picture and text recognition found nothing on it. {damage}".strip()}


def _unreadable(why: str) -> Event:
    return {"event": "recognised", "unreadable": why}


_most_cores: int | None = None


def use_cores(number: int) -> None:
    """Have this process use so many cores at most: others of its kind work beside it."""
    global _most_cores
    _most_cores = number


def cores() -> int:
    """The cores that this process may use."""
    if _most_cores is not None:
        return _most_cores
    with suppress(AttributeError):  # macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def counting(keep: Callable[[Page], Page], limits: Limits) -> Callable[[Page], Page]:
    """`keep` for pages one after the other, that raises LimitExceeded where they have more together than a file may."""
    so_far = {"characters": 0, "words": 0, "rows": 0}

    def counted(page: Page) -> Page:
        found = {"characters": page.text, "words": page.words, "rows": page.lines}
        for (what, more), most in zip(found.items(), (limits.chars, limits.words, limits.rows), strict=True):
            so_far[what] += len(more)
            if so_far[what] > most:
                problem = f"The file has more than {most:,} {what} (reached on page {page.number})."
                raise LimitExceeded(problem, remedy="Split it into parts.")
        return keep(page)

    return counted
