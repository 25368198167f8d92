"""Sweeps away what killed processes leave in a collection's folder: drafts of files, and half-made documents.

Called by the writer, who holds the lock: no other process is writing what is swept here.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

OTHERS_SECONDS = 3600.0  # a calibration is drafted without the lock, in seconds: a younger draft may be somebody's
_LOCKED = ("CURRENT", "inbox.json", "lock.json")  # written under the lock alone


def sweep(root: Path, unfinished: Collection[str]) -> None:
    """Delete drafts, and the work folders of sources that are not among the `unfinished` (digests). What cannot be deleted stays."""
    oldest = time.time() - OTHERS_SECONDS
    for path in root.glob(".*.tmp"):
        with suppress(OSError):
            if path.name.startswith(tuple(f".{name}." for name in _LOCKED)) or path.stat().st_mtime < oldest:
                path.unlink()
    for path in (*root.glob("manifests/.*.tmp"), *root.glob("sources/*.tmp")):
        with suppress(OSError):
            path.unlink()
    for path in root.glob("work/*"):
        if path.name.split("-")[0] not in unfinished:
            shutil.rmtree(path, ignore_errors=True)
