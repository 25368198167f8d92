"""A guarantee on the page: asked for, found or refused with what is missing, saved as a preset, and shown where the
preset is used.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from certificates import material
from page_kit import badges, captions, field, session_of, texts
from streamlit.testing.v1 import AppTest

from rag_core.evaluation import begin
from rag_core.evaluation.certificate import Certificate
from rag_core.records.stored import RunHead, SavedPreset
from rag_core.settings import Settings
from rag_core.settings.configuration import load_settings
from rag_core.wiring import open_engine, records
from rag_core.work import loading
from ui.app import sheets, state
from ui.app.texts import say
from ui.settings import certificates, sharing

HOSTILE = "![x](http://evil.example/leak) **bold** $x$ :red[a]"


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
    assert run is not None
    certify.show(engine, run, lab.replay_set(run), judged_under(run.settings, settings))


def recorded(library: Path, n: int = 200, name: str = "my set") -> RunHead:
    """A run over the samples whose measurements are made of numbers: n answerable questions, n unanswerable ones."""
    engine, store = open_engine(library, "default", Settings.load()), records(library, "default")
    questions, made, _ = material(n)
    head = begin(engine, "a run", name, questions, Settings.load(), store)
    for question, measurements in zip(questions, made, strict=True):
        store.add_result(head.id, question.id, measurements)
    return store.run(head.id)


@pytest.fixture
def tab(library: Path) -> AppTest:
    """The tab over a recorded run, opened."""
    recorded(library)
    return AppTest.from_function(guarantee, default_timeout=60).run()


def find(page: AppTest) -> AppTest:
    return next(button for button in page.button if button.label == say("lab_certify.run")).click().run()


def save(page: AppTest, name: str, *, default: bool = False) -> AppTest:
    page.text_input(key="certified_name").set_value(name)
    if default:
        page.checkbox(key="certified_default").check()
    return next(button for button in page.button if button.label == say("lab_certify.save")).click().run()


def test_given_a_target_when_certified_then_the_page_says_what_is_promised_and_what_is_not(tab: AppTest) -> None:
    assert not tab.exception
    find(tab)

    assert not tab.exception
    said = texts(tab)
    assert (
        "With a confidence of 95 %: of the questions that the documents do not answer, at most 5 % are answered" in said
    )
    assert "400 labelled questions of the set “my set”, 200 with an answer in the documents and 200 without" in said
    assert say("lab_certify.not") in said
    shown = {metric.label: metric.value for metric in tab.metric}
    assert shown["Wrong though nothing answers it"] == "≤ 5 %"
    assert 0 < float(shown["How sure"].removesuffix(" %")) < 100
    assert any("seen: " in caption and "of 200" in caption for caption in captions(tab).splitlines())
    assert {button.label for button in tab.get("download_button")} >= {
        say("export.pdf"),
        "Certificate (JSON)",
        "Settings for the command line (YAML)",
    }


def test_given_several_targets_and_a_pair_when_certified_then_each_is_shown(tab: AppTest) -> None:
    tab.toggle(key="certify_use_false_refusals").set_value(True)
    tab.number_input(key="certify_wrong_answers").set_value(8.0)
    tab.selectbox(key="certify_second").set_value("min_sentence_overlap")
    find(tab)

    assert not tab.exception
    shown = {metric.label: metric.value for metric in tab.metric}
    assert (shown["Wrong though nothing answers it"], shown["Wrongly refused"]) == ("≤ 8 %", "≤ 10 %")
    assert len(tab.metric) == 5


def test_given_too_few_labels_then_it_says_how_many_more_there_must_be(library: Path) -> None:
    recorded(library, 30)
    page = find(AppTest.from_function(guarantee, default_timeout=60).run())

    assert "No threshold keeps this" in badges(page)
    assert "About 29 more labels of this kind would show it" in captions(page)
    assert "at most 9.6 %" in captions(page)


def test_given_targets_that_exclude_each_other_then_it_says_so_and_names_the_nearest(tab: AppTest) -> None:
    tab.toggle(key="certify_use_false_refusals").set_value(True)
    tab.number_input(key="certify_wrong_answers").set_value(2.0)
    tab.number_input(key="certify_false_refusals").set_value(2.0)
    find(tab)

    assert say("lab_certify.none_exclude") in texts(tab)
    assert captions(tab).count("The nearest that can be guaranteed") == 2


def test_given_no_target_then_it_asks_for_one(tab: AppTest) -> None:
    tab.toggle(key="certify_use_wrong_answers").set_value(False)
    find(tab)

    assert say("lab_certify.no_target") in [warning.value for warning in tab.warning]
    assert not tab.metric


def test_given_a_library_that_changed_since_then_a_run_is_not_certified(tab: AppTest, library: Path) -> None:
    engine = open_engine(library, "default", Settings.load())
    engine.library.delete(engine.library.snapshot.documents[0].id)

    tab.run()

    assert say("lab_certify.outdated") in [warning.value for warning in tab.warning]


def test_given_a_certificate_when_saved_then_the_preset_is_on_the_ask_page_with_its_badge_and_its_settings(
    tab: AppTest, library: Path, app: AppTest
) -> None:
    """S4-25: thresholds per collection; S1: calibrated on labelled questions."""
    save(find(tab), "Careful")

    assert not tab.exception
    (preset,) = records(library, "default").presets()
    assert preset.certificate is not None
    certificate = Certificate.from_json(preset.certificate)
    app.run()
    assert field(app, "preset").options[3] == "Saved: Careful"  # after the three in front
    field(app, "preset").set_value("saved:Careful").run()

    assert not app.exception
    assert "certified: 95 % sure" in badges(app)
    assert certificates.in_a_line(certificate) in texts(app)
    assert "wrong though nothing answers it ≤ 5 % · 95 % confidence · n = 400 · 20" in texts(app)
    assert session_of(app).values["min_correctness"] == certificate.parts[0].thresholds["min_correctness"]
    assert "undo" not in {button.key for button in app.button}


def test_given_a_certified_preset_when_a_deciding_slider_moves_then_it_is_no_longer_covered_until_it_moves_back(
    tab: AppTest, app: AppTest
) -> None:
    save(find(tab), "Careful")
    app.run().selectbox(key="preset").set_value("saved:Careful").run()

    field(app, "knob_min_correctness").set_value(0.11).run()

    assert "certificate no longer holds" in badges(app)
    assert say("presets.stale_settings") in texts(app)
    app.button(key="undo").click().run()
    assert "certified: 95 % sure" in badges(app)
    assert field(app, "preset").value == "saved:Careful"


def test_given_a_certified_preset_when_the_library_changes_then_it_is_stale_and_says_why(
    tab: AppTest, app: AppTest, library: Path
) -> None:
    save(find(tab), "Careful")
    app.run().selectbox(key="preset").set_value("saved:Careful").run()
    engine = open_engine(library, "default", Settings.load())
    engine.library.delete(engine.library.snapshot.documents[0].id)

    app.run().run()

    assert "certificate no longer holds" in badges(app)
    assert say("presets.stale_library") in texts(app)


def test_given_a_built_in_preset_when_chosen_after_a_saved_one_then_no_certificate_is_shown(
    tab: AppTest, app: AppTest
) -> None:
    save(find(tab), "Careful")
    app.run().selectbox(key="preset").set_value("saved:Careful").run()

    field(app, "preset").set_value("tutor").run()

    assert "certified" not in badges(app)
    assert session_of(app).preset == "tutor"


def test_given_another_page_between_then_the_saved_preset_is_still_chosen(tab: AppTest, app: AppTest) -> None:
    save(find(tab), "Careful")
    app.run().selectbox(key="preset").set_value("saved:Careful").run()

    app.switch_page("pages/documents.py").run()
    app.switch_page("pages/ask.py").run()

    assert field(app, "preset").value == "saved:Careful"
    assert "certified: 95 % sure" in badges(app)


def test_given_a_default_preset_when_a_session_begins_then_it_starts_with_it(tab: AppTest, app: AppTest) -> None:
    save(find(tab), "Careful", default=True)

    app.run()

    assert field(app, "preset").value == "saved:Careful"
    assert "certified: 95 % sure" in badges(app)


def test_given_an_address_with_the_settings_of_a_saved_preset_when_opened_then_the_preset_is_chosen(
    tab: AppTest, app: AppTest, library: Path
) -> None:
    save(find(tab), "Careful")
    (preset,) = records(library, "default").presets()
    app.query_params["preset"] = "balanced"
    app.query_params["min_correctness"] = str(preset.values["min_correctness"])

    app.run()

    assert field(app, "preset").value == "saved:Careful"
    assert "certified: 95 % sure" in badges(app)


def test_given_a_saved_preset_when_deleted_then_it_is_gone_and_the_settings_start_from_the_built_in_one(
    tab: AppTest, app: AppTest, library: Path
) -> None:
    save(find(tab), "Careful")
    app.run().selectbox(key="preset").set_value("saved:Careful").run()

    app.checkbox(key="preset_delete_sure").check().run()
    app.button(key="preset_delete").click().run()

    assert not app.exception
    assert records(library, "default").presets() == ()
    assert field(app, "preset").value == "balanced"


def test_given_a_name_that_is_taken_or_empty_then_it_says_so_and_keeps_the_first(tab: AppTest, library: Path) -> None:
    save(find(tab), "Careful")
    first = records(library, "default").presets()
    save(tab, " Careful ")
    assert say("lab_certify.exists") in texts(tab)

    save(tab, "  ")

    assert "A name has 1 to" in texts(tab)
    assert records(library, "default").presets() == first


def test_given_names_with_markup_then_they_are_shown_as_text_only(library: Path, app: AppTest) -> None:
    recorded(library, name=HOSTILE)
    page = find(AppTest.from_function(guarantee, default_timeout=60).run())
    save(page, HOSTILE)
    app.run().selectbox(key="preset").set_value(f"saved:{HOSTILE}").run()

    assert HOSTILE in texts(page)
    assert HOSTILE in texts(app)
    for shown in (page, app):
        assert not shown.exception
        interpreted = [
            element.value
            for kind in (shown.markdown, shown.caption, shown.warning, shown.info, shown.error)
            for element in kind
        ]
        assert not [text for text in interpreted if "evil" in text]


def test_given_no_calibration_then_a_saved_preset_that_needs_it_is_not_offered(tab: AppTest, app: AppTest) -> None:
    save(find(tab), "Careful")
    app.run().selectbox(key="preset").set_value("saved:Careful").run()
    opened = loading.known(state.library_folder(), state.COLLECTION)
    assert opened is not None
    assert opened.engine is not None
    opened.engine.tools = replace(opened.engine.tools, calibration=None)

    app.run()

    assert not app.exception
    assert "Saved: Careful" not in field(app, "preset").options
    assert field(app, "preset").value == "relevance-guard"


def test_given_the_exported_settings_then_the_command_line_reads_the_certified_ones(
    tab: AppTest, tmp_path: Path
) -> None:
    certified = Settings(**find(tab).session_state["certified"][1].settings)
    file = tmp_path / "settings.yaml"
    file.write_text(sharing.to_yaml(certified), encoding="utf-8")

    assert load_settings(config=file).hash() == certified.hash()


@pytest.mark.parametrize(
    "damage", [{"certificate": {"schema_version": 7}}, {"values": {"min_correctness": 7}}, {"values": {"no_such": 1}}]
)
def test_given_a_saved_preset_that_cannot_be_used_then_it_says_so_and_can_be_deleted(
    damage: dict[str, object], library: Path, app: AppTest
) -> None:
    given = {"values": {"min_correctness": 0.7}, "certificate": None, **damage}
    records(library, "default").save_preset(SavedPreset("Odd", created="2026-11-21T00:00:00+00:00", **given))  # type: ignore[arg-type]
    app.run().selectbox(key="preset").set_value("saved:Odd").run()

    assert not app.exception
    assert session_of(app).values["min_correctness"] in (0.7, Settings.load().min_correctness)


def test_given_a_certificate_then_its_sheet_and_its_json_can_be_made(tab: AppTest) -> None:
    find(tab)
    found = tab.session_state["certified"][1]

    sheet = certificates.blocks(found, HOSTILE)
    assert sheets.compose_sheet(sheet).startswith(b"%PDF")
    made = sheets.to_markdown(sheet)
    assert certificates.promise(found) in made
    assert "](http" not in made
    assert Certificate.from_json(json.loads(json.dumps(found.to_json()))) == found
