"""Takes the files that are dropped on the page, and shows the jobs: the running ones in a line each, with a way to stop
them, then what came of those that ended.

Results go by themselves; what failed stays, with its remedy, until more files are added.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.runtime.uploaded_file_manager import DeletedFile

from rag_core.errors import PasswordNeeded, RagError
from rag_core.library.library import AddReport
from rag_core.library.stored.sources import READABLE
from rag_core.service.people import Right
from rag_core.work.jobs import Job
from ui.app import first_run, state, tables
from ui.app.asked import COLLECTION
from ui.app.elements import badge, button, file_field, submit
from ui.app.jobs import uploads
from ui.app.jobs.background import watch
from ui.app.jobs.work import ABOUT_DOCUMENTS, here, start_add
from ui.app.people import visitor
from ui.app.people.collections import shown_name, switch
from ui.app.scope import shortened
from ui.app.texts import say, show_error, spoken, tell

if TYPE_CHECKING:
    from rag_core.evaluation import Ran

TAKEN = [end[1:] for end in READABLE]  # ends of the names of files that can be added
UPLOAD = "upload_files"  # the key of the field
LISTEN_SECONDS = 4.0  # how soon a page sees that another session began to work on its library
# between two looks at new documents while a question is on the page: it is asked again with them
PATIENCE_SECONDS = 10.0
QUIET_SECONDS = 10.0  # since the last file was taken: nobody is just dropping some
BAR_PIXELS = 160  # a bar's length: it stands in a line with words
MAX_NAMES = 5  # file names in a list; the others are counted
MAX_PROBLEMS = 5  # shown one by one; more are a table
ROWS_IN_VIEW = 6  # rows that a table of files shows at once
_STOP_HELP = {"rebuilding": "jobs.stop_rebuild_help", "evaluating": "jobs.stop_run_help"}


def upload_field() -> None:
    """Where files are dropped or chosen; indexing starts at once.

    The browser keeps a list of what it sent, and a new field would begin without it. But a file that is dropped while
    one field makes room for the next is lost unseen. So the field stays, and `style.css` hides what was taken.
    """
    session = state.session()
    if not visitor.may_in(Right.UPLOAD, _uploads_to()):
        return
    _begin_taken()
    file_field("jobs.add", TAKEN, UPLOAD, "jobs.add_help", accept_multiple_files=True, on_change=_take)
    if session.collection == first_run.SAMPLES_COLLECTION:
        with st.container(key="upload_about"):
            st.caption(say("jobs.add_apart"))


def _uploads_to() -> str:
    """The collection that an upload goes to: one's own documents are not mixed with the samples."""
    chosen = state.session().collection
    return COLLECTION if chosen == first_run.SAMPLES_COLLECTION else chosen


def _take() -> None:
    """Take what was dropped and not taken yet, and start to index it; a callback."""
    session = state.session()
    there = [file for file in st.session_state[UPLOAD] if not isinstance(file, DeletedFile)]
    if files := [file for file in there if file.file_id not in session.uploads_taken]:
        session.uploads_taken |= {file.file_id for file in files}
        # else they belong together: nobody has read yet what came of the first
        if time.monotonic() - session.uploads_at > QUIET_SECONDS:
            session.forget_results(*ABOUT_DOCUMENTS)
        session.uploads_at = time.monotonic()
        session.upload_error = None
        try:
            session.incoming += uploads.taken(files)
        except RagError as error:  # the disk is full, or the folder may not be written to
            session.upload_error = error
        _begin_taken()


def _begin_taken() -> None:
    """Start to index what was taken: in the run after it, where the next touch ended the callback."""
    session = state.session()
    if session.incoming:
        switch(_uploads_to())
        start_add(tuple(session.incoming))
        session.incoming = []


def show_jobs() -> None:
    """The running jobs, then what came of the session's own and of those that a closed session left."""
    st.session_state.jobs_page = (*_version(), time.monotonic(), _ended())
    # one place, however many: what follows must not move, or the browser shows it twice for a moment
    with st.container(key="jobs"):
        if running():
            watch(lambda: not running() or _news(), _show_all_running)  # what was indexed can be searched now
        else:  # nothing on the page; when another session begins to work on this library, the page shows it
            watch(running, lambda: None, LISTEN_SECONDS)
        _show_results()


def running() -> bool:
    """Whether a job that this session sees is not finished."""
    return bool(_running())


