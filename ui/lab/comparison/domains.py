"""The profiles of the domains: every version with its evidence, the change that the side bar would make, and who puts one in force.

Reasons, questions and names are untrusted and shown as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from rag_core.domain.acts import name_id
from rag_core.domain.ports import Cancel, Progress
from rag_core.errors import InvalidInput, RagError
from rag_core.evaluation import Ran, Rate
from rag_core.evaluation.evidence import LABELLED
from rag_core.evaluation.executions import recorded
from rag_core.records.stored import ProfileVersion, RunHead, VersionState
from rag_core.settings import Settings
from rag_core.settings.profiles import SHIPPED, allowed, named, of_cost, profiles
from rag_core.wiring import RecordStore, records
from rag_core.work import loading
from rag_core.work.profiles import ASKED, propose
from ui.app import state
from ui.app.jobs.work import here
from ui.app.people import recording
from ui.app.problems import show_error
from ui.app.texts import say, tell
from ui.lab import state as lab
from ui.lab.comparison import comparing
from ui.lab.outcomes.flips import of_in_words
from ui.settings.fields import FIXED
from ui.settings.wording import setting_name, value_in_words

RATES = ("right", "answered", "false_refusals", "wrong_answers", "missed_answers")
MAX_WHY_CHARS = 200  # a sentence or two; the store takes more
_COLORS = {"in_force": "green", "proposed": "orange", "accepted": "gray", "declined": "gray"}


def show(settings: Settings) -> None:
    """The tab. `settings` are those of the side bar."""
    st.caption(say("lab_domains.about"))
    if problem := st.session_state.pop(comparing.PROBLEM, None):
        show_error(problem)
    store = recording.store()
    domain = st.selectbox(
        say("lab_domains.domain"), list(profiles()), format_func=lambda domain: profiles()[domain].title, key="lab_domain"
    )
    if waiting := _waiting(store):
        st.text(tell("lab_domains.waiting", domains=waiting))
    current = store.profile_in_force(domain)
    st.caption(say("lab_domains.version_in_force", n=current.version))
    _offer(domain, current, settings)
    comparing.show(store, domain)
    for version in reversed(store.profile_versions(domain)):
        with st.container(border=True, key=f"version_{domain}_{version.version}"):
            _show(store, version, in_force=version.version == current.version)


def _waiting(store: RecordStore) -> str:
    """The domains that have proposals which nobody settled, in a line."""
    waiting = [one.title for domain, one in profiles().items() if any(map(_is_proposed, store.profile_versions(domain)))]
    return ", ".join(waiting)


def _is_proposed(version: ProfileVersion) -> bool:
    return version.state is VersionState.PROPOSED


def changes(current: ProfileVersion, settings: Settings) -> dict[str, Any]:
    """The settings of a question that the side bar moved from those of the start, and that the profile in force does not have already."""
    start = state.base_settings()
    now = start.changed(**of_cost(current.values, ASKED))
    moved = {
        knob.name: getattr(settings, knob.name)
        for knob in Settings.knobs()
        if knob.cost in ASKED and knob.is_closed and knob.name not in FIXED and getattr(settings, knob.name) != getattr(start, knob.name)
    }
    return {name: value for name, value in moved.items() if value != getattr(now, name)}


def _offer(domain: str, current: ProfileVersion, settings: Settings) -> None:
    """The form that tries what the side bar changes."""
    found, run = changes(current, settings), lab.chosen_run()
    with st.expander(say("lab_domains.try"), icon=":material/science:", key="try_profile"):
        st.caption(say("lab_domains.try_about"))
        if not found or run is None:
            st.caption(say("lab_domains.try_no_run" if found else "lab_domains.try_nothing"))
            return
        st.text(tell("lab_domains.try_changes", settings=_in_words(found)))
        why = st.text_input(say("lab_domains.try_why"), key="try_why", max_chars=MAX_WHY_CHARS)
        st.button(say("lab_domains.try_button"), key="try_button", type="primary", on_click=_start, args=(domain, found, why or "", run))


def _start(domain: str, values: Mapping[str, Any], why: str, run: RunHead) -> None:
    """Start the job, in the button's callback; it goes on when the page is left."""
    at, session = here(), state.session()
    questions = recording.store().run_questions(run.id)

    def work(progress: Progress, stop: Cancel) -> Ran:
        engine = loading.engine(at.folder, at.collection, at.base)
        try:
            return propose(engine, records(at.folder, at.collection), at.base, domain, values, why, questions, progress, stop)[1]
        finally:
            lab.forget_records()

    session.forget_results("evaluating")
    title = tell("lab_domains.job", domain=profiles()[domain].title)
    session.jobs.append(state.runner().start(title, work, 2 * len(questions), kind="evaluating", place=at.place))


