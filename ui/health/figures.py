"""The kept questions of a period: their figures, why they were refused, and each, one click from its stages.

The texts of questions are untrusted.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from urllib.parse import urljoin

import streamlit as st

from rag_core.decision.summary import Ending
from rag_core.evaluation.health import GOALS, Figure, Kept, figure, refusals, unanswered
from rag_core.records.stored import FeedbackKind, FeedbackState
from rag_core.work.recording import kept as kept_of
from ui.app import state, tables
from ui.app.people import recording
from ui.app.texts import say, tell
from ui.settings.sharing import address
from ui.settings.wording import in_percents

PERIODS = (1, 7, 30, 90)  # days
FIRST = 7  # days that the page begins with: a working week
FRESH_SECONDS = 15.0  # a reading is shown so long without another one
_KEY = "health_reading"  # in the session: collection and days, when it was read, and what
MAX_LISTED = 200  # questions, the newest
_UNIT = {Figure.RETRIEVAL: "ms", Figure.MODEL: "ms"}
_DRAFTED = (Figure.COVERAGE, Figure.FAILED)  # about drafts: only a language model's can be wrong


def read(days: int) -> tuple[Kept, ...]:
    """The questions of the last so many days, newest first.

    Raises:
        RagError: they cannot be read.
    """
    of, now, known = (state.session().collection, days), time.monotonic(), st.session_state.get(_KEY)
    if known is None or known[0] != of or now - known[1] > FRESH_SECONDS:
        with st.spinner(say("health.reading")):
            known = st.session_state[_KEY] = of, now, _read(*of)
    period: tuple[Kept, ...] = known[2]
    return period


def _read(collection: str, days: int) -> tuple[Kept, ...]:
    since = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds")
    return kept_of(state.library_folder(), collection, since, _next_touch)


def _next_touch() -> bool:
    """Let the next touch of the page end a long reading: Streamlit looks for one where the session is read."""
    return st.session_state.get(_KEY) is False


def in_words(which: Figure, value: float | None) -> str:
    """A value with its unit; a dash where there is none."""
    return say("health.none") if value is None else say(f"health.{_UNIT.get(which, 'share')}", value=value)


def shown(kept: Sequence[Kept]) -> dict[Figure, float]:
    """The figures that were measured; those of drafts only where a language model wrote some."""
    found = {which: value for which in Figure if (value := figure(which, kept)) is not None}
    return found if Figure.MODEL in found else {name: of for name, of in found.items() if name not in _DRAFTED}


def show_alerts(kept: Sequence[Kept]) -> None:
    """Say whether a figure is past its alert."""
    past = sum(GOALS[which].alerts(value) for which, value in shown(kept).items())
    if past:
        st.warning(say("health.alerts", n=past), icon=":material/warning:")
    else:
        st.success(say("health.fine"), icon=":material/check_circle:")


def show_figures(kept: Sequence[Kept]) -> None:
    """The figures in one line; each says on request what it counts."""
    with st.container(horizontal=True, gap="large", key="health_figures"):
        for which, value in shown(kept).items():
            name, about = say(f"health.{which.value}"), say(f"health.{which.value}_help")
            look = say("health.look") if GOALS[which].alerts(value) else None
            said = in_words(which, value)
            st.metric(name, said, look, delta_color="off", delta_arrow="off", help=about, width="content")


def show_feedback(since: str) -> None:
    """Show what readers said in the period, beside what is estimated."""
    said = Counter(one.kind for kept in FeedbackState for one in recording.store().feedback(kept) if one.at >= since)
    right, wrong, refusals = (
        said[kind] for kind in (FeedbackKind.HELPFUL, FeedbackKind.WRONG_ANSWER, FeedbackKind.WRONG_REFUSAL)
    )
    if total := right + wrong + refusals:
        st.caption(say("health.feedback", right=right, wrong=wrong, refusals=refusals))
        st.caption(say("health.feedback_share", share=right / total))


def show_reasons(kept: Sequence[Kept]) -> None:
    """A table of reasons in words."""
    st.header(say("health.why"), anchor=False)
    found = refusals(kept)
    if not found:
        st.caption(say("health.why_none"))
        return
    rows = [
        {"sentence": tell(f"refusal.why_{reason}"), "n": count, "share": count / len(kept)} for reason, count in found
    ]
    share = st.column_config.ProgressColumn(say("health.column_share"), format="percent", min_value=0, max_value=1)
    wide = {"sentence": "large", "n": "small"}
    tables.show(rows, "health.column_", "health_reasons", wide=wide, columns={"share": share}, alt="health.why")


def show_refused(kept: Sequence[Kept]) -> None:
    """The questions that the documents did not answer."""
    st.header(say("health.gaps"), anchor=False)
    if refused := unanswered(kept):
        _show_questions(refused, "refused")
    else:
        st.caption(say("health.gaps_none"))


def show_questions(kept: Sequence[Kept]) -> None:
    st.header(say("health.questions"), anchor=False)
    _show_questions(kept, "questions")


def _show_questions(kept: Sequence[Kept], which: str) -> None:
    """A table of the newest questions: how each ended, how sure it was, and a link to its stages."""
    if len(kept) > MAX_LISTED:
        st.caption(say("health.questions_newest", n=MAX_LISTED))
    opens, sure = st.column_config.LinkColumn, st.column_config.NumberColumn
    columns = {
        "sure": sure(say("health.correctness"), width="small", format="%d %%"),
        "open": opens(say("health.question_trace"), display_text=say("health.question_open"), width="small"),
    }
    rows = question_rows(kept[:MAX_LISTED], st.context.url or "", state.session().collection)
    wide = {"at": "small", "question": "large", "why": "large"}
    tables.show(rows, "health.question_", f"health_{which}", wide=wide, columns=columns, alt="health.questions")


def question_rows(kept: Sequence[Kept], page: str, collection: str) -> list[dict[str, object]]:
    """The rows of questions: when, its text, how it ended, how sure, and the address of its decision.

    `page` is the address of this page; the Ask page, beside it, shows decisions.
    """
    return [
        {
            "at": one.at[:16].replace("T", " "),
            "question": one.question,
            "why": tell(_ended(one)),
            "sure": None if one.summary.correctness is None else in_percents(one.summary.correctness),
            "open": address(urljoin(page, "./"), collection, one.id),
        }
        for one in kept
    ]


def _ended(one: Kept) -> str:
    if one.summary.ending is Ending.NO:
        return f"refusal.why_{one.summary.reason}"
    return "health.answered_again" if one.summary.failed else f"health.ended_{one.summary.ending}"
