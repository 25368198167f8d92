"""The most memory that indexing 2,000 pages takes: of the whole process tree, as proportional set size (PSS)."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.peers import pdfs
from tests.bench.peers.turns import OURS, ROOT, Figure

PAGES = 2_000
TARGET_GB = 1.2  # 10^9 bytes; of the issue that asked for it
LOOK_SECONDS = 0.25  # between two looks: what is held for less than that may be missed


def tree_bytes(pid: int) -> int:
    """PSS of the process and all below it: its own pages, and of those that it shares with other processes its part.

    Files that are mapped, such as libraries, are among them. What ended meanwhile counts nothing. A child that does not
    run its own program yet has its parent's memory (vfork), which would count twice.
    """
    tree, total = [(pid, b"")], 0
    for one, parent in tree:
        try:
            runs = Path(f"/proc/{one}/cmdline").read_bytes()
            rows = Path(f"/proc/{one}/smaps_rollup").read_text(encoding="utf-8")
            if runs != parent:
                total += next(int(line.split()[1]) for line in rows.splitlines() if line.startswith("Pss:")) << 10
            for task in Path(f"/proc/{one}/task").iterdir():
                tree += [(int(child), runs) for child in (task / "children").read_text().split()]
        except (OSError, StopIteration):
            continue
    return total


def figures(pages: int = PAGES) -> list[Figure]:
    """The most that was seen, in 10^9 bytes; none where the system does not say it.

    Raises:
        RuntimeError: indexing failed.
    """
    if not Path("/proc/self/smaps_rollup").exists():
        return []
    with tempfile.TemporaryDirectory() as folder:
        made = pdfs.make(Path(folder), pages)
        command = [sys.executable, "-m", "tests.bench.peers.ours", *map(str, made)]
        most = 0
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            while process.poll() is None:
                most = max(most, tree_bytes(process.pid))
                time.sleep(LOOK_SECONDS)
            said = process.stdout.read().strip()
            if process.returncode:
                raise RuntimeError(f"{OURS} failed over {pages} pages")
    print(f"  {pages:,} pages in {len(made)} files: {said}")
    return [(f"memory of indexing {pages:,} pages, all processes, PSS", most / 1e9, TARGET_GB, "GB")]
