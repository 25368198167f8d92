"""The trace of a decision: every check as a row with its value drawn against its limit, and what it asks on a click.

Checks that were not reached show what they measured all the same. Words of a check that may come from documents (`found`, `note`,
`remedy`) are shown as inert text only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import streamlit as st

from rag_core.decision.checks import CHECKS
from rag_core.domain.decision import Decision
from rag_core.domain.measurements import Measurements
from rag_core.domain.trace import CheckResult, Direction, State
from rag_core.settings import Mode, Settings
from ui.app.texts import say, tell
from ui.ask.decision.attempts import show_attempts
from ui.ask.decision.meter import meter
from ui.ask.decision.sentences import BEFORE, show_rejected
from ui.settings.wording import PERCENT, percent

# the setting that is a check's limit; where there is none, the limit is fixed
LIMITS: Mapping[str, str] = {check.name: check.threshold for check in CHECKS if isinstance(check.threshold, str)}
_ROW_HEIGHT = 38  # pixels: the picture's numbers can be read
_PICTURE_WIDTH = 320  # pixels, in the details
_COLUMNS = {
    "check": 198, "state": 142, "meter": 214, "measured": 74, "required": 74, "when": 62, "mode": 106, "ms": 74, "scale": 140,
}  # fmt: skip


def show_trace(decision: Decision, measurements: Measurements | None = None, expanded: bool | None = None) -> None:
    """The checks in order, before an answer, on it, and its confidence; a draft that was rejected; the decision as a file.

    Args:
        decision: what was decided; a reply that needed no check shows only its file.
        measurements: what was measured for it, with the milliseconds that each stage took.
        expanded: whether the checks are open at first; without it those of a refusal are.
    """
    unfolded = not decision.answered if expanded is None else expanded
    checks = decision.trace.checks
    if checks:
        with st.expander(say("trace.title", n=len(checks)), icon=":material/checklist:", expanded=unfolded, key="trace"):
            _table(checks)
            if measurements is not None:
                show_rejected(decision, measurements)
                show_attempts(decision.attempts, measurements.llm_trace)
                _show_timings(measurements.timings)
    st.download_button(
        say("trace.download"), lambda: json.dumps(decision.to_json(), ensure_ascii=False, indent=2), "decision.json", "application/json",
        key="download", icon=":material/download:", on_click="ignore", help=say("trace.download_help"),
    )  # fmt: skip


def measured(check: CheckResult) -> str:
    """The measured value as it is shown; a dash without one. It has as many digits as tell it from its limit."""
    return "–" if check.value is None else _number(check, check.value)


def required(check: CheckResult) -> str:
    """The limit with the sign of the side that passes; a dash without one."""
    if check.threshold is None or check.direction is None:
        return "–"
    limit = _number(check, check.threshold)
    return tell("trace.required_at_least" if check.direction is Direction.AT_LEAST else "trace.required_at_most", limit=limit)


def state_in_words(check: CheckResult) -> str:
    """How a check ended, with a sign that does not need colour; a miss that blocks nothing says so."""
    if check.mode is Mode.OFF:
        return say("trace.state_off")
    if check.state is State.FAILED and not check.blocks:
        return say("trace.state_observed")
    if check.state is State.PASSED and check.threshold is None:
        return say("trace.state_shown")
    return say(f"trace.state_{check.state}")


def mode_in_words(check: CheckResult) -> str:
    """The mode of a check, in words."""
    if check.mode is Mode.ENFORCE and mode_knob(check.stage) is None:
        return say("trace.mode_always")
    return say(f"trace.mode_{check.mode}")


def mode_knob(stage: str) -> str | None:
    """The setting that says what a check may do; None for one that no setting turns off."""
    name = f"{stage}_mode"
    return name if name in Settings.model_fields else None


def source(stage: str) -> str:
    """Where a check's default threshold comes from; empty where nothing is known of it."""
    return next((check.source for check in CHECKS if check.name == stage), "")


