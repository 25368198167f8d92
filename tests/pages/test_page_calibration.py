"""The calibration behind a button of the side bar: which one is in force, and what the page offers where none is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from page_kit import VACATION, ask, asked_of, captions, field, session_of, texts
from streamlit.testing.v1 import AppTest

from rag_core.gating import scores as calibrate
from rag_core.settings import Mode, Settings, presets
from rag_core.work import loading
from ui.app import state
from ui.app.texts import screen
from ui.settings import saved_presets
from ui.settings.sidebar import FALLBACK

HIDES = "<img src=x> [click](https://example.org)"


def test_given_a_calibration_when_shown_then_it_has_name_id_and_questions_and_one_of_the_collection_comes_first(
    page: AppTest, library: Path
) -> None:
    """S4-25: a collection has a score of its own."""
    page.run()  # the first run opened the library
    shipped = calibrate.read(calibrate.FILE)
    sets = shipped.provenance["sets"]
    assert "Probability calibrated for multilingual-e5-small, 2026-" in texts(page)
    assert f"{shipped.id}: {sum(sets.values()):,} questions, sets: {len(sets)}" in texts(page)
    ask(page, VACATION)
    assert asked_of(page).decision.metadata["calibration"] == shipped.id

    made = replace(shipped, intercept=0.5, provenance={"sets": {"own": 193}, "date": HIDES})
    (library / "default" / "calibration.json").write_text(json.dumps(made.to_json()), encoding="utf-8")
    loading.forget()
    page.run().run()

    assert f"{made.id}: 193 questions, sets: 1" in texts(page)
    assert HIDES in texts(page)
    assert HIDES not in captions(page)


def test_given_a_library_that_no_calibration_fits_then_presets_that_go_by_similarity_are_offered_with_a_warning(
    page: AppTest,
) -> None:
    assert not page.warning
    opened = loading.known(state.library_folder(), state.COLLECTION)
    shipped = opened.engine.tools.calibration
    assert shipped is not None
    needing = {
        name
        for name in presets()
        if Mode.ENFORCE in (Settings.load(name).correctness_mode, Settings.load(name).answerability_mode)
    }
    assert "balanced" in needing
    shown = {saved_presets.label(name) for name in {*saved_presets.FRONT, *saved_presets.PUBLISHED} - needing}

    for without in (replace(shipped, correctness=None), None):
        opened.engine.tools = replace(opened.engine.tools, calibration=without)
        page.run()
        assert page.warning[0].value == screen()["settings.no_calibration"]
        assert field(page, "preset").value == FALLBACK == session_of(page).preset
        assert set(field(page, "preset").options) == shown

    ask(page, VACATION)
    assert asked_of(page).decision.answered
    assert asked_of(page).decision.metadata["calibration"] == ""
