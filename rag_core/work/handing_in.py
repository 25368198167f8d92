"""Files that wait for the turn of their job, and the files that the last end of a service cut off."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from rag_core.domain.acts import Actor, acting
from rag_core.domain.ports import Cancel, Progress
from rag_core.errors import InvalidSetting
from rag_core.library.library import AddReport, Library
from rag_core.library.stored.collection import Values
from rag_core.library.stored.entry import Accepted
from rag_core.library.stored.sources import Source
from rag_core.settings import Cost, Settings
from rag_core.settings.knobs import AS_BUILT, BY_OPERATOR
from rag_core.wiring import cut_off, finish_deletions, hand_in, hold_back
from rag_core.work import loading, pins
from rag_core.work.jobs import File, Job
from rag_core.work.runner import Runner


def of_documents(settings: Settings) -> dict[str, Any]:
    """The settings that say how a document is read and cut, by name."""
    names = [
        knob.name
        for knob in Settings.knobs()
        if knob.cost is Cost.INGEST and knob.name not in (*AS_BUILT, *BY_OPERATOR)
    ]
    return {name: getattr(settings, name) for name in names}


class HandingIn:
    """The files of one job, which lists them before its turn; `listed` are digests on the list already."""

    def __init__(
        self,
        folder: Path,
        collection: str,
        settings: Settings,
        sources: Sequence[Source] = (),
        listed: Collection[str] = (),
    ) -> None:
        self._folder, self._collection, self._settings = folder, collection, settings
        self._sources, self._listed = sources, frozenset(listed)
        self._called_off = False

    def hand_in(self) -> None:
        """Put them on the list, for whoever acts now."""
        if self._sources:
            self._listed |= hand_in(self._folder, self._collection, self._sources, of_documents(self._settings))
        self._sources = ()  # the job has them; here they would only hold memory
        if self._called_off:
            hold_back(self._folder, self._collection, self._listed)

    def listed(self) -> frozenset[str]:
        """The digests of those that are on the list."""
        return self._listed

    def call_off(self) -> None:
        """Leave them to a person, who stopped their job: no start takes them up."""
        self._called_off = True  # before that is asked: those that are being listed are held back then
        hold_back(self._folder, self._collection, self._listed)


_log = logging.getLogger(__name__)
Rows = Sequence[tuple[Accepted, Values]]

START = Actor("start")  # the program itself


def take_up(folder: Path, names: Iterable[str], base: Settings, runner: Runner) -> list[Job]:
    """Finish deletions, have watched answers asked, and start a job for each collection that was cut off."""
    finish_deletions(folder)
    names = tuple(names)
    pins.begin(folder, names, base, runner)
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
