"""The settings beside the questions: presets, fields, what differs, the way back, and finding one by a word."""

from __future__ import annotations

from pathlib import Path

import pytest
from folding import each
from page_kit import VACATION, ask, badges, captions, open_part
from streamlit.testing.v1 import AppTest

from rag_core.entrypoints.commands.terminal import show_decision
from rag_core.settings import Cost, Knob, Mode, Settings, Stage
from rag_core.work import loading
from ui.app import state, touches
from ui.app.texts import screen
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
    """The keys of all buttons."""
    return {button.key for button in page.button}


def move(page: AppTest, name: str, value: float) -> AppTest:
    return page.slider(key=f"knob_{name}").set_value(value).run()


def shown_settings(page: AppTest) -> set[str]:
    """The settings that have a field now."""
    return {
        name
        for name in KNOBS
        if any(
            f"knob_{name}" == widget.key
            for widget in (*page.slider, *page.selectbox, *page.toggle, *page.text_input, *page.text_area)
        )
    }


def test_given_the_sidebar_when_every_stage_is_opened_then_each_setting_has_field_range_and_cost(page: AppTest) -> None:
    """S0-34: every threshold can be set, over its whole range."""
    costs = {Cost.REPLAY: "at once", Cost.ASK: "asked again", Cost.INGEST: "indexed from now on"}
    seen = set()

    for stage in Stage:
        open_part(page, stage)
        for name in shown_settings(page):
            knob, widget = KNOBS[name], page.get_by_key(f"knob_{name}")
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


def test_given_the_labels_when_compared_then_no_two_settings_share_one() -> None:
    labels = [screen()[f"knobs.{name}"] for name in KNOBS]

    assert len(set(labels)) == len(labels)


