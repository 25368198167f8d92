"""A guarantee on the page: asked for, found or refused with what is missing, saved as a preset, and shown where the
preset is used.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from certificates import material
from folding import each
from page_kit import another, badges, captions, field, session_of, texts
from streamlit.testing.v1 import AppTest

from rag_core.evaluation import begin
from rag_core.evaluation.certificate import Certificate
from rag_core.records.stored import SavedPreset
from rag_core.settings import Settings
from rag_core.settings.configuration import load_settings
from rag_core.wiring import open_engine, records
from rag_core.work import loading
from ui.app import sheets, state
from ui.app.texts import say
from ui.settings import certificates, sharing

HOSTILE = "![x](http://evil.example/leak) **bold** $x$ :red[a]"
CERTIFIED = "certified: 95 % sure"


def guarantee() -> None:
    """The tab by itself, with the side bar."""
    from rag_core.evaluation import judged_under
    from ui import frame
    from ui.lab import certify
    from ui.lab import state as lab
    from ui.settings.sidebar import settings_from_sidebar

    settings = settings_from_sidebar()
    engine = frame.start()
    run = lab.chosen_run()
    certify.show(engine, run, lab.replay_set(run), judged_under(run.settings, settings))


def recorded(library: Path, n: int, name: str) -> None:
    """A run over the samples whose measurements are made of numbers: n answerable questions, n unanswerable ones."""
    engine, store = open_engine(library, "default", Settings.load()), records(library, "default")
    questions, made, _ = material(n)
    head = begin(engine, "a run", name, questions, Settings.load(), store)
    for question, measurements in zip(questions, made, strict=True):
        store.add_result(head.id, question.id, measurements)


@pytest.fixture
def tab(empty_library: Path, sample_library: Path, made_once: Callable[[str, Callable[[Path], None]], Path]) -> AppTest:
    """The tab over a recorded run of four hundred questions."""

    def fill(folder: Path) -> None:
        shutil.copytree(sample_library, folder, dirs_exist_ok=True)
        recorded(folder, 200, "my set")

    shutil.copytree(made_once("certified", fill), empty_library)
    return AppTest.from_function(guarantee, default_timeout=60).run()


def find(page: AppTest) -> AppTest:
    return next(button for button in page.button if button.label == say("lab_certify.run")).click().run()


def save(page: AppTest, name: str, *, default: bool = False) -> AppTest:
    page.text_input(key="certified_name").set_value(name)
    if default:
        page.checkbox(key="certified_default").check()
    return next(button for button in page.button if button.label == say("lab_certify.save")).click().run()


def choose(app: AppTest, option: str) -> AppTest:
    field(app, "preset").set_value(option).run()
    return app


def test_given_targets_when_certified_then_the_page_says_what_is_promised_and_what_is_not_and_has_its_files(
    tab: AppTest, tmp_path: Path
) -> None:
    find(tab)

    said = texts(tab)
    promised = "With a confidence of 95 %: of the questions that the documents do not answer, at most 5 % are answered"
    assert promised in said
    assert "400 labelled questions of the set “my set”, 200 with an answer in the documents and 200 without" in said
    assert say("lab_certify.not") in said
    shown = {metric.label: metric.value for metric in tab.metric}
    assert shown["Wrong though nothing answers it"] == "≤ 5 %"
    assert 0 < float(shown["How sure"].removesuffix(" %")) < 100
    assert any("seen: " in caption and "of 200" in caption for caption in captions(tab).splitlines())
    files = {say("export.pdf"), "Certificate (JSON)", "Settings for the command line (YAML)"}
    assert {button.label for button in tab.get("download_button")} >= files
    found = tab.session_state["certified"][1]
    sheet = certificates.blocks(found, HOSTILE)
    assert sheets.compose_sheet(sheet).startswith(b"%PDF")
    made = sheets.to_markdown(sheet)
    assert certificates.promise(found) in made
    assert "](http" not in made
    assert Certificate.from_json(json.loads(json.dumps(found.to_json()))) == found
    certified, file = Settings(**found.settings), tmp_path / "settings.yaml"
    file.write_text(sharing.to_yaml(certified), encoding="utf-8")
    assert load_settings(config=file).hash() == certified.hash()

    tab.toggle(key="certify_use_false_refusals").set_value(True)
    tab.number_input(key="certify_wrong_answers").set_value(8.0)
    tab.selectbox(key="certify_second").set_value("min_sentence_overlap")
    find(tab)

    shown = {metric.label: metric.value for metric in tab.metric}
    assert (shown["Wrong though nothing answers it"], shown["Wrongly refused"]) == ("≤ 8 %", "≤ 10 %")
    assert len(tab.metric) == 5


def test_given_too_few_labels_then_it_says_how_many_more_there_must_be(library: Path) -> None:
    recorded(library, 30, "my set")
    page = find(AppTest.from_function(guarantee, default_timeout=60).run())

    assert "No threshold keeps this" in badges(page)
    assert "About 29 more labels of this kind would show it" in captions(page)
    assert "at most 9.6 %" in captions(page)


def test_given_targets_that_exclude_each_other_or_none_or_a_changed_library_then_it_says_so(
    tab: AppTest, empty_library: Path
) -> None:
    tab.toggle(key="certify_use_false_refusals").set_value(True)
    tab.number_input(key="certify_wrong_answers").set_value(2.0)
    tab.number_input(key="certify_false_refusals").set_value(2.0)
    find(tab)
    assert say("lab_certify.none_exclude") in texts(tab)
    assert captions(tab).count("The nearest that can be guaranteed") == 2

    for kind in ("false_refusals", "wrong_answers"):
        tab.toggle(key=f"certify_use_{kind}").set_value(False)
    find(tab)
    assert say("lab_certify.no_target") in [warning.value for warning in tab.warning]
    assert not tab.metric

    engine = open_engine(empty_library, "default", Settings.load())
    engine.library.delete(engine.library.snapshot.documents[0].id)
    tab.run()
    assert say("lab_certify.outdated") in [warning.value for warning in tab.warning]


def test_given_a_certificate_when_saved_then_the_preset_is_on_the_ask_page_and_holds_until_anything_is_moved(
    tab: AppTest, empty_library: Path, app: AppTest
) -> None:
    """S4-25: thresholds per collection; S1: calibrated on labelled questions."""
    save(find(tab), "Careful")

    (preset,) = records(empty_library, "default").presets()
    assert preset.certificate is not None
    certificate = Certificate.from_json(preset.certificate)
    app.run()
    assert field(app, "preset").options[3] == "Saved: Careful"  # after the three in front
    choose(app, "saved:Careful")
    assert CERTIFIED in badges(app)
    assert certificates.in_a_line(certificate) in texts(app)
    assert "wrong though nothing answers it ≤ 5 % · 95 % confidence · n = 400 · 20" in texts(app)
    assert session_of(app).values["min_correctness"] == certificate.thresholds["min_correctness"]
    assert "undo" not in {button.key for button in app.button}

    app.switch_page("pages/documents.py").run()
    app.switch_page("pages/ask.py").run()
    assert (field(app, "preset").value, CERTIFIED in badges(app)) == ("saved:Careful", True)

    field(app, "knob_min_correctness").set_value(0.11).run()
    assert "certificate no longer holds" in badges(app)
    assert say("presets.stale_settings") in texts(app)
    app.button(key="undo").click().run()
    assert (field(app, "preset").value, CERTIFIED in badges(app)) == ("saved:Careful", True)

    choose(app, "tutor")
    assert "certified" not in badges(app)
    assert session_of(app).preset == "tutor"

    choose(app, "saved:Careful")
    engine = open_engine(empty_library, "default", Settings.load())
    engine.library.delete(engine.library.snapshot.documents[0].id)
    app.run().run()
    assert "certificate no longer holds" in badges(app)
    assert say("presets.stale_library") in texts(app)

    app.checkbox(key="preset_delete_sure").check().run()
    app.button(key="preset_delete").click().run()
    assert records(empty_library, "default").presets() == ()
    assert field(app, "preset").value == "balanced"


def test_given_a_default_preset_or_an_address_with_its_settings_when_a_session_begins_then_it_is_chosen(
    tab: AppTest, app: AppTest, empty_library: Path
) -> None:
    save(find(tab), "Careful", default=True)
    app.run()
    assert (field(app, "preset").value, CERTIFIED in badges(app)) == ("saved:Careful", True)

    store, other = records(empty_library, "default"), another()
    store.set_default_preset(None)
    (preset,) = store.presets()
    other.query_params.update({"preset": "balanced", "min_correctness": str(preset.values["min_correctness"])})
    other.run()
    assert (field(other, "preset").value, CERTIFIED in badges(other)) == ("saved:Careful", True)


def test_given_a_name_that_is_taken_or_empty_then_it_says_so_and_one_with_markup_is_shown_as_text(
    tab: AppTest, empty_library: Path, app: AppTest
) -> None:
    save(find(tab), "Careful")
    first = records(empty_library, "default").presets()
    save(tab, " Careful ")
    assert say("lab_certify.exists") in texts(tab)
    save(tab, "  ")
    assert "A name has 1 to" in texts(tab)
    assert records(empty_library, "default").presets() == first

    save(tab, HOSTILE)
    choose(app.run(), f"saved:{HOSTILE}")

    assert HOSTILE in texts(app)
    for shown in (tab, app):
        interpreted = [*shown.markdown, *shown.caption, *shown.warning, *shown.info, *shown.error]
        assert not [element.value for element in interpreted if "evil" in element.value]


def test_given_no_calibration_then_a_saved_preset_that_needs_it_is_not_offered(tab: AppTest, app: AppTest) -> None:
    save(find(tab), "Careful")
    choose(app.run(), "saved:Careful")
    opened = loading.known(state.library_folder(), state.COLLECTION)
    opened.engine.tools = replace(opened.engine.tools, calibration=None)

    app.run()

    assert "Saved: Careful" not in field(app, "preset").options
    assert field(app, "preset").value == "relevance-guard"


@each(
    "damage", [{"certificate": {"schema_version": 7}}, {"values": {"min_correctness": 7}}, {"values": {"no_such": 1}}]
)
def test_given_a_saved_preset_that_cannot_be_used_then_the_page_goes_on_with_the_settings_that_can(
    damage: dict[str, object], library: Path, page: AppTest
) -> None:
    given = {"values": {"min_correctness": 0.7}, "certificate": None, **damage}
    records(library, "default").save_preset(SavedPreset("Odd", created="2026-11-21T00:00:00+00:00", **given))  # type: ignore[arg-type]
    choose(page.run(), "saved:Odd")

    assert session_of(page).values["min_correctness"] in (0.7, Settings.load().min_correctness)
    choose(page, "balanced")
