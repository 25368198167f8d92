"""Shows results of finished jobs, a line each.

They go by themselves; what failed stays, with its remedy, until more files are added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from rag_core.errors import PasswordNeeded, RagError
from rag_core.library.library import AddReport
from rag_core.work.jobs import Job
from ui.app import state
from ui.app.jobs.work import here, start_add
from ui.app.texts import say, show_error, spoken, tell

if TYPE_CHECKING:
    from rag_core.evaluation import Ran

MAX_NAMES = 5  # file names in a list; the others are counted
MAX_PROBLEMS = 5  # shown one by one; more are a table


def show_results() -> None:
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
        show_problem(session.upload_error)


def show_names(names: Sequence[str], between: str = "\n") -> None:
    """Names as they are, one a line unless something else stands between them; of many, the first ones."""
    shown = list(names[:MAX_NAMES])
    if len(names) > MAX_NAMES:
        shown.append(tell("jobs.more", n=len(names) - MAX_NAMES))
    st.text(between.join(shown), width="content")


def show_problem(error: RagError, name: str = "") -> None:
    """One problem in a line or two: its file, if it has one, what is wrong, and what to do."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.badge(say("jobs.not_indexed"), icon=":material/error:", color="red")
        if name:
            st.text(name, width="content")
        st.text(f"{spoken(error.problem)} {tell('problems.remedy', remedy=spoken(error.remedy))}", width="content")


def _show_result(key: str, job: Job) -> None:
    report = job.report or AddReport()
    with st.container(key=f"result_{key}", gap="xsmall"):
        if job.taken_over:
            st.caption(say("jobs.other_result"))
        if job.error is not None:
            show_problem(job.error)
        if job.ran is not None:
            _show_ran(job.ran)
        if report.added:
            _show_files("added", [document.name for document in report.added])
        if report.unchanged:
            _show_files("unchanged", [document.name for document in report.unchanged])
        if report.cancelled:
            stopped = (
                f"jobs.stopped_{job.kind}" if job.kind in ("rebuilding", "rereading", "evaluating") else "jobs.stopped"
            )
            st.badge(say(stopped), icon=":material/info:", color="blue")
        _show_problems(key, job, report)


def _show_files(came_of_it: str, names: Sequence[str]) -> None:
    """How many files, and their names as far as the line goes."""
    added = came_of_it == "added"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.badge(
            say("jobs.added", n=len(names)) if added else say("jobs.unchanged", n=len(names)),
            icon=":material/check_circle:" if added else ":material/info:",
            color="green" if added else "blue",
        )
        show_names(names, ", ")


def _show_ran(ran: Ran) -> None:
    """Show the result of a run of labelled questions."""
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
        st.badge(say("jobs.ran_failed", n=ran.failed), icon=":material/error:", color="orange")


def _show_problems(key: str, job: Job, report: AddReport) -> None:
    """One by one, each with its password field where one is asked for; of many, the others as a table."""
    others = []
    for position, (name, error) in enumerate(report.problems):
        locked = [source for source in job.sources if source.name == name] if isinstance(error, PasswordNeeded) else []
        if not locked and len(report.problems) > MAX_PROBLEMS:
            others.append(
                {
                    say("jobs.file"): name,
                    say("jobs.problem"): spoken(error.problem),
                    say("jobs.remedy"): spoken(error.remedy),
                }
            )
            continue
        show_problem(error, name)
        if locked:
            _ask_password(f"password_{key}_{position}", position, job)
    if others:
        st.badge(say("jobs.problems", n=len(others)), icon=":material/error:", color="red")
        st.dataframe(others, hide_index=True, key=f"problems_{key}", height=38 + 35 * min(len(others), 6))


def _ask_password(key: str, position: int, job: Job) -> None:
    with st.form(key=key, border=False), st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_input(
            say("jobs.password"), type="password", key=f"{key}_text", help=say("jobs.password_help"), width=260
        )
        st.form_submit_button(say("jobs.open"), on_click=_open_locked, args=(f"{key}_text", position, job))


def _open_locked(key: str, position: int, job: Job) -> None:
    """Try the password that was typed into this field on the file that asked for it; a callback, as in
    `ui.app.jobs.progress`.
    """
    password = st.session_state.get(key)
    if not password or job.report is None:
        return
    problems = job.report.problems
    name = problems[position][0]
    job.report = replace(job.report, problems=problems[:position] + problems[position + 1 :])
    start_add([replace(source, password=password) for source in job.sources if source.name == name])
    if job.report == AddReport():  # nothing else came of it
        state.session().jobs.remove(job)
