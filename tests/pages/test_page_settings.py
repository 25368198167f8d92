"""The settings beside the questions: presets, fields, what differs, the way back, and finding one by a word."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from folding import each
from page_kit import VACATION, Touch, ask, badges, captions, field, move, open_part, session_of
from streamlit.testing.v1 import AppTest

from rag_core.entrypoints.commands.terminal import show_decision
from rag_core.settings import Cost, Knob, Mode, Settings, Stage
from rag_core.work import loading
from ui.app import state
from ui.app.texts import say, screen
from ui.ask.refusal import outcome_in_words
from ui.settings import saved_presets
from ui.settings.fields import FIXED, help_text

ANSWERED = "Answered from the documents"
KNOBS = {knob.name: knob for knob in Settings.knobs()}
# in the side bar under the default preset, without a model
FRONT = (
    "top_k",
    "min_correctness",
    "max_sentence_words",
    "min_place",
)
MAX_FOUND = 10  # fields that a search shows


def keys(page: AppTest) -> set[str]:
    return {button.key for button in page.button}


def shown_settings(page: AppTest) -> set[str]:
    fields = (*page.slider, *page.selectbox, *page.toggle, *page.text_input, *page.text_area)
    return KNOBS.keys() & {name_of(one) for one in fields}


def name_of(one: Any) -> str:
    """The setting of a field, whatever edition of it is on the page."""
    return re.sub(r"^knob_|_\d+$", "", one.key or "")


def test_given_the_sidebar_when_every_stage_is_opened_then_each_setting_has_field_range_and_cost(page: AppTest) -> None:
    """S0-34: every threshold can be set, over its whole range."""
    costs = {Cost.REPLAY: "at once", Cost.ASK: "asked again", Cost.INGEST: "indexed from now on"}
    seen = set()

    for stage in Stage:
        open_part(page, stage)
        for name in shown_settings(page):
            knob, widget = KNOBS[name], field(page, f"knob_{name}")
            assert name in FRONT or knob.stage is stage
            assert widget.label == screen()[f"knobs.{name}"]
            assert widget.help == help_text(knob)
            assert widget.disabled is (name in FIXED)
            assert name in FIXED or costs[knob.cost] in widget.help
            if knob.low is not None:
                assert (widget.min, widget.max, widget.step) == (knob.low, knob.high, knob.step)
            seen.add(name)

    assert seen == set(KNOBS)

    open_part(page, "gate")

    said = captions(page)
    assert "at once · higher is stricter" in said
    assert "at once · lower is stricter" in said
    assert "asks again" in said
    open_part(page, "ingest")
    assert "for new documents" in captions(page)
    assert "the collection's own" in captions(page)


@each("knob", Settings.knobs(), ids=lambda knob: knob.name)
def test_given_a_setting_when_shown_then_its_label_and_help_are_plain_words(knob: Knob) -> None:
    label, help = screen()[f"knobs.{knob.name}"], help_text(knob)

    assert 3 <= len(label) <= 64
    assert "_" not in label
    assert "(S" not in help  # numbers of requirements are for the documentation
    assert help.startswith(knob.help[:20])
    assert help.endswith(".")


def test_given_settings_then_the_side_bar_has_the_sliders_that_can_decide_under_them_by_stage_and_no_other(
    page: AppTest,
) -> None:
    assert tuple(map(name_of, page.sidebar.slider)) == FRONT
    assert screen()["settings.none_ground"] in captions(page)

    field(page, "preset").set_value("scoping").run()

    assert deciding_of(page) == {
        "retrieve": ["top_k"],
        "gate": ["max_distance", "min_documents", "min_keywords", "max_missing_entities"],
        "compress": [],
        "ground": [],
        "decide": ["min_place"],
    }
    assert {name: field(page, f"knob_{name}").value for name in ("max_distance", "min_documents")} == {
        "max_distance": 0.8,
        "min_documents": 2,
    }

    page.session_state["plumbline"].values["drafter"] = "model"
    page.run()

    assert {"min_sentence_overlap", "min_similarity", "min_support"} <= set(deciding_of(page)["ground"])
    assert {"max_length_ratio", "max_added_words"} <= set(deciding_of(page)["compress"])


def deciding_of(page: AppTest) -> dict[str, list[str]]:
    """The sliders of the side bar by the stage whose heading they stand under."""
    found: dict[str, list[str]] = {stage: [] for stage in ("retrieve", "gate", "compress", "ground", "decide")}
    heads = {screen()[f"settings.head_{stage}"]: stage for stage in found}
    here = ""
    for element in page.sidebar:
        here = heads.get(getattr(element, "value", None), here) if element.type == "markdown" else here
        if element.type == "slider":
            found[here].append(name_of(element))
    return found


def test_given_a_question_on_the_page_then_each_slider_says_where_it_flips_and_a_preset_judges_(page: AppTest) -> None:
    ask(page, VACATION)
    (flip,) = [
        line.value
        for line in page.sidebar.text
        if line.value.startswith("Refuses this question at") and "%" in line.value
    ]
    percent = int(flip.split()[-2])

    move(page, "min_correctness", percent / 100)

    assert not page.session_state.plumbline.asked.decision.answered
    assert any(line.value.startswith("Answers this question at") for line in page.sidebar.text)

    assert page.session_state.plumbline.asked.decision.trace["top_cosine"].mode is Mode.OBSERVE

    field(page, "preset").set_value("compliance").run()

    assert page.session_state.plumbline.asked.decision.trace["top_cosine"].mode is Mode.ENFORCE
    assert "min_correctness" not in map(name_of, page.slider)


def test_given_a_name_when_settings_are_saved_then_they_are_a_preset_of_the_collection(page: AppTest) -> None:
    move(page, "min_correctness", 0.9)
    page.text_input(key="preset_name").set_value("Strict by hand")
    next(button for button in page.button if button.label == screen()["presets.save"]).click().run()

    assert "Saved: Strict by hand" in field(page, "preset").options
    assert field(page, "preset").value == "saved:Strict by hand"  # it is in force, so nothing differs from it
    assert not [caption.value for caption in page.caption if caption.value == say("settings.changed", n=1)]
    assert [toast.value for toast in page.toast] == [say("presets.is_saved")]
    (saved,) = saved_presets.saved()
    assert saved.values["min_correctness"] == 0.9


def test_given_strict_mode_off_in_the_environment_when_opened_then_no_score_gate_stands_in_the_way(
    app: AppTest, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S4-24, S4-3."""
    monkeypatch.setenv("RAG_STRICT_MODE", "false")
    monkeypatch.setenv("RAG_CONFIDENCE_THRESHOLD", "0.1")
    app.run()

    ask(app, "What is the capital of France?")

    trace = app.session_state.plumbline.asked.decision.trace
    gates = ("correctness", "answerability", "top_cosine", "mean_confidence", "relevance", "distance")
    assert {trace[gate].mode for gate in gates} == {Mode.OFF}
    decision = app.session_state.plumbline.asked.decision
    assert decision.answered
    assert "Confidence: " not in badges(app)  # no level is shown
    assert not any("Low confidence" in text.value for text in app.markdown)
    assert "confidence" not in outcome_in_words(decision)
    assert [line for line in show_decision(decision).splitlines() if ", level " in line] == []
    assert field(open_part(app, "gate"), "knob_max_distance").value == 0.1


