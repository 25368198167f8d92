"""The table of checks: whatever judges, certifies, draws or explains a check follows from its row."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from builders import claim, draft, measured, measurements, passage
from folding import each

from rag_core.decision.checks import CHECKS, GATING, GROUNDING, Check
from rag_core.decision.decide import decide
from rag_core.domain.drafts import ClaimMeasurement
from rag_core.domain.measurements import Measurements
from rag_core.domain.status import AnswerStatus, Reason
from rag_core.domain.trace import Direction, State
from rag_core.settings import Cost, Mode, Scale, Settings
from reports import checks as checks_page

ROOT = Path(__file__).resolve().parents[2]

# who else may read a setting of a check, and why: what is beside a judgement
READ_ELSEWHERE = {
    # the cut marks passages too
    "distance_mode": {
        "settings/configuration.py",
        "gating/levels.py",
        "decision/batch/columns.py",
    },
    "max_distance": {
        "settings/configuration.py",
        "gating/levels.py",
        "decision/batch/columns.py",
        "decision/decide.py",
    },
    "contradictions_mode": {"gating/levels.py"},  # whether both sides are shown
    # which reading of a follow-up is asked
    "min_correctness": {"evaluation/certify.py", "engine.py"},
    "expand_searches": {"decision/progress.py"},  # how often the model is asked
    # below it other passages are looked at too
    "min_support": {
        "decision/measure.py",
        "decision/llm_steps.py",
        "grounding/entailment.py",
    },
    "min_documents_mode": {"settings/configuration.py"},  # on where the environment sets the number
    # a variable of the environment; the reason has the same name
    "min_documents": {
        "settings/configuration.py",
        "domain/status.py",
    },
}
# the pages speak of the gate of the headline number ("% sure"), and of what a preset switches with a calibration; of no
# other check
READ_BY_PAGES = {
    "min_correctness": {"ask/keys.py", "lab/limit.py"},
    "correctness_mode": {"lab/limit.py", "settings/sidebar.py", "settings/saved_presets.py"},
    "answerability_mode": {"settings/sidebar.py", "settings/saved_presets.py"},
    "sufficiency_mode": {"settings/saved_presets.py"},
}
# settings of the draft that a check reads as well
READ_FOR_DRAFTING = {
    "translate",
    "max_sentences",
    "max_tokens",
    "rewording",
}
# what is wrong, claim by claim
READ_FOR_FINDINGS = {
    "grounding/feedback.py",
    "grounding/judge.py",
    "grounding/overlap.py",
}


def test_given_the_table_then_names_reasons_and_settings_are_each_check_s_own() -> None:
    names, reasons = [check.name for check in CHECKS], [check.reason for check in CHECKS]
    modes = [check.mode for check in CHECKS if check.mode]

    assert len(set(names)) == len(set(reasons)) == len(CHECKS)
    assert len(set(modes)) == len(modes)
    for check in CHECKS:
        assert check.asks.endswith((".", "?")), check.name
        assert check.status is check.reason.status is not AnswerStatus.SUCCESS, check.name
        assert set(check.settings) <= set(Settings.model_fields), check.name
        if isinstance(check.threshold, str):
            knob = next(knob for knob in Settings.knobs() if knob.name == check.threshold)
            assert knob.cost is Cost.REPLAY, check.name
            assert knob.stricter == ("higher" if check.passes is Direction.AT_LEAST else "lower"), check.name


def test_given_the_page_of_checks_when_compared_then_it_says_what_the_rows_say() -> None:
    page = checks_page.PAGE.read_text(encoding="utf-8")

    assert checks_page.written(page) == page, "run: python -m reports.checks"
    for check in CHECKS:
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{check.name}` |")]
        assert row.endswith(f"| `{check.status}` |")
        assert check.reason == check.name or f"`{check.reason}` for `{check.name}`" in " ".join(page.split())


def test_given_the_settings_then_every_mode_belongs_to_one_row() -> None:
    modes = {knob.name for knob in Settings.knobs() if isinstance(knob.default, Mode)}

    assert modes == {check.mode for check in CHECKS if check.mode}


def names_of(folder: Path) -> dict[str, set[str]]:
    """The words of each module in a folder, without its docstrings."""
    return {
        path.relative_to(folder).as_posix(): set(
            re.findall(r"\w+", re.sub(r'"""[\s\S]*?"""', "", path.read_text(encoding="utf-8")))
        )
        for path in folder.rglob("*.py")
    }


def test_given_a_setting_of_a_check_then_no_other_module_of_the_core_or_the_pages_names_it() -> None:
    core, pages = names_of(ROOT / "rag_core"), {**names_of(ROOT / "ui"), **names_of(ROOT / "pages")}
    declared = ("settings/settings.py", "settings/llm.py", "decision/checks/")
    for name in {name for check in CHECKS for name in check.settings} - READ_FOR_DRAFTING:
        users = {file for file, names in core.items() if name in names and not file.startswith(declared)}
        unexpected = users - READ_ELSEWHERE.get(name, set()) - READ_FOR_FINDINGS
        assert not unexpected, f"{name} is named in {sorted(unexpected)}: judge it in its row, or say here why not"
        shown = {file for file, names in pages.items() if name in names}
        assert shown == READ_BY_PAGES.get(name, set()), (
            f"{name} is named by {sorted(shown)}: draw it from the table, or say here why not"
        )


def test_given_a_row_with_a_veto_then_it_fails_whatever_its_threshold_is() -> None:
    new: Check[Measurements] = Check(
        name="never",
        asks="Never?",
        reason=Reason.SUFFICIENCY,
        scale=Scale.SHARE,
        passes=Direction.AT_LEAST,
        value=lambda m: 1.0,
        threshold=0,
        said=lambda *_: "",
        remedy="None.",
        vetoes=lambda m: True,
    )

    assert new(measurements(0.9)).state is State.FAILED
    assert replace(new, vetoes=lambda m: False)(measurements(0.9)).state is State.PASSED


def test_given_a_reason_or_a_scale_without_its_other_half_then_it_cannot_be_made() -> None:
    with pytest.raises(TypeError, match="needs a status"):
        Reason._new_member_(Reason, "new")
    with pytest.raises(TypeError, match="needs bounds"):
        Scale._new_member_(Scale, "new")
    with pytest.raises(ValueError, match="probability"):
        replace(GATING[0](measurements(0.9)), scale="probability")


@each("name", ["citations_valid", "verbatim", "indicators", "facts"])
def test_given_a_claim_that_was_not_measured_then_no_check_of_findings_passes(name: str) -> None:
    row = next(check for check in GROUNDING if check.name == name)
    result = row(measurements(0.9, of=Settings.load(), draft=draft([claim(passage())], [ClaimMeasurement()])))

    assert (result.state, result.value, result.note) == (State.NOT_RUN, None, "this was not measured")
    assert result.blocks


@each("count", [0, 2])
def test_given_fewer_or_more_measurements_than_claims_then_no_check_judges_the_draft(count: int) -> None:
    with pytest.raises(ValueError, match=f"1 claims need as many measurements, got {count}"):
        decide(measurements(0.9, draft=replace(draft([claim(passage())]), measured=(measured(),) * count)))
