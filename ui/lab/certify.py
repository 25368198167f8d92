"""The lab's guarantee: a target, the threshold that keeps it with what is promised and what is not, and the preset it
is saved as.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

import streamlit as st

from rag_core import evaluation as evaluate
from rag_core.engine import Engine
from rag_core.errors import InvalidInput
from rag_core.evaluation.certificate import Basis, Certificate
from rag_core.evaluation.certify import FIRST, Request, Uncertified, certify, second_thresholds
from rag_core.evaluation.guarantee import Kind, Shortage, Target
from rag_core.records.stored import RunHead
from rag_core.settings import Settings
from ui.app.downloads import download
from ui.app.elements import badge, select, show_text, shown_error, submit
from ui.app.texts import figure, say, tell
from ui.lab.state import Recorded
from ui.settings import certificates, saved_presets, sharing
from ui.settings.certificates import percent
from ui.settings.wording import setting_name

# percent; the first is switched on
USUAL = {Kind.WRONG_ANSWERS: 5.0, Kind.MISSED_ANSWERS: 10.0, Kind.FALSE_REFUSALS: 10.0}
SURE = (80, 90, 95, 99)  # percent of confidence that are offered
_KEY = "certified"


def show(engine: Engine, run: RunHead, recorded: Recorded, settings: Settings) -> None:
    """The form, and what came of it for this run. `settings` are the run's with the judging ones of the side bar."""
    st.header(say("lab_certify.title"), anchor=False)
    st.caption(say("lab_certify.intro"))
    if run.done < run.total:
        st.info(say("lab_certify.unfinished", done=run.done, total=run.total), icon=":material/hourglass_bottom:")
        return
    if not evaluate.is_current(run, engine):
        st.warning(say("lab_certify.outdated"), icon=":material/history:")
        return
    request = _form()
    this = (run.collection, run.id, run.done)
    with shown_error():
        if request is not None:
            with st.spinner(say("lab_certify.working", n=len(recorded.questions))):
                found = _certify(engine, run, recorded, settings, request)
            st.session_state[_KEY] = this, found
        made = st.session_state.get(_KEY)
        if made is not None and made[0] == this:
            if isinstance(made[1], Certificate):
                _show_certificate(made[1])
            else:
                _show_lack(made[1])


def _certify(
    engine: Engine, run: RunHead, recorded: Recorded, settings: Settings, request: Request
) -> Certificate | Uncertified:
    calibration = engine.tools.calibration
    fitted = calibration.provenance.get("question_hashes", ()) if calibration else ()
    return certify(
        recorded.questions,
        recorded.records,
        recorded.hits,
        settings,
        request,
        Basis.of(engine, run.collection),
        set_name=run.set_name,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        fitted=frozenset(fitted),
        replayed=recorded.replay,
    )


def _form() -> Request | None:
    """The targets that are asked for, once the button is pressed with at least one."""
    with st.form(key="certify", border=True):
        entered = [_entered(column, kind) for column, kind in zip(st.columns(len(Kind)), Kind, strict=True)]
        wanted = [target for target in entered if target is not None]
        sure, one, two = st.columns(3)
        others = ["", *dict.fromkeys(name for chosen in FIRST for name in second_thresholds(chosen))]
        with sure:
            help, at = "lab_certify.confidence_help", SURE.index(95)
            confidence = select("lab_certify.confidence", SURE, "certify_confidence", _percent, at, help)
        with one:
            first = select("lab_certify.first", list(FIRST), "certify_first", setting_name)
        with two:
            second = select("lab_certify.second", others, "certify_second", _second, help="lab_certify.second_help")
        pressed = submit("lab_certify.run", "verified", type="primary")
    if not pressed:
        return None
    if not wanted:
        st.warning(say("lab_certify.no_target"))
        return None
    return Request(tuple(wanted), confidence / 100, first, "" if second == first else second)


def _percent(sure: int) -> str:
    return say("lab_certify.confidence_option", percent=sure)


def _second(name: str) -> str:
    return setting_name(name) if name else say("lab_certify.second_none")


def _entered(column: st.delta_generator.DeltaGenerator, kind: Kind) -> Target | None:
    with column:
        label, help = say(f"lab_certify.use_{kind}"), say(f"lab_certify.help_{kind}")
        wanted = st.toggle(label, value=kind is Kind.WRONG_ANSWERS, key=f"certify_use_{kind}", help=help)
        at_most = st.number_input(
            say("lab_certify.at_most"), 0.1, 99.0, USUAL[kind], 0.5, format="%.1f", key=f"certify_{kind}"
        )
    return Target(kind, round(float(at_most) / 100, 6)) if wanted else None


