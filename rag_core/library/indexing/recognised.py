"""The readings of a scan's pictures so far, one line a picture, written as it comes: a reading that was killed goes on from there.

A line counts by the hash in it: one that was cut short when the process was killed is read again from its picture. The file goes away with
the end of the reading.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from contextlib import suppress
from pathlib import Path

from rag_core.ingest.reading.pdf_process import Event
from rag_core.library.disk.private import FILE_MODE

RECOGNISED = "recognised.jsonl"
MAX_BYTES = 256 << 20  # on disk; a dense page takes 150 kB, so 1,700 of them: what comes after is read again after a kill
KEY_CHARS = HASH_CHARS = 64  # SHA-256 in hexadecimal digits


class RecognisedPages:
    """The pages that were recognised, by key, in a file in `folder`, which must exist. It is safe to share between threads."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / RECOGNISED
        self._lock = threading.Lock()
        self._places: dict[str, tuple[int, int]] = {}
        self._size = 0
        with suppress(OSError), self._path.open("rb") as file:
            for line in file:
                if _is_whole(line):
                    self._places[line[:KEY_CHARS].decode("ascii", "replace")] = self._size, len(line)
                self._size += len(line)

    def get(self, key: str) -> Event | None:
        """The reading under the key; None where nothing is kept, or it can no longer be read."""
        with self._lock:
            place = self._places.get(key)
        if place is None:
            return None
        with suppress(OSError, ValueError), self._path.open("rb") as file:
            file.seek(place[0])
            line = file.read(place[1])
            if _is_whole(line):
                return dict(json.loads(line[KEY_CHARS + HASH_CHARS :]))
        return None

    def put(self, key: str, event: Event) -> None:
        """Keep what was read; where the disk refuses it, it is not kept and the reading goes on."""
        text = json.dumps(event, ensure_ascii=False).encode()
        line = key.encode() + hashlib.sha256(text).hexdigest().encode() + text + b"\n"
        with self._lock, suppress(OSError):
            if self._size + len(line) > MAX_BYTES:
                return
            with open(os.open(self._path, os.O_RDWR | os.O_CREAT, FILE_MODE), "r+b") as file:
                at = file.seek(0, os.SEEK_END)
                if at and (file.seek(at - 1), file.read(1))[1] != b"\n":  # a line that was cut short
                    at += file.write(b"\n")
                file.write(line)
            self._places[key], self._size = (at, len(line)), at + len(line)

    def forget(self) -> None:
        """Take the file away: the reading is complete, or is to be made anew."""
        with suppress(OSError):
            self._path.unlink()


def _is_whole(line: bytes) -> bool:
    said, text = line[KEY_CHARS : KEY_CHARS + HASH_CHARS], line[KEY_CHARS + HASH_CHARS :].rstrip(b"\n")
    return hashlib.sha256(text).hexdigest().encode() == said
