"""Plays the process that serves everybody, for one copy after another: each is added to a library of its own and read
back.

`python -m tests.campaign.reader SEEDS SEED` reads numbers of copies, one a line, and writes one JSON object for each.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from library_kit import SETTINGS, library

from rag_core.errors import RagError
from rag_core.library.stored.sources import Source
from tests.campaign.mutations import Copy, copy_of

Words = Counter[str]


def read(copy: Copy, folder: Path) -> dict[str, Any]:
    """What became of a copy. `raw` is there for an exception that no user should see."""
    try:
        words, problems, refused = _added(copy.data, folder)
    except RagError as error:  # the library itself refused: no file may bring it to that
        return {"raw": f"{error.kind}: {error.problem}"}
    except Exception:
        return {"raw": traceback.format_exc(limit=-4)}
    if refused is not None:
        return {
            "refused": refused.kind,
            "limit": re.sub(r"[\d,.]+", "N", refused.problem) if refused.kind == "LimitExceeded" else "",
        }
    row: dict[str, Any] = {"read": True}
    if copy.whole is not None:
        whole, usual = _whole(copy.whole)
        if whole:
            row["lost"] = 1 - (words & whole).total() / whole.total()
            row["noted"] = bool(set(problems) - set(usual))
    return row


def _added(data: bytes, folder: Path) -> tuple[Words, tuple[str, ...], RagError | None]:
    """The words and the notes of a file, after its way through a library; or why it was refused."""
    try:
        opened = library(folder)
        report = opened.add([Source("copy.pdf", data, "pdf")], SETTINGS)
        if report.problems:
            return Counter(), (), report.problems[0][1]
        opened.verify()
        (document,) = opened.snapshot.documents
        pages = (opened.snapshot.page_text(document.id, number) for number in range(1, document.page_count + 1))
        return Counter(word for page in pages for word in page.split()), document.problems, None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@cache
def _whole(seed: Path) -> tuple[Words, tuple[str, ...]]:
    with tempfile.TemporaryDirectory(prefix="campaign-") as folder:
        words, problems, _ = _added(seed.read_bytes(), Path(folder) / "library")
    return words, problems


def peak_mib() -> int:
    """The most memory that this process ever took, in MiB."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) >> 10


def main(folder: str, seed: str) -> None:
    """Read numbers until there are no more."""
    seeds = sorted(Path(folder).iterdir())
    with tempfile.TemporaryDirectory(prefix="campaign-") as scratch:
        for line in sys.stdin:
            copy = copy_of(seeds, int(seed), int(line))
            if copy.whole is not None:
                _whole(copy.whole)  # not a part of what the copy costs
            started = time.monotonic()
            row = read(copy, Path(scratch) / "library")
            row |= {
                "number": int(line),
                "name": copy.name,
                "kinds": copy.kinds,
                "seconds": time.monotonic() - started,
                "peak": peak_mib(),
            }
            sys.stdout.write(json.dumps(row) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