def test_given_a_value_from_the_environment_when_a_preset_is_picked_then_the_value_stays(
    app: AppTest, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S4-3."""
    monkeypatch.setenv("RAG_MIN_DOCUMENTS", "3")
    app.run()
    assert "undo" not in keys(app)

    field(app, "preset").set_value("scoping").run()

    assert field(app, "knob_min_documents").value == 3


def test_given_moved_settings_when_one_or_all_are_taken_back_then_the_others_stay(page: AppTest) -> None:
    move(page, "min_correctness", 0.9)
    assert "Settings that differ from the preset: 1" in captions(page)

    page.button(key="undo").click().run()

    assert field(page, "knob_min_correctness").value == Settings.load().min_correctness
    assert "undo" not in keys(page)

    move(page, "min_correctness", 0.8)
    move(page, "min_place", 0.9)
    assert (
        page.button(key="reset_min_correctness").label
        == f"Changed. Back to {100 * Settings.load().min_correctness:g} %"
    )

    page.button(key="reset_min_correctness").click().run()

    assert field(page, "knob_min_correctness").value == Settings.load().min_correctness
    assert field(page, "knob_min_place").value == 0.9
    assert {key for key in keys(page) if key.startswith("reset_")} == {"reset_min_place"}

    open_part(page, "ingest")
    field(page, "knob_ocr").set_value(False).run()
    assert page.button(key="reset_ocr").label == "Changed. Back to the preset's"

    page.button(key="reset_ocr").click().run()

    assert field(page, "knob_ocr").value is True


def test_given_a_word_when_looked_for_then_the_settings_that_hold_it_are_shown_and_can_be_moved(page: AppTest) -> None:
    open_part(page, "gate")
    for words, found in (
        ("ocr", {"ocr", "ocr_engine"}),
        ("OCR tesseract", {"ocr", "ocr_engine"}),
        ("half_life", {"recency_half_life_days"}),
        ("synonyms", {"keyword_synonyms"}),
        ("zzz", set()),
    ):
        page.text_input(key="find_setting").set_value(words).run()
        assert shown_settings(page) - set(FRONT) == found
        assert (f"Settings found: {len(found)}" in captions(page)) is bool(found)
        assert ("No setting has these words." in captions(page)) is not bool(found)

    page.text_input(key="find_setting").set_value("at once").run()

    assert len(shown_settings(page) - set(FRONT)) == MAX_FOUND
    assert f"Shown are the first {MAX_FOUND} of " in captions(page)

    page.text_input(key="find_setting").set_value("closest passage").run()

    move(page, "min_top_cosine", 0.5)

    assert page.session_state.plumbline.settings().min_top_cosine == 0.5
    assert "min_top_cosine" in shown_settings(page)


def test_given_the_librarys_model_when_shown_then_it_is_the_librarys_and_says_where_to_change_it(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = loading.known(state.library_folder(), state.COLLECTION)
    opened.settings = opened.settings.changed(embedding_model="another-model")

    open_part(page, "ingest")

    shown = field(page, "knob_embedding_model")
    assert (shown.value, shown.disabled) == ("another-model", True)
    assert "Documents page" in shown.help
    assert screen()["rebuild.title"] in shown.help


def test_given_any_settings_when_drawn_then_a_browser_that_forgot_a_field_begins_again_at_its_value(
    page: AppTest,
) -> None:
    """The default that comes with a field; without one a slider begins at its lowest, and that was taken for the user's
    wish.
    """
    field(page, "preset").set_value("open").run()
    field(page, "knob_top_k").set_value(7).run()
    for part in ["retrieve", "gate", "draft", "audit", "output", "ingest"]:
        open_part(page, part)
        texts, choices = [*page.toggle, *page.text_input, *page.text_area], page.selectbox
        begins: dict[str, object] = {one.key: one.proto.default[0] for one in page.slider}
        begins |= {one.key: one.proto.default for one in texts}
        begins |= {one.key: one.options[one.proto.default] for one in choices}
        there = {one.key: one.value for one in [*page.slider, *texts]}
        there |= {one.key: one.format_func(one.value) for one in choices}
        knobs = {key for key in there if str(key).startswith(("preset", "knob_"))}

        assert len(knobs) > 3
        assert {key: begins[key] for key in knobs} == {key: there[key] for key in knobs}, part


def test_given_the_presets_then_three_in_front_say_what_they_do_and_the_published_designs_what_they_need(
    page: AppTest,
) -> None:
    offered = field(page, "preset").options
    assert [option.split(":")[0] for option in offered[:3]] == ["Balanced", "Careful", "Everything"]
    assert len(offered) == 3 + len(saved_presets.PUBLISHED)
    assert all(option.startswith("Published design: ") for option in offered[3:])
    assert "Published design: RAG engine (needs a language model)" in offered


def test_given_a_setting_that_is_set_elsewhere_when_its_run_is_cut_short_anywhere_then_it_stands(
    page: AppTest, touch: Touch
) -> None:
    """The browser, which was told nothing, sends what the field said before: that is no wish of the user's."""
    ask(page, VACATION)
    for place in (1, 2, 5, 20, 60):
        move(page, "min_correctness", 0.5)
        touch(place)

        page.button(key="try_min_correctness").click().run()

        stands = field(page, "knob_min_correctness").value
        assert stands == page.session_state.plumbline.values["min_correctness"] > 0.5, place
        field(page, "preset").set_value("open").run()
        touch(place)
        field(page, "preset").set_value("balanced").run()
        assert (field(page, "preset").value, session_of(page).preset) == ("balanced", "balanced"), place
