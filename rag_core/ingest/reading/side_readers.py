"""Has the later pages of a long PDF read by further processes, beside the one that reads it from its first page on.

What they read counts only where all of it is sound: then it takes the place of what the first process would have read. Where anything is
odd (a problem, a picture, a broken file, a limit) it is thrown away, and the first process, which never stopped, is the only one that
counts. So the outcome is that of one process, whatever the file does.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import BinaryIO

from rag_core.domain.ports import Cancel
from rag_core.errors import RagError
from rag_core.ingest.layout import LINE_NUMBERS, WORD_NUMBERS
from rag_core.ingest.limits import Limits
from rag_core.ingest.reading import pdf_process
from rag_core.ingest.reading.pdf_process import Event

MIN_PAGES = 24  # for each process: a page takes about .015 s, and the start of a process .3 s
MAX_READERS = 4  # processes for one file, the first one among them; each holds the file, and this process takes what all of them send
HELD_BYTES = 32 << 20  # what they have read may take so much, as it was sent; a dense page takes 50 KB
THREAD = "pages"  # the name of the threads that hear the processes
LAG = 4  # pages that the first process reads while the others start


class SideReaders:
    """The further processes of one file. Use it in a `with`: nothing of it runs afterwards.

    Args:
        request: as `pdf_process.events` takes it.
        data: the file; one that is open must be at a place of its own on disk, as each process is sent all of it.
        limits: of each process, and of all pages together.
        readers: processes for the file in all.
        cancelled: asked about ten times a second.
    """

    def __init__(
        self, request: Mapping[str, object], data: bytes | BinaryIO, limits: Limits, readers: int, cancelled: Cancel | None
    ) -> None:
        self._request, self._data, self._limits, self._cancelled = request, data, limits, cancelled
        self._most = min(readers, MAX_READERS)
        self._odd = threading.Event()
        self._threads: list[threading.Thread] = []
        self._found: list[list[Event]] = []
        self._lock = threading.Lock()
        self._held = self._first = 0
        self._told = [0, 0, 0]

    def __enter__(self) -> SideReaders:
        return self

    def __exit__(self, *_: object) -> None:
        self.give_up()
        for thread in self._threads:
            thread.join()

    def begin(self, count: int) -> None:
        """Start the processes for a file of so many pages; none where it is too short, or no PDF."""
        readers = min(self._most, count // MIN_PAGES)
        if readers < 2 or self._threads or self._request.get("form", "pdf") != "pdf":
            return
        starts = [LAG + (count - LAG) * number // readers + 1 for number in range(1, readers)]
        data = self._data if isinstance(self._data, bytes) else _all_of(self._data)
        self._first = starts[0]
        for first, last in zip(starts, [*(start - 1 for start in starts[1:]), count], strict=True):
            pages: list[Event] = []
            self._found.append(pages)
            thread = threading.Thread(target=self._read, args=(data, first, last, pages), daemon=True, name=THREAD)
            try:
                thread.start()
            except RuntimeError:  # the system gives no more threads: the first process reads all of it
                return self.give_up()
            self._threads.append(thread)

    def give_up(self) -> None:
        """End the processes; what they read does not count."""
        self._odd.set()

    def rest(self, event: Event) -> Sequence[Event]:
        """The pages behind the one of this event, which the first process read; empty as long as they are not all read, or do not count."""
        if event["event"] != "page" or not self._threads:
            return ()
        if event.get("repaired"):  # the first process has a note to add at its end
            self.give_up()
        self._told = [one + more for one, more in zip(self._told, _sizes(event), strict=True)]
        if self._odd.is_set() or int(event["n"]) < self._first - 1 or any(thread.is_alive() for thread in self._threads):
            return ()
        pages = [page for found in self._found for page in found if page["n"] > event["n"]]
        together = [sum(sizes) for sizes in zip(self._told, *map(_sizes, pages), strict=True)]
        if self._odd.is_set() or any(size > most for size, most in zip(together, self._most_sizes(), strict=True)):
            return ()
        return pages

    def _most_sizes(self) -> tuple[int, int, int]:
        return self._limits.chars, self._limits.words, self._limits.rows

    def _read(self, data: bytes, first: int, last: int, pages: list[Event]) -> None:
        said = {**self._request, "first": first, "last": last}
        most = pdf_process.PAGE_LINE_BYTES
        try:
            events = pdf_process.events(said, data, wall_seconds=self._limits.wall_seconds, max_line_bytes=most, cancelled=self._is_stopped)
            with closing(events):
                for event in events:
                    if event["event"] != "open" and not self._is_sound(event, first + len(pages)):
                        self._odd.set()
                        return
                    if event["event"] == "page":
                        pages.append(event)
            if len(pages) != last - first + 1:
                self._odd.set()
        except (RagError, OSError, KeyError, TypeError, ValueError):  # the first process meets it as well, and says it
            self._odd.set()

    def _is_stopped(self) -> bool:
        return self._odd.is_set() or (self._cancelled is not None and self._cancelled())

    def _is_sound(self, event: Event, number: int) -> bool:
        """Whether a page would be the same to a process that read those before it, too."""
        if event["event"] != "page" or event["n"] != number or event["problem"] or event.get("picture") or event.get("repaired"):
            return False
        with self._lock:
            self._held += sum(len(event[name]) for name in ("text", "words", "lines", "cells"))
            return self._held <= HELD_BYTES


def _sizes(event: Event) -> tuple[int, int, int]:
    """Characters, words and rows of a page; base64 has four characters for three bytes, and a number has eight bytes."""
    numbers = [len(str(event[name])) * 3 // 4 // 8 for name in ("words", "lines")]
    return len(str(event["text"])), numbers[0] // WORD_NUMBERS, numbers[1] // LINE_NUMBERS


def _all_of(data: BinaryIO) -> bytes:
    """The whole file, read beside whoever reads it on: the place where the next block starts stays."""
    place = data.tell()
    data.seek(0)
    found = data.read()
    data.seek(place)
    return found
