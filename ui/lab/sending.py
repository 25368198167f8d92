"""The report of a run as a file to send: what happened at the limit, what other limits would do, settings, and each
question.

Questions, answers and names are text in it and nothing else, as in `ui.ask.export`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
import streamlit as st

from rag_core.decision.decide import replay
from rag_core.evaluation import rates
from rag_core.evaluation.report import Tradeoff, effect, suggested
from rag_core.records.stored import RunHead
from rag_core.settings import Mode
from ui.app import sheets, state
from ui.app.people import recording
from ui.app.people.collections import shown_name
from ui.app.sheets import Block, block
from ui.app.sheets import now as today
from ui.app.texts import LANGUAGE, say, speaking, tell
from ui.ask.asking import changed_knobs
from ui.ask.export import NAME_CHARS
from ui.ask.refusal import outcome_in_words
from ui.lab import flips
from ui.lab.flips import ERRORS
from ui.lab.limit import ACCEPTED, ACCEPTED_FIELD, COUNTS
from ui.lab.running import changed_in_words, drafter_in_words, run_before
from ui.lab.state import Judged
from ui.settings import saved_presets
from ui.settings.wording import percent, setting_name, value_in_words

MAX_LISTED = 200  # questions of either list; more are counted
TENTHS = 10  # steps of the limit between two rows of the table


def offer(run: RunHead, now: Judged, limits: Tradeoff | None) -> None:
    """Two buttons; the files are made when they are clicked. `limits` is None where no probability was measured."""
    name = "-".join(["report", *re.findall(r"\w+", run.name.casefold())])[:NAME_CHARS].rstrip("-_")
    with st.container(key="lab_report", gap="xsmall"):
        st.markdown(say("lab_report.open"), help=say("lab_report.open_about"))
        with st.container(horizontal=True):
            sheets.offer(lambda: blocks(run, now, limits), name, "lab_report")


@speaking(LANGUAGE)
def blocks(run: RunHead, now: Judged, limits: Tradeoff | None) -> list[Block]:
    """All that is told of a run under the settings of `now`, top to bottom, for `compose_sheet`."""
    about = tell(
        "lab_report.about",
        collection=shown_name(run.collection),
        date=today(),
        set=run.set_name,
        done=len(now.recorded.questions),
        total=run.total,
        started=run.started[:16].replace("T", " "),
    )
    return [
        block("title", tell("lab_report.title", name=run.name)),
        block("small", about),
        *([block("text", run.note)] if run.note else []),
        block("head", say("lab_limit.title")),
        block("lead", _at_the_limit(now)),
        *(_limits(limits, now) if limits else ()),
        block("head", say("lab_report.rates")),
        {"kind": "rows", "rows": _rates(now)},
        block("head", say("lab_report.settings")),
        *(block("text", line) for line in _settings(run, now)),
        *_listed(now),
    ]


def _at_the_limit(now: Judged) -> str:
    found = effect(now.marked)
    counts = {name: getattr(found, name) for name in COUNTS} | {"n": found.questions}
    if now.settings.correctness_mode is not Mode.ENFORCE:
        return tell("lab_report.at_none", **counts)
    return tell("lab_report.at", limit=100 * now.settings.min_correctness, **counts)


def _limits(of: Tradeoff, now: Judged) -> Iterator[Block]:
    """The counts at each tenth of the limit, at the limit in force and at the suggested one, which are called so."""
    yield block("head", say("lab_report.limits"))
    yield block("small", say("lab_report.limits_about"))
    there, here = suggested(of, st.session_state.get(ACCEPTED_FIELD, ACCEPTED) / 100), now.settings.min_correctness
    idle = now.settings.correctness_mode is not Mode.ENFORCE
    rows = [[say("lab_report.column_limit"), *(say(f"lab_limit.{name}") for name in COUNTS)]]
    for place, (limit, found) in enumerate(zip(of.limits, of.effects, strict=True)):
        named = [*(["here"] if limit == here and not idle else []), *(["there"] if place == there else [])]
        if named or not place % TENTHS:
            at = " ".join([percent(limit, 2), *(f"({say(f'lab_limit.{name}')})" for name in named)])
            rows.append([at, *(str(getattr(found, name)) for name in COUNTS)])
    yield {"kind": "rows", "rows": rows}


def _rates(now: Judged) -> list[list[str]]:
    rows = [[say("lab_report.column_error"), say("lab_report.column_share"), say("lab_report.column_of")]]
    every = np.ones(len(now.outcomes), dtype=bool)
    for name, rate in zip(ERRORS, rates(now.marked, every), strict=True):
        rows.append([say(f"lab_results.{name}"), flips.share_in_words(rate), flips.of_in_words(rate)])
    return rows


def _settings(run: RunHead, now: Judged) -> Iterator[str]:
    yield tell(
        "lab_report.preset",
        preset=saved_presets.label(now.settings.preset),
        drafter=drafter_in_words(run.settings),
        model=run.model,
        calibration=run.calibration or tell("lab_sets.no_calibration"),
        version=run.version,
    )
    moved = changed_knobs(state.preset_settings(now.settings.preset), now.settings)
    named = [f"{setting_name(name)}: {value_in_words(name, new)}" for name, (_, new) in moved.items()]
    yield tell("lab_report.differs", settings="; ".join(named)) if named else say("lab_report.differs_none")
    before = run_before(run, recording.store().runs())
    if before is not None:
        changed = changed_in_words(run, before)
        said = tell("lab_report.changed", name=before.name, settings="; ".join(changed))
        yield said if changed else tell("lab_report.changed_none", name=before.name)


def _listed(now: Judged) -> Iterator[Block]:
    wrong = now.marked.false_refusal | now.marked.wrong_answer | now.marked.missed
    for which, name in ((wrong, "wrong"), (~wrong, "others")):
        yield block("head", say(f"lab_report.{name}"))
        yield from _rows(np.flatnonzero(which).tolist(), now)


def _rows(found: Sequence[int], now: Judged) -> Iterator[Block]:
    if not found:
        yield block("text", say("lab_report.none"))
        return
    rows = [[say(f"lab_results.column_{name}") for name in ("question", "label")] + [say("lab_report.column_answer")]]
    for row in found[:MAX_LISTED]:
        question, decision = now.recorded.questions[row], replay(now.recorded.records[row], now.settings)
        label = " | ".join([flips.label_in_words(question), *question.answers])
        said = "\n".join(flips.answer_lines(decision)) or outcome_in_words(decision)
        rows.append([question.question, label, said])
    yield {"kind": "rows", "rows": rows}
    if len(found) > MAX_LISTED:
        yield block("small", tell("lab_report.more", n=len(found) - MAX_LISTED))
