"""Running and finished jobs: progress, stop, what came of it, and the password that a file asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from rag_core.errors import PasswordNeeded
from rag_core.ingest.library import AddReport
from rag_core.ingest.sources import TEXT_SUFFIXES, Source
from ui import state
from ui.jobs import Job
from ui.problems import show_error
from ui.texts import say

REFRESH_SECONDS = 0.5
MOST_NAMES = 10


def upload(files: Sequence[tuple[str, bytes]]) -> None:
    """Start indexing these files, given as (name, bytes)."""
    start_add([Source(name, data, "text" if name.lower().endswith(TEXT_SUFFIXES) else "pdf") for name, data in files])


def upload_field() -> None:
    """Where files are dropped or chosen; indexing starts at once."""
    session = state.session()
    files = st.file_uploader(
        say("jobs.add"), ["pdf", "txt", "md"], accept_multiple_files=True, key=f"upload_{session.uploads}", help=say("jobs.add_help")
    )
    if files:
        upload([(file.name, file.getvalue()) for file in files])
        session.uploads += 1
        st.rerun()


def start_add(sources: Sequence[Source]) -> None:
    """Start a job that adds these sources under the session's settings."""
    session, engine = state.session(), state.engine()
    settings = session.settings()
    job = state.runner().start(
        "Reading and indexing your files",
        lambda progress, stop: engine.library.add(sources, settings, progress=progress, cancelled=stop),
        len(sources),
        sources,
    )
    session.jobs.append(job)


def start_resume(passwords: dict[str, str]) -> None:
    """Start a job that finishes what was interrupted; passwords are by document id."""
    session, engine = state.session(), state.engine()
    settings = session.settings()
    job = state.runner().start(
        "Finishing interrupted files",
        lambda progress, stop: engine.library.resume(settings, passwords=passwords, progress=progress, cancelled=stop),
        len(engine.library.unfinished()),
    )
    session.jobs.append(job)


def show_jobs() -> None:
    """All jobs this session should see: the running ones, then what came of its own."""
    session = state.session()
    if any(not job.finished for job in _visible()):
        _watch()
    for number, job in enumerate(session.jobs):
        if job.finished:
            _show_result(number, job)
    for job in state.runner().shared:
        if job.error is not None:
            show_error(job.error)


def running() -> bool:
    """Whether a job that this session sees is not finished."""
    return any(not job.finished for job in _visible())


def _visible() -> list[Job]:
    return [*state.runner().shared, *state.session().jobs]


@st.fragment(run_every=REFRESH_SECONDS)
def _watch() -> None:
    jobs = [job for job in _visible() if not job.finished]
    if not jobs:
        st.rerun()  # the whole page: what was indexed can be searched now
    for number, job in enumerate(jobs):
        _show_running(number, job)


def _show_running(number: int, job: Job) -> None:
    with st.container(border=True, key=f"job_{number}"):
        done, stop = st.columns([5, 1], vertical_alignment="center")
        with done:
            st.text(job.title)
        with stop:
            st.button(
                "Stopping…" if job.stopping else "Stop", key=f"stop_{number}", disabled=job.stopping, on_click=job.stop, width="stretch"
            )
        st.progress(_share(job))
        st.text(_step(job))


def _share(job: Job) -> float:
    """How much is done, in [0, 1]: whole files, and the part of the current one."""
    part = job.done / job.total if job.total else 0.0
    return min((job.files_done + 0.9 * part) / max(job.files, 1), 1.0)


def _step(job: Job) -> str:
    if not job.step:
        return "Waiting to start."
    return f"File {min(job.files_done + 1, job.files)} of {job.files}. {job.step} {job.done} of {job.total}"


def _show_result(number: int, job: Job) -> None:
    with st.container(key=f"result_{number}"):
        if job.error is not None:
            show_error(job.error)
        report = job.report or AddReport()
        if report.added:
            st.success(f"Indexed and ready to be asked: {len(report.added):d}", icon=":material/check_circle:")
            _show_names([document.name for document in report.added])
        if report.unchanged:
            st.info(f"Already in the library, nothing to do: {len(report.unchanged):d}", icon=":material/info:")
            _show_names([document.name for document in report.unchanged])
        if report.cancelled:
            st.info("Stopped. What was complete is kept; the rest waits on the Documents page.", icon=":material/info:")
        for position, (name, error) in enumerate(report.problems):
            show_error(error, name)
            if isinstance(error, PasswordNeeded):
                _ask_password(f"password_{number}_{position}", position, job, report)
        st.button(
            "Dismiss", key=f"dismiss_{number}", type="tertiary", icon=":material/close:", on_click=state.session().jobs.remove, args=(job,)
        )


def _show_names(names: Sequence[str]) -> None:
    shown = list(names[:MOST_NAMES])
    if len(names) > MOST_NAMES:
        shown.append(f"and {len(names) - MOST_NAMES} more")
    st.text("\n".join(shown))


def _ask_password(key: str, position: int, job: Job, report: AddReport) -> None:
    name = report.problems[position][0]
    locked = [source for source in job.sources if source.name == name]
    if not locked:
        return
    with st.form(key, border=False):
        password = st.text_input("Password of this file", type="password", key=f"{key}_text", help="It is used once and stored nowhere.")
        if st.form_submit_button("Open with this password") and password:
            job.report = replace(report, problems=report.problems[:position] + report.problems[position + 1 :])
            start_add([replace(source, password=password) for source in locked])
            st.rerun()
