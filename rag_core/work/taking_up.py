"""The start of a service takes up the files that its last end kept from being indexed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rag_core.domain.acts import Actor, acting
from rag_core.domain.ports import Cancel, Progress
from rag_core.library.library import AddReport
from rag_core.settings import Settings
from rag_core.wiring import cut_off
from rag_core.work import loading
from rag_core.work.handing_in import HandingIn
from rag_core.work.jobs import File, Job, Runner

START = Actor("start")  # the program itself


def take_up(folder: Path, names: Iterable[str], base: Settings, runner: Runner) -> list[Job]:
    """Start a job for each of these collections in which something was cut off.

    Args:
        folder: of the library.
        names: of collections.
        base: settings of the service.
        runner: of its jobs.
    """
    jobs = []
    for name in names:
        rows = cut_off(folder, name)
        if not rows:
            continue
        ids = {row.id for row in rows}

        def work(progress: Progress, stop: Cancel, name: str = name, ids: Iterable[str] = frozenset(ids)) -> AddReport:
            engine = loading.engine(folder, name, base)
            opened = loading.known(folder, name)
            settings = opened.settings if opened else base
            return engine.library.resume(settings, only=frozenset(ids), progress=progress, cancelled=stop)

        with acting(START):
            listed = [File(row.name, row.id) for row in rows]
            handed = HandingIn(folder, name, listed=[row.digest for row in rows])
            jobs.append(
                runner.start(
                    "Finishing interrupted files",
                    work,
                    len(rows),
                    kind="resuming",
                    place=(str(folder), name),
                    listed=listed,
                    bounded=False,
                    handing_in=handed,
                )
            )
    return jobs
