"""Shows running jobs in one line each, with a way to stop them; and takes the files that are dropped on the page."""

from __future__ import annotations

import time

import streamlit as st
from streamlit.runtime.uploaded_file_manager import DeletedFile

from rag_core.errors import RagError
from rag_core.library.stored.sources import READABLE
from rag_core.service.people import Right
from rag_core.work import loading
from rag_core.work.jobs import STAGES, Job
from ui.app import first_run, state
from ui.app.jobs import uploads
from ui.app.jobs.background import watch
from ui.app.jobs.finished import show_results
from ui.app.jobs.work import ABOUT_DOCUMENTS, here, start_add
from ui.app.naming import shortened
from ui.app.people import visitor
from ui.app.people.collections import shown_name, switch
from ui.app.texts import say, tell

__all__ = ["running", "show_jobs", "upload_field", "writing"]

TAKEN = [end[1:] for end in READABLE]  # ends of the names of files that can be added
LISTEN_SECONDS = 4.0  # how soon a page sees that another session began to work on its library
PATIENCE_SECONDS = (
    10.0  # between two looks at new documents while a question is on the page: it is asked again with them
)
MANY_TAKEN = (
    200  # files that an upload field lists: each of them is told to the server with every touch, in about 150 bytes
)
QUIET_SECONDS = 10.0  # since the last file was taken: nobody is just dropping some
BAR_PIXELS = 160  # a bar's length: it stands in a line with words
MAX_FILES = 60  # rows of a running job's table: the files around the current one
_STOP_HELP = {"rebuilding": "jobs.stop_rebuild_help", "evaluating": "jobs.stop_run_help"}


def upload_field() -> None:
    """Where files are dropped or chosen; indexing starts at once.

    The browser keeps a list of what it sent, and a new field would begin without it. But a file that is dropped while
    one field makes room for the next is lost unseen. So the field stays, `style.css` hides what was taken, and only a
    long list in a quiet moment is let go.
    """
    session = state.session()
    if not visitor.may_in(Right.UPLOAD, _uploads_to()):
        return
    if len(session.uploads_taken) >= MANY_TAKEN and time.monotonic() - session.uploads_at > QUIET_SECONDS:
        session.uploads, session.uploads_taken = session.uploads + 1, set()
    key = f"upload_{session.uploads}"
    st.file_uploader(
        say("jobs.add"),
        TAKEN,
        accept_multiple_files=True,
        key=key,
        help=say("jobs.add_help"),
        on_change=_take,
        args=(key,),
    )
    if session.collection == first_run.SAMPLES_COLLECTION:
        with st.container(key="upload_about"):
            st.caption(say("jobs.add_apart"))


def _uploads_to() -> str:
    """The collection that an upload goes to: one's own documents are not mixed with the samples."""
    chosen = state.session().collection
    return first_run.home() if chosen == first_run.SAMPLES_COLLECTION else chosen


def _take(key: str) -> None:
    """Start to index what was dropped and not taken yet. A callback: no other touch ends it (`ui.app.touches`)."""
    session = state.session()
    there = [file for file in st.session_state[key] if not isinstance(file, DeletedFile)]
    if files := [file for file in there if file.file_id not in session.uploads_taken]:
        session.uploads_taken |= {file.file_id for file in files}
        # else they belong together: nobody has read yet what came of the first
        if time.monotonic() - session.uploads_at > QUIET_SECONDS:
            session.forget_results(*ABOUT_DOCUMENTS)
        session.uploads_at = time.monotonic()
        session.upload_error = None
        switch(_uploads_to())
        try:
            start_add(uploads.taken(files))
        except RagError as error:  # the disk is full, or the folder may not be written to
            session.upload_error = error


def show_jobs() -> None:
    """All jobs this session should see: the running ones, then what came of its own, and of those that a closed session
    left.
    """
    _remember()
    # one place, however many: what follows must not move, or the browser shows it twice for a moment
    with st.container(key="jobs"):
        if running():
            watch(lambda: not running() or _news(), _show_all_running)  # what was indexed can be searched now
        else:  # nothing on the page; when another session begins to work on this library, the page shows it
            watch(running, lambda: None, LISTEN_SECONDS)
        show_results()


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