def writing() -> bool:
    """Whether a job changes the library on this page, or will when its turn comes: other changes would wait for it."""
    return any(not job.finished for job in (*state.runner().jobs(here().place), *state.runner().shared))


def _running() -> list[Job]:
    """Its own first, then the samples, then those of other sessions on the same library."""
    mine = [*state.session().jobs, *state.runner().shared]
    others = (job for job in state.runner().jobs(here().place) if job not in mine)
    return [job for job in (*mine, *others) if not job.finished]


def _version() -> tuple[int, int]:
    """Of the library on the page: its version and how many passages can be asked; (0, 0) while it is being opened."""
    engine = state.opened_engine()
    return (engine.library.view.version, len(engine.library.view.passages)) if engine else (0, 0)


def _ended() -> int:
    return sum(job.finished for job in state.session().jobs)


def _news() -> bool:
    """Whether a job has ended since the page was drawn, or there are pages that it does not show yet, and should."""
    version, passages, since, ended = st.session_state.jobs_page
    if _version() == (version, passages):
        return _ended() > int(ended)
    return not passages or state.session().asked is None or time.monotonic() - since > PATIENCE_SECONDS


def _show_all_running() -> None:
    for number, job in enumerate(_running()):
        _show_running(number, job)


def _show_running(number: int, job: Job) -> None:
    own = job in state.session().jobs or job in state.runner().shared
    if own:
        job.look()
    with st.container(key=f"job_{number}", horizontal=True, vertical_alignment="center", gap="small"):
        st.text(_title(job) if own else tell(f"jobs.other_{job.kind}", n=job.files), width="content")
        if own and job.place[1] not in ("", state.session().collection):
            st.text(tell("jobs.in_collection", name=shown_name(job.place[1])), width="content")
        if own:
            st.text(_step(job), width="content")
        st.progress(job.share, width=BAR_PIXELS)
        if _may_stop(job):
            button(
                "jobs.stopping" if job.stopping else "jobs.stop",
                f"stop_{number}",
                _stop,
                job,
                disabled=job.stopping,
                help=_STOP_HELP.get(job.kind, "jobs.stop_help"),
            )


def _title(job: Job) -> str:
    """A job of one's own in words; a run of test questions is titled by its name."""
    if job.kind == "evaluating":
        return tell("lab_sets.job", name=job.title)
    return say("jobs.samples" if job in state.runner().shared else f"jobs.{job.kind}")


def _may_stop(job: Job) -> bool:
    """One's own; the samples', and those of others, for whoever may upload where they go to."""
    if job in state.session().jobs:
        return True
    return visitor.may_in(Right.UPLOAD, first_run.SAMPLES_COLLECTION if job in state.runner().shared else job.place[1])


def _stop(job: Job) -> None:
    if _may_stop(job):  # it may not be theirs any more since the button was drawn
        job.call_off()


def _step(job: Job) -> str:
    if not job.started:
        return " ".join([tell("jobs.waiting"), *_early(job)])
    if job.kind == "evaluating" and job.files_done:
        said = tell("jobs.questions", done=job.files_done, total=job.files)
        return " ".join([said, *_left(job.seconds_left)])
    if job.stage:
        return " ".join([step_in_words(job), *_left(job.seconds_left), *_early(job)])
    return tell("jobs.starting")


def step_in_words(job: Job) -> str:
    """Where the job stands in its current file, in one sentence; a long name shows its beginning and its end."""
    name = shortened(job.step.rpartition(": ")[0])
    number = min(job.files_done + 1, job.files)  # the last texts are embedded together, when each was read
    return tell(f"jobs.step_{job.stage}", number=number, files=job.files, name=name, done=job.done, total=job.total)


def _left(seconds: float | None) -> list[str]:
    if seconds is None:
        return []
    if round(seconds / 60) > 1:
        return [tell("jobs.left_minutes", n=round(seconds / 60))]
    return [tell("jobs.left_minute" if seconds >= 45 else "jobs.left_moment")]


def _early(job: Job) -> list[str]:
    """How many pages of its documents can be asked that are still being read."""
    engine = state.opened_engine(job.place[1])
    if engine is None:
        return []
    view = engine.library.view
    read = sum(view.document(file.id).page_count for file in job.listed if file.id in view.reading)
    return [tell("jobs.early", n=read)] if read else []