@st.fragment
def _table(checks: tuple[CheckResult, ...]) -> None:
    """A fragment, so that choosing a row does not run the page."""
    grid = {name: st.column_config.Column(say(f"trace.column_{name}"), width=width) for name, width in _COLUMNS.items()}
    for name in ("when", "mode"):
        grid[name] = st.column_config.Column(say(f"trace.column_{name}"), width=_COLUMNS[name], help=say(f"trace.column_{name}_help"))
    grid["meter"] = st.column_config.ImageColumn(say("trace.column_meter"), width=_COLUMNS["meter"], help=say("trace.column_meter_help"))
    grid["ms"] = st.column_config.NumberColumn(
        say("trace.column_ms"), width=_COLUMNS["ms"], help=say("trace.column_ms_help"), format="%.1f ms"
    )  # fmt: skip
    chosen = st.dataframe(
        [_row(check) for check in checks], hide_index=True, column_config=grid, row_height=_ROW_HEIGHT, height="content", key="trace_rows",
        on_select="rerun", selection_mode="single-cell", placeholder="", alt=say("trace.alt"),
    ).selection.cells  # fmt: skip
    shown = [checks[row] for row, _ in chosen if row < len(checks)]
    if not shown:
        st.caption(say("trace.hint"))
    for check in shown:
        _show_details(check)


def _row(check: CheckResult) -> dict[str, Any]:
    return {
        "check": say(f"trace.title_{check.stage}"),
        "state": state_in_words(check),
        "meter": meter(check),
        "measured": measured(check),
        "required": required(check),
        "when": say(f"trace.when_{_group(check.stage)}"),
        "mode": mode_in_words(check),
        "ms": check.ms or None,
        "scale": say(f"trace.scale_{check.scale or ''}"),
    }


def _group(stage: str) -> str:
    if stage in BEFORE:
        return "gate"
    return "confidence" if stage in ("confidence", "file_dates") else "audit"


def _show_details(check: CheckResult) -> None:
    """Show the question that a check asks, its finding in words, and where its threshold comes from and is set."""
    with st.container(border=True, gap="xsmall", key="trace_details"):
        st.subheader(say(f"trace.title_{check.stage}"), anchor=False)
        st.markdown(say(f"trace.about_{check.stage}"))
        st.image(meter(check), width=_PICTURE_WIDTH, alt=say("trace.meter_alt"))
        st.text("\n".join(_details(check)))


def _details(check: CheckResult) -> list[str]:
    """A check's own words, which may be a document's, and where its limit is set and comes from."""
    lines = []
    if check.found:
        lines.append(tell("trace.found", found=check.found))
    if check.note:
        lines.append(tell("trace.note", note=check.note))
    if check.remedy and check.blocks:
        lines.append(tell("trace.remedy", remedy=check.remedy))
    if check.stage in LIMITS:
        lines.append(tell("trace.setting", label=say(f"knobs.{LIMITS[check.stage]}")))
    elif check.threshold is not None:
        lines.append(say("trace.no_setting"))
    if knob := mode_knob(check.stage):
        lines.append(tell("trace.mode_setting", label=say(f"knobs.{knob}")))
    if source(check.stage):
        lines.append(tell("trace.source", source=source(check.stage)))
    return lines


def _show_timings(timings: Mapping[str, float]) -> None:
    """Milliseconds by stage, in the order in which they were taken; nothing where none was."""
    if not timings:
        return
    rows = [tell("trace.timing", ms=f"{ms:8.1f}", step=say(f"trace.timing_{stage}")) for stage, ms in timings.items()]
    st.code("\n".join([tell("trace.total_ms", ms=f"{sum(timings.values()):.0f}"), *rows]), language=None, wrap_lines=True)


def _number(check: CheckResult, value: float) -> str:
    if check.scale == "count":
        return f"{value:g}"
    two = {f"{number:.2f}" for number in (check.value, check.threshold) if number is not None}
    digits = 4 if len(two) == 1 and check.value != check.threshold and None not in (check.value, check.threshold) else 2
    if check.scale in PERCENT:
        return percent(value, digits - 2)
    return f"{value:.{digits}f}"