def _show_certificate(found: Certificate) -> None:
    with st.container(border=True, key="certificate"):
        badge("lab_certify.found", "verified", "green")
        show_text(certificates.promise(found), "promise")
        _say_omissions(found.left_out, found.failed)
        _show_figures(found)
        with st.container(key="not_promised"):
            badge("lab_certify.not_title", "info", "gray")
            st.text(say("lab_certify.not"))
        _save(found)


def _say_omissions(fitted: int, failed: int) -> None:
    if fitted:
        st.caption(say("lab_certify.left_out", n=fitted))
    if failed:
        st.caption(say("lab_certify.failed", n=failed))


def _show_figures(found: Certificate) -> None:
    chosen = certificates.thresholds(found)
    columns = st.columns(len(chosen) + 1 + len(found.bounds))
    for column, (label, value) in zip(columns, chosen, strict=False):
        column.metric(label, value)
    columns[len(chosen)].metric(
        say("lab_certify.coverage"),
        say("lab_certify.percent", share=100 * found.answered / found.questions),
        help=say("lab_certify.coverage_help"),
    )
    for column, bound in zip(columns[len(chosen) + 1 :], found.bounds, strict=True):
        column.metric(say(f"lab_certify.line_{bound.kind}"), f"≤ {figure(percent(bound.at_most), 'g')} %")
        column.caption(say("lab_certify.seen", errors=bound.errors, of=bound.of, upper=100 * bound.upper))


def _show_lack(found: Uncertified) -> None:
    with st.container(border=True, key="uncertified"):
        badge("lab_certify.none", "block", "orange")
        exclude = all(lack.alone for lack in found.shortages)
        if exclude:
            st.text(say("lab_certify.none_exclude"))
        _say_omissions(found.left_out, found.failed)
        if found.needs_model:
            st.text(tell("lab_certify.needs_model", n=found.needs_model))
        for lack in found.shortages:
            with st.container(border=True, key=f"lack_{lack.target.kind}", gap="small"):
                _say_lack(lack, exclude=exclude)


def _say_lack(lack: Shortage, *, exclude: bool) -> None:
    """Say why one target is not met; `exclude` where each can be met alone."""
    target = lack.target
    st.text(
        tell("lab_certify.lack_target", what=say(f"lab_certify.line_{target.kind}"), at_most=percent(target.at_most))
    )
    if lack.alone and not exclude:
        st.caption(say("lab_certify.lack_kept"))
        return
    st.caption(say("lab_certify.lack_count", errors=lack.errors, have=lack.have))
    if lack.needed is None:
        st.caption(say("lab_certify.lack_never"))
    elif lack.needed > lack.have:
        st.caption(say("lab_certify.lack_more", more=lack.needed - lack.have, needed=lack.needed))
        if lack.errors:
            st.caption(say("lab_certify.lack_errorless", errorless=lack.errorless))
    else:
        st.caption(say("lab_certify.lack_enough"))
    if lack.nearest is None:
        st.caption(say("lab_certify.lack_nowhere"))
    else:
        st.caption(say("lab_certify.lack_nearest", nearest=100 * lack.nearest))


def _save(found: Certificate) -> None:
    settings, most = saved_presets.as_settings(found.settings), saved_presets.NAME_CHARS
    with st.form(key="save_certified", border=False):
        label, help = say("lab_certify.name"), say("lab_certify.name_help")
        name = (st.text_input(label, key="certified_name", max_chars=most, help=help) or "").strip()
        default = st.checkbox(say("lab_certify.default"), key="certified_default")
        if submit("lab_certify.save", "save"):
            with shown_error():
                if name in {preset.name for preset in saved_presets.saved()}:
                    raise InvalidInput(say("lab_certify.exists"), remedy=say("lab_certify.exists_remedy"))
                saved_presets.save(name, settings, found, default=default)
                st.toast(say("lab_certify.saved"), icon=":material/check:")
                st.rerun()
    with st.container(horizontal=True, key="certificate_files"):
        certificates.offer(found, name, "certificate")
        written = partial(sharing.to_yaml, settings)
        download("lab_certify.download_settings", written, sharing.FILE, "certificate_settings")