def _show_results() -> None:
    """Results of the session's own jobs, of those that a closed session left, and of the samples where they failed."""
    session, runner = state.session(), state.runner()
    for job in runner.jobs(here().place):
        if job.left_alone and job not in session.jobs:
            job.taken_over = True
            session.jobs.append(job)
    for number, job in enumerate(session.jobs):
        if job.finished:
            job.look(result=True)
            _show_result(f"{number}", job)
    for job in runner.shared:
        if job.error is not None:
            show_error(job.error)
    if session.upload_error is not None:
        _show_problem(session.upload_error)


def show_names(names: Sequence[str], between: str = "\n") -> None:
    """Names as they are, one a line unless something else stands between them; of many, the first ones."""
    shown = list(names[:MAX_NAMES])
    if len(names) > MAX_NAMES:
        shown.append(tell("jobs.more", n=len(names) - MAX_NAMES))
    st.text(between.join(shown), width="content")


def _show_problem(error: RagError, name: str = "") -> None:
    """One problem in a line or two: its file, if it has one, what is wrong, and what to do."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        badge("jobs.not_indexed", "error", "red")
        if name:
            st.text(name, width="content")
        st.text(f"{spoken(error.problem)} {tell('problems.remedy', remedy=spoken(error.remedy))}", width="content")


def _show_result(key: str, job: Job) -> None:
    report = job.report or AddReport()
    with st.container(key=f"result_{key}", gap="xsmall"):
        if job.taken_over:
            st.caption(say("jobs.other_result"))
        if job.error is not None:
            _show_problem(job.error)
        if job.ran is not None:
            _show_ran(job.ran)
        for came_of_it, sign in (("added", ("check_circle", "green")), ("unchanged", ("info", "blue"))):
            if names := [document.name for document in getattr(report, came_of_it)]:
                with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                    badge(f"jobs.{came_of_it}", *sign, n=len(names))
                    show_names(names, ", ")
        if report.cancelled:
            own_words = job.kind in ("rebuilding", "rereading", "evaluating")
            badge(f"jobs.stopped_{job.kind}" if own_words else "jobs.stopped", "info", "blue")
        _show_problems(key, job, report)


def _show_ran(ran: Ran) -> None:
    if ran.cancelled or ran.over_budget:
        stopped = "jobs.ran_budget" if ran.over_budget else "jobs.ran_stopped"
        st.badge(say(stopped, n=ran.measured + ran.reused, all=ran.total), icon=":material/info:", color="blue")
    else:
        st.badge(
            say("jobs.ran", n=ran.total, measured=ran.measured, reused=ran.reused),
            icon=":material/check_circle:",
            color="green",
        )
    if ran.tokens:
        st.caption(say("jobs.ran_tokens", n=ran.tokens))
    if ran.failed:
        badge("jobs.ran_failed", "error", "orange", n=ran.failed)


def _show_problems(key: str, job: Job, report: AddReport) -> None:
    """One by one, each with its password field where one is asked for; of many, the others as a table."""
    others = []
    for position, (name, error) in enumerate(report.problems):
        locked = [source for source in job.sources if source.name == name] if isinstance(error, PasswordNeeded) else []
        if not locked and len(report.problems) > MAX_PROBLEMS:
            others.append({"file": name, "problem": spoken(error.problem), "remedy": spoken(error.remedy)})
            continue
        _show_problem(error, name)
        if locked:
            _ask_password(f"password_{key}_{position}", position, job)
    if others:
        badge("jobs.problems", "error", "red", n=len(others))
        tables.show(others, "jobs.column_", f"problems_{key}", in_view=ROWS_IN_VIEW)


def _ask_password(key: str, position: int, job: Job) -> None:
    with st.form(key=key, border=False), st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_input(
            say("jobs.password"), type="password", key=f"{key}_text", help=say("jobs.password_help"), width=260
        )
        submit("jobs.open", "", _open_locked, f"{key}_text", position, job)


def _open_locked(key: str, position: int, job: Job) -> None:
    """Try the password that was typed into this field on the file that asked for it; a callback, as `_take`."""
    password = st.session_state.get(key)
    if not password or job.report is None:
        return
    problems = job.report.problems
    name = problems[position][0]
    job.report = replace(job.report, problems=problems[:position] + problems[position + 1 :])
    start_add([replace(source, password=password) for source in job.sources if source.name == name])
    if job.report == AddReport():  # nothing else came of it
        state.session().jobs.remove(job)
