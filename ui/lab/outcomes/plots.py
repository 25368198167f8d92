"""How well one score parts the questions of a run, in plots; a click on a bar or a point lists the questions behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from rag_core.decision.batch import Held, ReplaySet, checks_of
from rag_core.decision.batch.columns import Flags, Floats, Ints
from rag_core.domain.measurements import Measurements
from rag_core.domain.trace import Direction
from rag_core.evaluation import metrics
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.settings import Scale
from ui.app.texts import say
from ui.ask.decision.checks import LIMITS
from ui.lab.outcomes import charts, picked
from ui.lab.outcomes.judged import Fixed, Judged

RELIABILITY_BINS = 10  # tenths of the scale, for the calibration error
MAX_LIMITS = 4  # drawn as lines; where a limit differs from question to question there may be more


@dataclass(frozen=True, slots=True, eq=False)
class _Scored:
    """One check's measurements where there are any: `rises` are they so that higher passes; all of shape (m,).

    `wanted` are the questions that should pass: those that are answerable, and for the probability that the answer is right those whose
    draft is. An answerable question whose right answer is not labelled counts as one. `every` says it of all n questions, measured or not.
    `rows` are the places of the m among the n.
    """

    check: Held
    values: Floats
    rises: Floats
    passes: Flags
    wanted: Flags
    every: Flags
    wrong: Flags
    limits: Floats
    rows: Ints
    left_out: int

    @property
    def ending(self) -> str:
        """Of the names of these charts' texts: right answers have words of their own."""
        return "_right" if self.check.scale == Scale.CORRECTNESS else ""

    @property
    def sign(self) -> float:
        return 1.0 if self.check.direction is Direction.AT_LEAST else -1.0


def _scored(check: Held, now: Judged, labels: Fixed) -> _Scored:
    limits = np.broadcast_to(np.asarray(check.limits, dtype=np.float64), check.values.shape)
    known = ~np.isnan(check.values) & ~check.abstains & now.marked.measured
    at_least = check.direction is Direction.AT_LEAST
    values = check.values[known]
    passes = values >= limits[known] if at_least else values <= limits[known]
    wanted = ~labels.wrong if check.scale == Scale.CORRECTNESS else now.marked.answerable
    return _Scored(
        check, values, values if at_least else -values, passes, wanted[known], wanted, labels.wrong[known], np.unique(limits[known]),
        np.flatnonzero(known), int((now.marked.measured & ~known).sum()),
    )  # fmt: skip


def show(
    of: ReplaySet,
    questions: Sequence[LabelledQuestion],
    records: Sequence[Measurements],
    now: Judged,
    before: Judged,
    labels: Fixed,
) -> None:
    """The choice of a score, its plots, and the questions behind what was clicked. All in the questions' order."""
    st.subheader(say("lab_results.curves"), anchor=False)
    held = {check.name: check for check in checks_of(of, now.settings) if check.name in LIMITS}
    name = st.selectbox(
        say("lab_results.score"), list(held), format_func=lambda name: say(f"checks.title_{name}"), key="lab_score",
        help=say("lab_results.score_help"), persist_state="session", width=420,
    )  # fmt: skip
    scored = _scored(held[name], now, labels)
    st.caption(say(f"checks.about_{name}"))
    if scored.left_out:
        st.caption(say("lab_results.left_out", n=scored.left_out))
    if not scored.values.size:
        st.info(say("lab_results.no_values"), icon=":material/info:")
        return
    drawn: list[Callable[[_Scored, Judged], None]] = [_show_histogram, _show_risk, _show_roc, _show_precision]
    if scored.check.scale in (Scale.CORRECTNESS, Scale.ANSWERABILITY):
        drawn.append(_show_reliability)
    for row in range(0, len(drawn), 2):
        for column, chart in zip(st.columns(2, gap="medium"), drawn[row : row + 2], strict=False):
            with column:
                chart(scored, now)
    found = picked.of_score(name, scored.values, scored.rises, scored.wanted)
    if found is None:
        st.caption(say("lab_picked.how"))
    else:
        picked.show(scored.rows[found], questions, records, now, before)