def test_given_settings_then_the_side_bar_has_the_sliders_that_can_decide_under_them_by_stage_and_no_other(
    page: AppTest,
) -> None:
    assert [slider.key for slider in page.sidebar.slider] == [f"knob_{name}" for name in FRONT]
    assert screen()["settings.none_ground"] in captions(page)

    page.selectbox(key="preset").set_value("scoping").run()

    assert deciding_of(page) == {
        "retrieve": ["top_k"],
        "gate": ["max_distance", "min_documents", "min_keywords", "max_missing_entities"],
        "compress": [],
        "ground": [],
        "decide": ["min_place"],
    }
    assert {name: page.slider(key=f"knob_{name}").value for name in ("max_distance", "min_documents")} == {
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
            found[here].append(element.key.removeprefix("knob_"))
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

    page.selectbox(key="preset").set_value("compliance").run()

    assert page.session_state.plumbline.asked.decision.trace["top_cosine"].mode is Mode.ENFORCE
    assert "knob_min_correctness" not in [slider.key for slider in page.slider]


def test_given_a_name_when_settings_are_saved_then_they_are_a_preset_of_the_collection(page: AppTest) -> None:
    move(page, "min_correctness", 0.9)
    page.text_input(key="preset_name").set_value("Strict by hand")
    next(button for button in page.button if button.label == screen()["presets.save"]).click().run()

    assert "Saved: Strict by hand" in page.selectbox(key="preset").options
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
    assert open_part(app, "gate").slider(key="knob_max_distance").value == 0.1


def test_given_a_value_from_the_environment_when_a_preset_is_picked_then_the_value_stays(
    app: AppTest, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S4-3."""
    monkeypatch.setenv("RAG_MIN_DOCUMENTS", "3")
    app.run()
    assert "undo" not in keys(app)

    app.selectbox(key="preset").set_value("scoping").run()

    assert app.slider(key="knob_min_documents").value == 3


def test_given_moved_settings_when_one_or_all_are_taken_back_then_the_others_stay(page: AppTest) -> None:
    move(page, "min_correctness", 0.9)
    assert "Settings that differ from the preset: 1" in captions(page)

    page.button(key="undo").click().run()

    assert page.slider(key="knob_min_correctness").value == Settings.load().min_correctness
    assert "undo" not in keys(page)

    move(page, "min_correctness", 0.8)
    move(page, "min_place", 0.9)
    assert (
        page.button(key="reset_min_correctness").label
        == f"Changed. Back to {100 * Settings.load().min_correctness:g} %"
    )

    page.button(key="reset_min_correctness").click().run()

    assert page.slider(key="knob_min_correctness").value == Settings.load().min_correctness
    assert page.slider(key="knob_min_place").value == 0.9
    assert {key for key in keys(page) if key.startswith("reset_")} == {"reset_min_place"}

    open_part(page, "ingest")
    page.toggle(key="knob_ocr").set_value(False).run()
    assert page.button(key="reset_ocr").label == "Changed. Back to the preset's"

    page.button(key="reset_ocr").click().run()

    assert page.toggle(key="knob_ocr").value is True


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
    assert opened is not None
    opened.settings = opened.settings.changed(embedding_model="another-model")

    open_part(page, "ingest")

    field = page.text_input(key="knob_embedding_model")
    assert (field.value, field.disabled) == ("another-model", True)
    assert "Documents page" in field.help
    assert screen()["rebuild.title"] in field.help


@pytest.mark.parametrize("shown", [False, True])
def test_given_any_run_of_the_page_when_drawn_then_every_field_of_the_settings_that_is_not_shown_yet_is_told_its_value(
    page: AppTest, monkeypatch: pytest.MonkeyPatch, shown: bool
) -> None:
    """A run that is cut short may have told the browser nothing: Streamlit drops what it had not sent, and the next run
    is all there is.

    Where the browser shows a field, telling it again would take back a touch that is on its way.
    """
    if not shown:
        monkeypatch.setattr(touches, "_values", lambda known, sent: {})
    for part in ["retrieve", "gate", "draft", "audit", "output", "ingest", "retrieve"]:
        open_part(page, part)
        page.run()
        fields = [*page.slider, *page.toggle, *page.selectbox, *page.text_input]
        knobs = [field for field in fields if field.key == "preset" or str(field.key).startswith("knob_")]
        told = {field.key for field in knobs if field.proto.set_value and not field.disabled}

        assert len(knobs) > 3
        assert told == {field.key for field in knobs if not field.disabled and not shown}, part


def test_given_a_browser_that_missed_a_value_when_the_page_is_drawn_then_it_is_told_until_it_says_it_itself(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, said = "knob_min_correctness", touches._values
    page.slider(key=key).set_value(0.7).run()
    assert not page.slider(key=key).proto.set_value

    monkeypatch.setattr(touches, "_values", lambda known, sent: said(known, sent) | {key: 0.5})
    assert page.run().slider(key=key).proto.set_value
    monkeypatch.setattr(touches, "_values", said)

    assert not page.run().slider(key=key).proto.set_value


def test_given_any_settings_when_drawn_then_a_browser_that_forgot_a_field_begins_again_at_its_value(
    page: AppTest,
) -> None:
    """The default that comes with a field; without one a slider begins at its lowest, and that was taken for the user's
    wish.
    """
    page.selectbox(key="preset").set_value("open").run()
    page.slider(key="knob_top_k").set_value(7).run()
    for part in ["retrieve", "gate", "draft", "audit", "output", "ingest"]:
        open_part(page, part)
        begins: dict[str, object] = {field.key: field.proto.default[0] for field in page.slider}
        begins |= {field.key: field.proto.default for field in [*page.toggle, *page.text_input, *page.text_area]}
        begins |= {field.key: field.options[field.proto.default] for field in page.selectbox}
        there = {field.key: field.value for field in [*page.slider, *page.toggle, *page.text_input, *page.text_area]}
        there |= {field.key: field.format_func(field.value) for field in page.selectbox}
        knobs = {key for key in there if key == "preset" or str(key).startswith("knob_")}

        assert len(knobs) > 3
        assert {key: begins[key] for key in knobs} == {key: there[key] for key in knobs}, part


def test_given_the_presets_then_three_in_front_say_what_they_do_and_the_published_designs_what_they_need(
    page: AppTest,
) -> None:
    offered = page.selectbox(key="preset").options
    assert [option.split(":")[0] for option in offered[:3]] == ["Balanced", "Careful", "Everything"]
    assert len(offered) == 3 + len(saved_presets.PUBLISHED)
    assert all(option.startswith("Published design: ") for option in offered[3:])
    assert "Published design: RAG engine (needs a language model)" in offered
