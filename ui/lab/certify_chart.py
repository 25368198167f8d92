"""The curve of a certificate: coverage and each kind of error over the threshold, with the range that keeps the targets."""

from __future__ import annotations

import altair as alt
import pandas as pd

from rag_core.evaluation.certify import Part
from rag_core.evaluation.guarantee import Kind
from ui.app.texts import say
from ui.settings.wording import setting_name

HEIGHT = 420  # pixels
# Okabe and Ito's colours, at least 3 to 1 on a light and on a dark ground, and strokes for those who do not tell them apart
COLOURS = ("#0b8a62", "#d1601f", "#a45aa8", "#4a7fc4")
STROKES = ([1, 0], [6, 3], [8, 3, 2, 3], [2, 2])
GREY = "#7b8682"


def curve_chart(part: Part) -> alt.LayerChart | alt.FacetChart:
    """Shares in percent over the first threshold; a question type has its own."""
    curve, name = part.curve, next(iter(part.thresholds))
    lines = {say("lab_certify.line_coverage"): curve.coverage} | {say(f"lab_certify.line_{kind}"): curve.risks[kind] for kind in Kind}
    rows = pd.DataFrame(
        [
            {"threshold": value, "line": line, "share": None if share is None else 100 * share, "certified": held}
            for line, shares in lines.items()
            for value, share, held in zip(curve.threshold, shares, curve.certified, strict=True)
        ]
    )
    held = [value for value, certified in zip(curve.threshold, curve.certified, strict=True) if certified]
    x = alt.X("threshold:Q", title=setting_name(name), scale=alt.Scale(domain=[min(curve.threshold), max(curve.threshold)]))
    y = alt.Y("share:Q", title=say("lab_certify.axis_share"), scale=alt.Scale(domain=[0, 100]))
    names, legend = list(lines), alt.Legend(title=None, orient="bottom", columns=1, symbolSize=400)
    drawn = (
        alt.Chart(rows)
        .mark_line(strokeWidth=2)
        .encode(
            x=x,
            y=y,
            color=alt.Color("line:N", scale=alt.Scale(range=list(COLOURS), domain=names), legend=legend),
            strokeDash=alt.StrokeDash("line:N", scale=alt.Scale(range=list(STROKES), domain=names), legend=legend),
            tooltip=[
                alt.Tooltip("line:N", title=say("lab_certify.tip_line")),
                alt.Tooltip("threshold:Q", title=say("lab_certify.tip_threshold"), format=".2f"),
                alt.Tooltip("share:Q", title=say("lab_certify.tip_share"), format=".1f"),
                alt.Tooltip("certified:N", title=say("lab_certify.tip_certified")),
            ],
        )
    )
    band = (
        alt.Chart(pd.DataFrame({"from": [min(held)], "to": [max(held)]})).mark_rect(color=GREY, opacity=0.15).encode(x="from:Q", x2="to:Q")
    )
    chosen = pd.DataFrame({"threshold": [part.thresholds[name]], "what": [say("lab_certify.chosen")]})
    limits = pd.DataFrame([{"share": 100 * bound.at_most, "line": say(f"lab_certify.line_{bound.kind}")} for bound in part.bounds])
    rule = alt.Chart(chosen).mark_rule(color=GREY, strokeWidth=2).encode(x="threshold:Q")
    said = alt.Chart(chosen).mark_text(align="left", dx=5, y=10, color=GREY, fontSize=12).encode(x="threshold:Q", text="what:N")
    colour = alt.Color("line:N", scale=alt.Scale(range=list(COLOURS), domain=names), legend=legend)
    at_most = alt.Chart(limits).mark_rule(strokeWidth=1, opacity=0.7).encode(y="share:Q", color=colour)
    return alt.layer(band, at_most, drawn, rule, said).properties(height=HEIGHT)
