"""Notes of a running `serve` about itself beside the collections, so that `doctor` can say what is open; removed when it ends."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from rag_core.library.disk.files import storage_problems, write_atomically
from rag_core.library.disk.private import make_folder

FILE = ".serving.json"
NO_LIMIT = "max"  # as the kernel writes it


@dataclass(frozen=True, slots=True)
class Serving:
    """A service that runs: its process, where it listens, the name a proxy serves it under ("" for none), each caller's calls a minute.

    `visit_minutes` is how long a visitor may be away; 0 where it takes no visitors.
    """

    pid: int
    host: str
    port: int
    proxy: str
    rate: int
    page: bool
    visit_minutes: int = 0


@dataclass(frozen=True, slots=True)
class Process:
    """A process as the kernel tells of it. `umask` and `memory` are None where that is not told, or not limited."""

    uid: int
    umask: int | None
    memory: int | None


@contextmanager
def noted(folder: Path, serving: Serving) -> Iterator[None]:
    """Leave the note within the block."""
    with storage_problems("noting that the service runs"):
        make_folder(folder)
        write_atomically(folder / FILE, json.dumps(asdict(serving)).encode())
    try:
        yield
    finally:
        if (now := read(folder)) is None or now.pid == serving.pid:  # not the note of another that was started since
            with suppress(OSError):
                (folder / FILE).unlink()


def read(folder: Path) -> Serving | None:
    """The service that runs over a library; None where there is none, or its process is gone."""
    try:
        found = Serving(**json.loads((folder / FILE).read_bytes()))
        os.kill(found.pid, 0)
    except PermissionError:  # somebody else's, and alive
        return found
    except (OSError, ValueError, TypeError):
        return None
    return found


def process(pid: int) -> Process | None:
    """A process of this machine; None where there is no `/proc`, or no such process."""
    place = Path("/proc") / str(pid)
    try:
        status = (place / "status").read_text(encoding="ascii", errors="replace")
        groups = (place / "cgroup").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    uid, umask = re.search(r"^Uid:\s+(\d+)", status, re.MULTILINE), re.search(r"^Umask:\s+([0-7]+)", status, re.MULTILINE)
    group = re.search(r"^0::(/.*)$", groups, re.MULTILINE)
    return Process(int(uid[1]) if uid else -1, int(umask[1], 8) if umask else None, _memory(group[1]) if group else None)


def _memory(group: str) -> int | None:
    """The lowest limit of a control group and those above it."""
    place, limits = Path("/sys/fs/cgroup") / group.lstrip("/"), []
    for folder in (place, *place.parents):
        with suppress(OSError, ValueError):
            said = (folder / "memory.max").read_text(encoding="ascii").strip()
            limits += [] if said == NO_LIMIT else [int(said)]
    return min(limits, default=None)
