"""Watched answers: asked anew when the documents of their collection have changed, as a job beside the others.

`begin` starts it for the process. Each answer is asked once for each version of the library. Whoever operates the
program may have a web address told of what changed.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from rag_core.decision.decide import decide
from rag_core.domain.acts import Actor, acting
from rag_core.domain.measurements import Measurements
from rag_core.domain.ports import Cancel, PageText, Progress
from rag_core.domain.status import AnswerStatus
from rag_core.engine import Engine
from rag_core.errors import InvalidInput, RagError
from rag_core.library.library import AddReport, Library
from rag_core.records.changes import Change, Pin, Seen, Shown, seen, shown, told
from rag_core.settings import Settings
from rag_core.settings.configuration import webhook
from rag_core.settings.knobs import AS_BUILT
from rag_core.wiring import RecordStore, post, records
from rag_core.work import loading
from rag_core.work.recording import keeping
from rag_core.work.runner import Runner

_log = logging.getLogger(__name__)
WATCH = Actor("watch")  # the program itself
KIND = "watching"  # its jobs


@dataclass(frozen=True, slots=True)
class Watched:
    """A watched answer: ids of the decision that was pinned and of the last one kept, what each says (empty for a
    refusal or a deleted document), where the last one stands, and the library's version. All texts are untrusted.
    """

    decision: str
    question: str
    state: Change
    told: str
    before: str
    now: str
    document: str
    page: int
    version: int
    latest: str


def pin(library: Library, store: RecordStore, id: int) -> None:
    """Watch a kept decision; one of an earlier version is asked again at once. Raises InvalidInput without a source."""
    measured = store.measurements(id, library.view.page_text)
    row = decide(measured).to_json()
    if not row["is_refusal"] and not shown(row).document:
        raise InvalidInput("This answer has no source that could change.", remedy="Ask again, and watch that answer.")
    store.pin(id, seen(row), measured.library.version)
    library.on_version(library.snapshot.version)


def listed(store: RecordStore, pins: Iterable[Pin], page_text: PageText) -> list[Watched]:
    """Watched answers with their words, as far as these can still be read from the pages."""

    def words(id: int | None) -> Shown:
        try:
            return Shown() if id is None else shown(decide(store.measurements(id, page_text)).to_json())
        except RagError:  # erased, or not theirs to see
            return Shown()

    found = []
    for one in pins:
        before = words(one.decision)
        now = words(one.now) if one.now is not None or one.change is not Change.SAME else before
        found.append(
            Watched(
                decision=str(one.decision),
                question=one.question,
                state=one.change,
                told=told(one.change, before.text, now),
                before=before.text,
                now=now.text,
                document=now.document,
                page=now.page,
                version=one.version,
                latest=str(one.now or one.decision),
            )
        )
    return found


def begin(folder: Path, names: Iterable[str], base: Settings, runner: Runner) -> None:
    """Have watched answers asked anew whenever this process finds that their documents have changed.

    `names` are collections that may have changed while nobody looked. Raises InvalidSetting for a wrong web address.
    """
    webhook(os.environ)

    def look(folder: Path, collection: str, version: int) -> None:
        place = str(folder), collection

        def work(progress: Progress, stop: Cancel) -> AddReport:
            return _checked(folder, collection, base, progress, stop)

        try:
            with acting(WATCH):
                behind = sum(one.version < version for one in records(folder, collection).pins())
                if behind and not any(job.kind == KIND and not job.started for job in runner.jobs(place)):
                    job = runner.start(KIND, work, behind, kind=KIND, place=place, bounded=False)
                    job.look(result=True)  # nobody waits for it
        except RagError as error:
            _log.warning("watched answers were not looked at: %s", error.kind)

    loading.on_version(look)
    for name in names:
        with suppress(RagError), acting(WATCH):
            if records(folder, name).pins():
                loading.opening(folder, name, base)  # which tells of its version


def _checked(folder: Path, collection: str, base: Settings, progress: Progress, stop: Cancel) -> AddReport:
    """Ask those that are behind the library's version, and have the webhook told of what changed."""
    engine, store = loading.engine(folder, collection, base), records(folder, collection)
    opened = loading.known(folder, collection)
    built = {name: getattr(opened.settings if opened else base, name) for name in AS_BUILT}
    version = engine.library.snapshot.version
    behind = [one for one in store.pins() if one.version < version]
    changed = []
    for done, one in enumerate(behind):
        progress("questions", done, len(behind))
        if stop():
            break
        try:
            if _check(engine, store, one, built, stop):
                changed.append(one.decision)
        except RagError as error:  # it is asked again at the next change
            _log.warning("a watched answer could not be checked: %s", error.kind)
    url = webhook(os.environ)
    if changed and url:
        pins = [one for one in store.pins() if one.decision in changed]
        rows = listed(store, pins, engine.library.view.page_text)
        body = {"collection": collection, "version": version, "answers": [asdict(one) for one in rows]}
        if not post(url, body, stop):
            _log.warning("the webhook did not take what changed")
    return AddReport(cancelled=stop())


def _check(engine: Engine, store: RecordStore, one: Pin, built: Mapping[str, object], stop: Cancel) -> bool:
    """Ask one anew and note what became of it; whether that is news."""
    measured: list[Measurements] = []
    change, last, version, kept = Change.LOST, Seen(), engine.library.snapshot.version, None
    if one.question:
        was = store.measurements(one.decision)
        searched = _searched(engine, one, was) if one.searched else None
        if searched != []:
            decision = engine.ask(
                one.question, was.settings.changed(**built), searched, cancelled=stop, on_measured=measured.append
            )
            if decision.status is AnswerStatus.ERROR:
                return False
            last, version = seen(decision.to_json()), measured[0].library.version
        change = one.first.change(last)
        if measured and change is not Change.SAME and keeping(store):
            kept = store.keep(measured[0], origin=one.origin, documents=one.searched)
    noted = store.checked(one, change, last, version, kept)
    return noted and change is not Change.SAME and (change, last) != (one.change, one.last)


def _searched(engine: Engine, one: Pin, was: Measurements) -> list[str]:
    """The documents that it is restricted to; a new form of one has another id, and mostly the same name."""
    there = {document.id: document.name for document in engine.library.view.documents}
    names = (id if id in there else was.library.names.get(id, "") for id in one.searched)
    return [name for name in names if name in there or name in there.values()]