def _show_histogram(of: _Scored, now: Judged) -> None:
    st.markdown(say("lab_results.histogram"), help=say(f"lab_results.histogram_help{of.ending}"))
    axis = say(f"checks.scale_{of.check.scale}")
    limits = of.limits.tolist() if len(of.limits) <= MAX_LIMITS else [float(of.limits.min()), float(of.limits.max())]
    chart = charts.histogram(
        of.values,
        of.wanted,
        limits,
        axis,
        of.check.scale == "count",
        (say(f"lab_results.wanted{of.ending}"), say(f"lab_results.unwanted{of.ending}")),
    )
    picked.chart(of.check.name, chart, "lab_histogram", say("lab_results.histogram_alt", n=len(of.values)))


def _show_risk(of: _Scored, now: Judged) -> None:
    made, area = metrics.risk_coverage(of.rises, of.wrong), metrics.aurc(of.rises, of.wrong)
    if made is None or area is None:
        return
    st.markdown(say("lab_results.risk", aurc=area), help=say("lab_results.risk_help"))
    given = now.marked.measured & now.marked.answered
    wrong = given & (now.marked.wrong_answer | now.marked.missed)
    here = (_share(of.passes), _share(of.wrong[of.passes])) if of.passes.any() else None
    all_checks = (int(given.sum()) / max(int(now.marked.measured.sum()), 1), _share(wrong[given])) if given.any() else None
    chart = charts.curve(made, say("lab_results.axis_coverage"), say("lab_results.axis_risk"), here, all_checks, of.sign)
    picked.chart(of.check.name, chart, "lab_risk", say("lab_results.risk_alt", aurc=area))


def _show_roc(of: _Scored, now: Judged) -> None:
    made, area = metrics.roc_curve(of.rises, of.wanted), metrics.auroc(of.rises, of.wanted)
    if made is None or area is None:
        st.markdown(say("lab_results.roc_none"))
        st.caption(say(f"lab_results.one_class{of.ending}"))
        return
    st.markdown(say("lab_results.roc", auroc=area), help=say(f"lab_results.roc_help{of.ending}"))
    here = (_share(of.passes[~of.wanted]), _share(of.passes[of.wanted]))
    yes, no = now.marked.measured & of.every, now.marked.measured & ~of.every
    all_checks = (_share(now.marked.answered[no]), _share(now.marked.answered[yes])) if yes.any() and no.any() else None
    titles = say(f"lab_results.axis_false_positive{of.ending}"), say(f"lab_results.axis_true_positive{of.ending}")
    chart = charts.curve(made, *titles, here, all_checks, of.sign, chance=True)
    picked.chart(of.check.name, chart, "lab_roc", say("lab_results.roc_alt", auroc=area))


def _show_precision(of: _Scored, now: Judged) -> None:
    made, average = metrics.precision_recall(of.rises, of.wanted), metrics.average_precision(of.rises, of.wanted)
    if made is None or average is None:
        return
    st.markdown(say("lab_results.precision", average=average), help=say(f"lab_results.precision_help{of.ending}"))
    here = (_share(of.passes[of.wanted]), _share(of.wanted[of.passes])) if of.passes.any() else None
    given = now.marked.measured & now.marked.answered
    wanted = now.marked.measured & of.every
    all_checks = (_share(given[wanted]), _share(wanted[given])) if given.any() else None
    titles = say(f"lab_results.axis_recall{of.ending}"), say(f"lab_results.axis_precision{of.ending}")
    chart = charts.curve(made, *titles, here, all_checks, of.sign)
    picked.chart(of.check.name, chart, "lab_precision", say("lab_results.precision_alt", average=average))


def _show_reliability(of: _Scored, now: Judged) -> None:
    bins = metrics.reliability(of.values, of.wanted, RELIABILITY_BINS)
    error = metrics.calibration_error(bins)
    if error is None:
        return
    st.markdown(say("lab_results.reliability", error=error), help=say(f"lab_results.reliability_help{of.ending}"))
    chart = charts.reliability(bins, say(f"lab_results.axis_came_true{of.ending}"))
    picked.chart(of.check.name, chart, "lab_reliability", say("lab_results.reliability_alt", error=error))


def _share(flags: Flags) -> float:
    return float(flags.mean()) if flags.size else 0.0
