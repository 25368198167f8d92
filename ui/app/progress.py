"""Shows running and finished jobs: progress of each file, stop, result, and the password that a file asks for."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.runtime.uploaded_file_manager import DeletedFile

from rag_core.errors import PasswordNeeded, RagError
from rag_core.library.library import AddReport
from rag_core.work import loading
from rag_core.work.jobs import FileState, Job
from ui.app import first_run, state, uploads
from ui.app.asked import COLLECTION
from ui.app.background import watch
from ui.app.collections import switch
from ui.app.problems import show_error
from ui.app.texts import say, tell
from ui.app.work import here, start_add

if TYPE_CHECKING:
    from rag_core.evaluation import Ran

__all__ = ["running", "show_jobs", "show_names", "upload_field", "writing"]

LISTEN_SECONDS = 4.0  # how soon a page sees that another session began to work on its library
PATIENCE_SECONDS = 10.0  # between two looks at new documents while a question is on the page: it is asked again with them
MANY_TAKEN = 200  # files that an upload field lists: each of them is told to the server with every touch, in about 150 bytes
QUIET_SECONDS = 10.0  # since the last file was taken: nobody is just dropping some
MAX_NAMES = 5  # file names in a sentence; the others are counted
MAX_FILES = 60  # rows of a running job's table: the files around the current one
_STOP_HELP = {"rebuilding": "jobs.stop_rebuild_help", "evaluating": "jobs.stop_run_help"}
MAX_PROBLEMS = 5  # shown one by one; more are a table


def upload_field() -> None:
    """Where files are dropped or chosen; indexing starts at once.

    The browser keeps a list of what it sent, and a new field would begin without it. But a file that is dropped while one field makes room
    for the next is lost unseen. So the field stays, `style.css` hides what was taken, and only a long list in a quiet moment is let go.
    """
    session = state.session()
    if len(session.uploads_taken) >= MANY_TAKEN and time.monotonic() - session.uploads_at > QUIET_SECONDS:
        session.uploads, session.uploads_taken = session.uploads + 1, set()
    key = f"upload_{session.uploads}"
    st.file_uploader(
        say("jobs.add"), ["pdf", "txt", "md"], accept_multiple_files=True, key=key, help=say("jobs.add_help"), on_change=_take, args=(key,)
    )
    if session.collection == first_run.SAMPLES_COLLECTION:
        with st.container(key="upload_about"):
            st.caption(say("jobs.add_apart"))
    if session.upload_error is not None:
        show_error(session.upload_error)


def _take(key: str) -> None:
    """Start to index what was dropped and not taken yet. A callback: no other touch ends it (`ui.app.touches`)."""
    session = state.session()
    there = [file for file in st.session_state[key] if not isinstance(file, DeletedFile)]
    if files := [file for file in there if file.file_id not in session.uploads_taken]:
        session.uploads_taken |= {file.file_id for file in files}
        session.uploads_at = time.monotonic()
        session.upload_error = None
        if session.collection == first_run.SAMPLES_COLLECTION:  # one's own documents are not mixed with them
            switch(COLLECTION)
        try:
            start_add(uploads.taken(files))
        except RagError as error:  # the disk is full, or the folder may not be written to
            session.upload_error = error


def show_jobs() -> None:
    """All jobs this session should see: the running ones, then what came of its own, and of those that a closed session left."""
    _remember()
    with st.container(key="jobs"):  # one place, however many: what follows must not move, or the browser shows it twice for a moment
        if running():
            watch(lambda: not running() or _news(), _show_all_running)  # what was indexed can be searched now
        else:  # nothing on the page; when another session begins to work on this library, the page shows it
            watch(running, lambda: None, LISTEN_SECONDS)
        for number, job in enumerate(state.session().jobs):
            if job.finished:
                _show_result(f"{number}", job)
        for number, job in enumerate(_left_alone()):
            _show_result(f"left_{number}", job)
        for job in state.runner().shared:
            if job.error is not None:
                show_error(job.error)


def running() -> bool:
    """Whether a job that this session sees is not finished."""
    return bool(_running())


def writing() -> bool:
    """Whether a job changes the library on this page, or will when its turn comes: other changes would wait for it."""
    return any(not job.finished for job in (*state.runner().jobs(here().place), *state.runner().shared))


def _running() -> list[Job]:
    """Its own first, then the samples, then those of other sessions on the same library."""
    own, runner = state.session().jobs, state.runner()
    mine = [*own, *runner.shared]
    return [job for job in [*mine, *(job for job in runner.jobs(here().place) if job not in mine)] if not job.finished]


def _left_alone() -> list[Job]:
    return [job for job in state.runner().jobs(here().place) if job.left_alone and job not in state.session().jobs]


def _version() -> tuple[int, int]:
    """Of the library on the page: its version and how many documents it has; (0, 0) while it is being opened."""
    at = here()
    opened = loading.known(at.folder, at.collection)
    if opened is None or opened.engine is None:
        return 0, 0
    snapshot = opened.engine.library.snapshot
    return snapshot.version, len(snapshot.entries)


def _remember() -> None:
    st.session_state.jobs_page = (*_version(), time.monotonic())


def _news() -> bool:
    """Whether there are documents that the page does not show yet, and it should."""
    version, documents, since = st.session_state.jobs_page
    if _version()[0] == version:
        return False
    return not documents or state.session().asked is None or time.monotonic() - since > PATIENCE_SECONDS


def _show_all_running() -> None:
    for number, job in enumerate(_running()):
        _show_running(number, job)


def _show_running(number: int, job: Job) -> None:
    own = job in state.session().jobs or job in state.runner().shared
    if own:
        job.look()
    with st.container(border=True, key=f"job_{number}"):
        done, stop = st.columns([5, 1], vertical_alignment="center")
        with done:
            st.text(job.title if own else tell(f"jobs.other_{job.kind}", n=job.files))
            if own and job.place[1] not in ("", state.session().collection):
                st.text(tell("jobs.in_collection", name=job.place[1]))
        with stop:
            st.button(
                say("jobs.stopping") if job.stopping else say("jobs.stop"), key=f"stop_{number}", disabled=job.stopping, on_click=job.stop,
                width="stretch", help=say(_STOP_HELP.get(job.kind, "jobs.stop_help")),
            )  # fmt: skip
        st.progress(job.share)
        if own:
            st.text(_step(job))
            _show_files(number, job)


def _step(job: Job) -> str:
    if not job.started:
        return tell("jobs.waiting")
    if job.kind == "evaluating":
        return _questions(job)
    if job.stage:
        return tell("jobs.step", number=job.files_done + 1, files=job.files, step=job.step, done=job.done, total=job.total)
    if not job.files_done:
        return tell("jobs.starting")
    if job.files_done >= job.files:
        return tell("jobs.step_last", files=job.files)
    return tell("jobs.step_between", number=job.files_done + 1, files=job.files)


def _questions(job: Job) -> str:
    """How many questions of a run are done, and how long the rest takes."""
    if not job.files_done:
        return tell("jobs.starting")
    left = job.seconds_left
    if left is None:
        return tell("jobs.questions", done=job.files_done, total=job.files)
    minutes, seconds = divmod(round(left), 60)
    key = "jobs.questions_minutes" if minutes else "jobs.questions_seconds"
    return tell(key, done=job.files_done, total=job.files, minutes=minutes, seconds=seconds)


def _show_files(number: int, job: Job) -> None:
    """Every file with its state; of many, those around the current one."""
    if len(job.listed) < 2:
        return
    at = here()
    opened = loading.known(at.folder, job.place[1] or at.collection)
    ready = {document.id for document in opened.engine.library.snapshot.documents} if opened and opened.engine else set()
    first = max(0, min(job.files_done - MAX_FILES // 2, len(job.listed) - MAX_FILES))
    rows = []
    for position in range(first, min(first + MAX_FILES, len(job.listed))):
        stands = job.state(position, ready)
        busy = stands in (FileState.READING, FileState.EMBEDDING)
        amount = tell("jobs.amount_of", done=job.done, total=job.total) if busy else ""
        rows.append(
            {say("jobs.file"): job.listed[position].name, say("jobs.state"): tell(f"jobs.state_{stands}"), say("jobs.amount"): amount}
        )
    st.dataframe(rows, hide_index=True, key=f"files_{number}", height=38 + 35 * min(len(rows), 6))
    if len(rows) < len(job.listed):
        st.caption(say("jobs.shown_files", n=len(rows), all=len(job.listed)))


def _show_result(key: str, job: Job) -> None:
    own = job in state.session().jobs
    if own:
        job.look()
    with st.container(key=f"result_{key}"):
        if not own:
            st.caption(say("jobs.other_result"))
        if job.error is not None:
            show_error(job.error)
        if job.ran is not None:
            _show_ran(job.ran)
        report = job.report or AddReport()
        if report.added:
            st.success(say("jobs.added", n=len(report.added)), icon=":material/check_circle:")
            show_names([document.name for document in report.added])
        if report.unchanged:
            st.info(say("jobs.unchanged", n=len(report.unchanged)), icon=":material/info:")
            show_names([document.name for document in report.unchanged])
        if report.cancelled:
            _show_stopped(job)
        _show_problems(key, job, report)
        st.button(say("jobs.dismiss"), key=f"dismiss_{key}", type="tertiary", icon=":material/close:", on_click=_dismiss, args=(job,))


def _show_ran(ran: Ran) -> None:
    """Show the result of a run of labelled questions."""
    if ran.cancelled or ran.over_budget:
        stopped = "jobs.ran_budget" if ran.over_budget else "jobs.ran_stopped"
        st.info(say(stopped, n=ran.measured + ran.reused, all=ran.total), icon=":material/info:")
    else:
        st.success(say("jobs.ran", n=ran.total, measured=ran.measured, reused=ran.reused), icon=":material/check_circle:")
    if ran.tokens:
        st.caption(say("jobs.ran_tokens", n=ran.tokens))
    if ran.failed:
        st.warning(say("jobs.ran_failed", n=ran.failed), icon=":material/error:")


def _show_stopped(job: Job) -> None:
    if job.kind == "rebuilding":
        st.info(say("jobs.stopped_rebuilding"), icon=":material/info:")
    else:
        st.info(say("jobs.stopped_rereading") if job.kind == "rereading" else say("jobs.stopped"), icon=":material/info:")


def _dismiss(job: Job) -> None:
    state.runner().forget(job)
    if job in state.session().jobs:
        state.session().jobs.remove(job)


def show_names(names: Sequence[str]) -> None:
    """Names, one a line, as they are; of many, the first ones."""
    shown = list(names[:MAX_NAMES])
    if len(names) > MAX_NAMES:
        shown.append(tell("jobs.more", n=len(names) - MAX_NAMES))
    st.text("\n".join(shown))


def _show_problems(key: str, job: Job, report: AddReport) -> None:
    """One by one, each with its password field where one is asked for; of many, the others as a table."""
    others = []
    for position, (name, error) in enumerate(report.problems):
        locked = [source for source in job.sources if source.name == name] if isinstance(error, PasswordNeeded) else []
        if not locked and len(report.problems) > MAX_PROBLEMS:
            others.append({say("jobs.file"): name, say("jobs.problem"): error.problem, say("jobs.remedy"): error.remedy})
            continue
        show_error(error, name)
        if locked:
            _ask_password(f"password_{key}_{position}", position, job)
    if others:
        st.warning(say("jobs.problems", n=len(others)), icon=":material/error:")
        st.dataframe(others, hide_index=True, key=f"problems_{key}")


def _ask_password(key: str, position: int, job: Job) -> None:
    with st.form(key=key, border=False):
        st.text_input(say("jobs.password"), type="password", key=f"{key}_text")
        st.caption(say("jobs.password_help"))
        st.form_submit_button(say("jobs.open"), on_click=_open_locked, args=(f"{key}_text", position, job))


def _open_locked(key: str, position: int, job: Job) -> None:
    """Try the password that was typed into this field on the file that asked for it; a callback, like `_take`."""
    password = st.session_state.get(key)
    if not password or job.report is None:
        return
    problems = job.report.problems
    name = problems[position][0]
    job.report = replace(job.report, problems=problems[:position] + problems[position + 1 :])
    start_add([replace(source, password=password) for source in job.sources if source.name == name])
    if job.report == AddReport():
        _dismiss(job)  # nothing else came of it
