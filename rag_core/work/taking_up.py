"""The start of a service takes up the files that its last end kept from being indexed, and finishes deletions that it
cut off.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Sequence
from pathlib import Path

from rag_core.domain.acts import Actor, acting
from rag_core.domain.ports import Cancel, Progress
from rag_core.errors import InvalidSetting
from rag_core.library.library import AddReport, Library
from rag_core.library.stored.collection import Values
from rag_core.library.stored.entry import Accepted
from rag_core.settings import Settings
from rag_core.wiring import cut_off, finish_deletions
from rag_core.work import loading
from rag_core.work.files import File
from rag_core.work.handing_in import HandingIn
from rag_core.work.jobs import Job
from rag_core.work.runner import Runner

_log = logging.getLogger(__name__)
Rows = Sequence[tuple[Accepted, Values]]

START = Actor("start")  # the program itself


def take_up(folder: Path, names: Iterable[str], base: Settings, runner: Runner) -> list[Job]:
    """Finish deletions, and start a job for each of these collections in which indexing was cut off.

    Each file is indexed as it was asked for.

    Args:
        folder: of the library.
        names: of collections.
        base: settings of the service.
        runner: of its jobs.
    """
    finish_deletions(folder)
    jobs = []
    for name in names:
        rows = cut_off(folder, name)
        if not rows:
            continue

        def work(progress: Progress, stop: Cancel, name: str = name, rows: Rows = tuple(rows)) -> AddReport:
            engine = loading.engine(folder, name, base)
            opened = loading.known(folder, name)
            return _resume(engine.library, rows, opened.settings if opened else base, progress, stop)

        with acting(START):
            listed = [File(row.name, row.id) for row, _ in rows]
            handed = HandingIn(folder, name, base, listed=[row.digest for row, _ in rows])
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


def _resume(library: Library, rows: Rows, settings: Settings, progress: Progress, stop: Cancel) -> AddReport:
    """Index these files, those that were asked for alike together."""
    alike: dict[str, list[tuple[Accepted, Values]]] = {}
    for row, values in rows:
        alike.setdefault(json.dumps(values, sort_keys=True), []).append((row, values))
    reports = []
    for each in alike.values():
        ids = {row.id for row, _ in each}
        reports.append(library.resume(_asked(settings, each[0][1]), only=ids, progress=progress, cancelled=stop))
        if reports[-1].cancelled:
            break
    return AddReport(
        tuple(one for report in reports for one in report.added),
        tuple(one for report in reports for one in report.unchanged),
        tuple(one for report in reports for one in report.problems),
        any(report.cancelled for report in reports),
    )


def _asked(settings: Settings, values: Values) -> Settings:
    """These settings with the values of a request; as they are where this version does not take them."""
    try:
        return settings.changed(**values)
    except InvalidSetting as error:
        _log.warning("files are taken up under the usual settings: %s", error.kind)
        return settings
