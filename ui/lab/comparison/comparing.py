"""Two versions of a profile compared on live questions: what readers said so far, and what it would take to tell the two apart."""

from __future__ import annotations

import streamlit as st

from rag_core.errors import RagError
from rag_core.evaluation.sequential import ALPHA
from rag_core.wiring import RecordStore
from rag_core.work.profiles import Standing, standings
from ui.app.people import recording
from ui.app.texts import say, tell

PROBLEM = "domain_problem"  # shown at the head of the tab
MIN_VERSIONS = 2  # to compare


def show(store: RecordStore, domain: str) -> None:
    """The comparisons of a domain, and a way to begin one; nothing where there is one version and none was made."""
    versions, found = [one.version for one in store.profile_versions(domain)], standings(store, domain)
    if not found and len(versions) < MIN_VERSIONS:
        return
    running = any(not one.comparison.stopped for one in found)
    with st.expander(say("lab_comparing.title"), icon=":material/balance:", key="comparing", expanded=running):
        st.caption(say("lab_comparing.about"))
        for one in reversed(found):
            _show(one)
        if not running and len(versions) >= MIN_VERSIONS:
            with st.container(horizontal=True, vertical_alignment="bottom"):
                a = st.selectbox(say("lab_comparing.first"), versions, key=f"compare_a_{domain}", width=160)
                b = st.selectbox(say("lab_comparing.second"), versions, len(versions) - 1, key=f"compare_b_{domain}", width=160)
                st.button(say("lab_comparing.begin"), key="compare_begin", on_click=_begin, args=(domain, a, b), disabled=a == b)


def _show(one: Standing) -> None:
    row = one.to_json()
    with st.container(border=True, key=f"comparison_{row['id']}"):
        state = "stopped" if row["stopped"] else "runs"
        st.badge(say(f"lab_comparing.{state}"), color="gray" if row["stopped"] else "green")
        rows = [
            {
                say("lab_comparing.version"): side["version"], say("lab_comparing.readers"): side["answers"],
                say("lab_comparing.good"): side["good"],
                say("lab_comparing.share"): tell("lab_comparing.between", low=side["low"], high=side["high"]),
            }
            for side in (row["a"], row["b"])
        ]  # fmt: skip
        st.dataframe(rows, hide_index=True, key=f"compared_{row['id']}", alt=say("lab_comparing.alt"))
        st.text(tell("lab_comparing.p", p=row["p"], alpha=row["alpha"]))
        if row["better"] is not None:
            st.text(tell("lab_comparing.better", version=row["better"], n=row["decided_at"]))
        elif row["needed"]:
            st.text(tell("lab_comparing.needed", n=row["needed"]))
        else:
            st.text(tell("lab_comparing.equal"))
        if not row["stopped"]:
            st.button(say("lab_comparing.stop"), key="compare_stop", on_click=_stop, args=(row["domain"],))


def _begin(domain: str, a: int, b: int) -> None:
    try:
        recording.store().begin_comparison(domain, a, b, ALPHA)
    except RagError as error:  # somebody else was quicker, or it is not open to them
        st.session_state[PROBLEM] = error


def _stop(domain: str) -> None:
    try:
        recording.store().stop_comparison(domain)
    except RagError as error:
        st.session_state[PROBLEM] = error