def _version() -> tuple[int, int]:
    """Of the library on the page: its version and how many passages can be asked; (0, 0) while it is being opened."""
    at = here()
    opened = loading.known(at.folder, at.collection)
    if opened is None or opened.engine is None:
        return 0, 0
    view = opened.engine.library.view
    return view.version, len(view.passages)


def _remember() -> None:
    st.session_state.jobs_page = (*_version(), time.monotonic(), _ended())


def _ended() -> int:
    return sum(job.finished for job in state.session().jobs)


def _news() -> bool:
    """Whether there are documents, or pages, that the page does not show yet, and it should, or a job has ended since
    it was drawn.
    """
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
        if own and len(job.listed) > 1:
            with st.popover(say("jobs.files"), type="tertiary", key=f"files_of_{number}"):
                _show_files(number, job)
        if _may_stop(job):
            st.button(
                say("jobs.stopping") if job.stopping else say("jobs.stop"),
                key=f"stop_{number}",
                disabled=job.stopping,
                on_click=_stop,
                args=(job,),
                help=say(_STOP_HELP.get(job.kind, "jobs.stop_help")),
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
    if job.kind == "evaluating":
        return _questions(job)
    if job.stage:
        return " ".join([step_in_words(job), *_left(job), *_early(job)])
    if not job.files_done:
        return tell("jobs.starting")
    if job.files_done >= job.files:
        return tell("jobs.step_last", files=job.files)
    return tell("jobs.step_between", number=job.files_done + 1, files=job.files)


def step_in_words(job: Job) -> str:
    """Where the job stands in its current file, in one sentence; a long name shows its beginning and its end."""
    name = shortened(job.step.rpartition(": ")[0])
    number = min(job.files_done + 1, job.files)  # the last texts are embedded together, when each was read
    return tell(f"jobs.step_{job.stage}", number=number, files=job.files, name=name, done=job.done, total=job.total)


def _left(job: Job) -> list[str]:
    """How long the current file still takes, in words, where that is known."""
    left = job.file_seconds_left
    if left is None:
        return []
    minutes = round(left / 60)
    return (
        [tell("jobs.left_minutes", n=minutes)]
        if minutes > 1
        else [tell("jobs.left_minute" if left >= 45 else "jobs.left_moment")]
    )


def _early(job: Job) -> list[str]:
    """A sentence on how many pages of the job's documents can be asked that are still being read; none where nothing
    can.
    """
    at = here()
    opened = loading.known(at.folder, job.place[1] or at.collection)
    if opened is None or opened.engine is None:
        return []
    view = opened.engine.library.view
    read = sum(view.document(file.id).page_count for file in job.listed if file.id in view.reading)
    return [tell("jobs.early", n=read)] if read else []


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
    at = here()
    opened = loading.known(at.folder, job.place[1] or at.collection)
    ready = (
        {document.id for document in opened.engine.library.snapshot.documents} if opened and opened.engine else set()
    )
    reading = opened.engine.library.view.reading if opened and opened.engine else {}
    first = max(0, min(job.files_done - MAX_FILES // 2, len(job.listed) - MAX_FILES))
    rows = []
    for position in range(first, min(first + MAX_FILES, len(job.listed))):
        stands = job.state(position, ready)
        far = job.far(position) if stands in STAGES else None
        words = tell(f"jobs.state_{stands}")
        amount = tell("jobs.amount_of", done=far.done, total=far.total) if far else ""
        rows.append(
            {
                say("jobs.file"): job.listed[position].name,
                say("jobs.state"): tell("jobs.state_early", state=words)
                if job.listed[position].id in reading
                else words,
                say("jobs.amount"): amount,
            }
        )
    st.dataframe(rows, hide_index=True, key=f"files_{number}", height=38 + 35 * min(len(rows), 6))
    if len(rows) < len(job.listed):
        st.caption(say("jobs.shown_files", n=len(rows), all=len(job.listed)))
