"""Threads that work on parts of one task side by side, one for each core that torch uses.

Left alone, torch parts each operation of a network among the cores, and all of them wait for each other at its end. A
network has hundreds of them, most of them short. A part of the texts for each core, on one thread of its own, gives the
same bits on two cores in 84 % of the time for 16 passages, in 63 % for 12 sentences that are read with a question, and
in half for 24 sentences (measured; docs/decisions/23-speed.md).
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from heapq import heapreplace
from typing import TypeVar

MAX_CORES = 16  # indexing gives 16 texts at a time; each core keeps memory for its part
# bytes; measured at 32, 64 and 256 MB: 64 needs 60 MB more of a process, and less leaves half of it undone
KEPT = 64 << 20
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # as glibc's malloc.h numbers them

Part = TypeVar("Part")
Result = TypeVar("Result")


class Cores:
    """So many threads, in each of which torch works alone. Threads may share it, but not what is worked on in one."""

    def __init__(self, count: int) -> None:
        _keep_memory()
        self.count, self._tasks, self._lock = count, 0, threading.Lock()
        self._pool = ThreadPoolExecutor(count, "core")
        started = threading.Barrier(count + 1)
        try:
            for _ in range(count):  # each waits for all, so that each has a thread of its own
                self._pool.submit(_work_alone, started)
            _remember_threads(started)
        except BaseException:  # a thread cannot be started: the others would wait for ever
            started.abort()
            self._pool.shutdown(wait=False)
            raise

    @contextmanager
    def share(self) -> Iterator[int]:
        """Into how many parts a task within the block is parted: beside others into fewer, which read the weights less
        often.
        """
        with self._lock:
            self._tasks += 1
            count = max(1, self.count // self._tasks)
        try:
            yield count
        finally:
            with self._lock:
                self._tasks -= 1

    def each(self, work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
        try:
            results = self._pool.map(work, parts)
        # the main thread has ended, and with it the pool: a thread that the program waits for works alone
        except RuntimeError:
            return [work(part) for part in parts]
        return list(results)


def _keep_memory() -> None:
    """Have glibc keep what a forward pass gives back, up to `KEPT` bytes a thread, for the next one.

    By default the system gets it back and clears each page anew: 300 to 800 a passage, a tenth of the time.
    """
    with suppress(AttributeError, OSError):
        libc = ctypes.CDLL(None)
        libc.mallopt(M_MMAP_THRESHOLD, KEPT // 2)
        libc.mallopt(M_TRIM_THRESHOLD, KEPT)


def _work_alone(started: threading.Barrier) -> None:
    import torch

    try:
        # torch gives a thread the number of all threads when it first meets it, which must not come later
        torch.get_num_threads()
        torch.set_num_threads(1)
        started.wait()
    except BaseException:
        started.abort()
        raise


def _remember_threads(started: threading.Barrier) -> None:
    """Put back the number that one of them set for all threads which torch meets later."""
    import torch

    before = torch.get_num_threads()
    started.wait()
    torch.set_num_threads(before)


_making = threading.Lock()
_cores: list[Cores] = []


def cores() -> Cores:
    """Those of this process, made when first asked for: as many as torch has threads, `MAX_CORES` at most."""
    import torch

    with _making:
        if not _cores:
            _cores.append(Cores(min(torch.get_num_threads(), MAX_CORES)))
        return _cores[0]


def even_parts(sizes: Sequence[int], count: int, most: int) -> list[list[int]]:
    """Parts of about equal size: numbers of members, the largest first, each put where least is so far.

    Their number is the least multiple of `count`, which share the work, with which a part has `most` members on
    average.
    """
    number = min(len(sizes), count * -(-len(sizes) // (count * most)))
    parts: list[list[int]] = [[] for _ in range(number)]
    filled = [(0, part) for part in range(number)]  # a heap
    for member in sorted(range(len(sizes)), key=lambda member: -sizes[member]):
        size, part = filled[0]
        parts[part].append(member)
        heapreplace(filled, (size + sizes[member], part))
    return parts
