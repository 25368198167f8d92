"""The calibration behind a button of the side bar: which one is in force, and what the page offers where none is."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from page_kit import VACATION, ask, asked_of, captions, field, session_of, texts
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block

from rag_core.gating import scores as calibrate
from rag_core.gating.scores import Calibration
from rag_core.settings import Mode, Settings, presets
from rag_core.work import loading
from ui.app import state
from ui.app.texts import screen
from ui.settings import saved_presets
from ui.settings.sidebar import FALLBACK

HIDES = "<img src=x> [click](https://example.org)"


def recalibrated(change: Callable[[Calibration], Calibration | None]) -> None:
    opened = loading.known(state.library_folder(), state.COLLECTION)
    assert opened is not None
    assert opened.engine is not None
    assert opened.engine.tools.calibration is not None
    opened.engine.tools = replace(opened.engine.tools, calibration=change(opened.engine.tools.calibration))


def own(about: dict[str, object]) -> Callable[[Calibration], Calibration]:
    return lambda one: replace(one, provenance=about)


def box(page: AppTest) -> Block:
    """What opens on a click: the only place that names a model, a hash or a count of questions."""
    (found,) = (
        block for block in page.get("popover") if block.proto.popover.label == screen()["settings.calibration_where"]
    )
    return found


def shown(page: AppTest) -> str:
    return box(page).get("text")[-1].value


def test_given_a_calibration_when_shown_then_it_has_name_id_sets_and_the_measurements_that_there_are(
    page: AppTest,
) -> None:
    page.run()  # the first run opened the library

    shipped = calibrate.read(calibrate.FILE)
    sets = shipped.provenance["sets"]
    assert "Probability calibrated for multilingual-e5-small, 2026-" in texts(page)
    assert f"{shipped.id}: {sum(sets.values()):,} questions, {len(sets)} sets" in texts(page)
    assert "AUROC" in shown(page)
    behind = {text.value for text in box(page).get("text")}
    assert not [
        text.value
        for text in page.text
        if text.value not in behind and ("MiniLM" in text.value or shipped.id in text.value)
    ]
    assert f"{sum(sets.values()):,}" not in captions(page)

    ask(page, VACATION)

    assert asked_of(page).decision.metadata["calibration"] == calibrate.read(calibrate.FILE).id

    for about, told in (
        ({"expected": {"answerable": {"xquad-en": POOR}, "right": {"xquad-en": GOOD}}}, "right answers"),
        (
            {"left_out_of_the_fit": {"all": POOR}, "correctness": {"left_out_of_the_fit": {"all": GOOD}}},
            "right answers",
        ),
        ({"this_group_left_out": {"en": GOOD, "de": {"n": 2}}}, "answerable questions"),
    ):
        recalibrated(own(about))
        page.run()
        assert not page.exception
        assert f"It told {told} from" in shown(page)
        assert "0.81" in shown(page)
        assert "0.50" not in shown(page)

    for about in ({}, {"sets": {}}, {"left_out_of_the_fit": {}}, {"expected": {}}):
        recalibrated(own(about))
        page.run()
        assert not page.exception
        assert shown(page) == screen()["settings.calibration_plain"]


def test_given_a_library_with_a_calibration_of_its_own_when_opened_then_that_one_is_shown(
    app: AppTest, library: Path
) -> None:
    """S4-25: a collection has a score of its own."""
    figures = {"n": 193, "auroc": 0.9201, "calibration_error": 0.0583}
    about = {"sets": {HIDES: 193}, "date": "2026-11-20", "left_out_of_the_fit": {"all": figures}}
    made = replace(calibrate.read(calibrate.FILE), intercept=0.5, provenance=about)
    (library / "default" / "calibration.json").write_text(json.dumps(made.to_json()), encoding="utf-8")

    app.run()
    app.run()

    assert f"{made.id}: 193 questions, {HIDES}" in texts(app)
    assert "2026-11-20" in texts(app)
    assert "AUROC of 0.92" in shown(app)
    assert "off by 0.06" in shown(app)
    assert not app.exception


def test_given_a_library_that_no_calibration_fits_then_presets_that_go_by_similarity_are_offered_with_a_warning(
    page: AppTest,
) -> None:
    assert not page.warning
    recalibrated(lambda _: None)

    page.run()

    assert page.warning[0].value == screen()["settings.no_calibration"]
    preset = field(page, "preset")
    needing = {
        name
        for name in presets()
        if Mode.ENFORCE in (Settings.load(name).correctness_mode, Settings.load(name).answerability_mode)
    }
    assert "balanced" in needing
    assert preset.value == FALLBACK == session_of(page).preset
    shown = {*saved_presets.FRONT, *saved_presets.PUBLISHED} - needing
    assert set(preset.options) == {saved_presets.label(name) for name in shown}
    ask(page, VACATION)
    assert asked_of(page).decision.answered
    assert asked_of(page).decision.metadata["calibration"] == ""


def test_given_a_calibration_again_then_the_preset_comes_back_unless_something_was_changed(page: AppTest) -> None:
    found = calibrate.read(calibrate.FILE)

    def without_and_with(change: Callable[[], object]) -> str:
        opened = loading.known(state.library_folder(), state.COLLECTION)
        assert opened is not None
        assert opened.engine is not None
        for calibration in (None, found):
            opened.engine.tools = replace(opened.engine.tools, calibration=calibration)
            page.run()
            if calibration is None:
                change()
        return session_of(page).preset

    assert without_and_with(lambda: None) == "balanced"
    assert field(page, "preset").value == "balanced"
    assert without_and_with(lambda: field(page, "knob_top_k").set_value(4).run()) == FALLBACK


POOR, GOOD = ({"n": 10, "auroc": value, "calibration_error": 0.1} for value in (0.5, 0.81))