def _show(store: RecordStore, one: ProfileVersion, *, in_force: bool) -> None:
    standing = "in_force" if in_force else str(one.state)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(say("lab_domains.version", n=one.version), color="blue")
        st.badge(say(f"lab_domains.{standing}"), color=_COLORS[standing])  # type: ignore[arg-type]
        if one.version == SHIPPED:
            st.caption(say("lab_domains.shipped"))
    st.text(_in_words(one.values) or say("lab_domains.no_settings"))
    if one.why:
        st.text(tell("lab_domains.why", why=one.why))
    if one.evidence:
        _show_evidence(store, one.evidence, f"{one.domain}_{one.version}")
    work = recorded(store.executions(), named(one.domain, one.version))
    if work.executions:
        st.text(
            tell(
                "lab_domains.recorded", n=work.executions, confidence=work.confidence, coverage=work.citation_coverage,
                wrong=work.hallucinations.k,
            )
        )  # fmt: skip
    for key, by, at in (("by", one.by, one.at), ("settled", one.settled_by, one.settled)):
        if by:
            st.text(tell(f"lab_domains.{key}", by=by, at=at[:16].replace("T", " ")))
    with st.container(horizontal=True):
        if not in_force:
            key = f"use_{one.domain}_{one.version}"
            st.button(say("lab_domains.use"), key=key, icon=":material/check:", on_click=_settle, args=(one, VersionState.ACCEPTED))
        if one.state is VersionState.PROPOSED:
            key = f"decline_{one.domain}_{one.version}"
            st.button(say("lab_domains.decline"), key=key, icon=":material/close:", on_click=_settle, args=(one, VersionState.DECLINED))


def _settle(one: ProfileVersion, wanted: VersionState) -> None:
    store = recording.store()
    try:
        if wanted is VersionState.ACCEPTED:
            store.put_profile_in_force(one.domain, one.version)
        else:
            store.decline_profile(one.domain, one.version)
    except RagError as error:  # somebody else was quicker, or nothing can be written
        st.session_state[comparing.PROBLEM] = error


def _show_evidence(store: RecordStore, found: Mapping[str, Any], key: str) -> None:
    labelled = found["kind"] == LABELLED
    said = {"n": found["questions"], "version": found["from"], "before": found.get("before_run"), "after": found.get("after_run")}
    st.text(tell(f"lab_domains.{found['kind']}", **said))
    rows = [
        {"figure": tell(f"lab_domains.rate_{name}"), "before": _rate(found["before"][name]), "after": _rate(found["after"][name])}
        for name in RATES
        if name in found["before"]
    ]
    columns = {name: st.column_config.TextColumn(say(f"lab_domains.{name}"), width=240) for name in ("figure", "before", "after")}
    st.dataframe(rows, hide_index=True, column_config=columns, key=f"evidence_{key}", alt=say("lab_domains.rates_alt"))
    conclusion = tell(f"lab_domains.said_{found['said']}")
    if labelled:
        conclusion = tell(
            "lab_domains.paired", before=found["only_before"], after=found["only_after"], p=found["p"], said=conclusion
        )  # fmt: skip
    st.text(conclusion)
    if not found["flips"]:
        return
    with st.expander(say("lab_domains.flips", n=found["flipped"]), key=f"flips_{key}"):
        texts = _texts(store, found)
        flips = [
            {"question": texts.get(flip["question"], tell("lab_domains.gone")),
             **{side: tell(f"lab_compare.ended_{flip[side]}") for side in ("before", "after")}}
            for flip in found["flips"]
        ]  # fmt: skip
        columns = {name: st.column_config.TextColumn(say(f"lab_domains.{name}")) for name in ("question", "before", "after")}
        st.dataframe(flips, hide_index=True, column_config=columns, key=f"flipped_{key}", alt=say("lab_domains.flips_alt"))


def _texts(store: RecordStore, found: Mapping[str, Any]) -> dict[str, str]:
    """The questions that flipped, as far as they are still kept: by what the evidence calls them."""
    if found["kind"] == LABELLED:
        try:
            return {name_id(one.id): one.question for one in store.run_questions(found["after_run"])}
        except InvalidInput:  # the run was deleted
            return {}
    kept = (store.stored(int(flip["question"])) for flip in found["flips"])
    return {str(one.id): one.question for one in kept if one is not None}


def _rate(row: Mapping[str, Any]) -> str:
    return of_in_words(Rate(row["k"], row["n"]))


def _in_words(values: Mapping[str, Any]) -> str:
    """Settings with their values, in a line; those of documents too."""
    settings = Settings.load().changed(**allowed(values))
    return ", ".join(f"{setting_name(name)}: {value_in_words(name, getattr(settings, name))}" for name in values)
