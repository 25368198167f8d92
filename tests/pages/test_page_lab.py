"""The lab: sets, runs, comparisons."""

from __future__ import annotations

import pytest
from page_kit import Touch, badges, field, run_set, session_of, settle, texts
from streamlit.testing.v1 import AppTest

from rag_core.evaluation import Ran
from rag_core.evaluation.labelled import LabelledQuestion, Place
from rag_core.evaluation.labelled_files import read_labelled
from ui.app import state
from ui.app.people import recording
from ui.app.texts import say
from ui.lab import sets
from ui.lab.sets import tag

LABELLED = (
    b"question,answerable,answers,kind\n"
    b"How often does the flow meter have to be calibrated?,yes,every 5 years,fact\n"
    b"How many vacation days do employees have?,yes,25 vacation days | 20 vacation days,number\n"
    b"What is the capital of France?,no,,off_topic\n"
    b"Is this a row?,perhaps,,\n"
)


@pytest.fixture
def lab(app: AppTest, library: object) -> AppTest:
    """The lab over the samples, opened."""
    settle(app)
    return settle(app.switch_page("pages/lab.py"))


def upload(page: AppTest, data: bytes = LABELLED, name: str = "mine.csv") -> AppTest:
    field = next(one for one in page.file_uploader if (one.key or "").startswith("labelled_"))
    return field.set_value([(name, data, "text/csv")]).run()


def test_given_a_labelled_file_when_dropped_then_good_rows_are_a_set_and_others_are_named(
    lab: AppTest,
) -> None:
    upload(lab, b"a,b\n1,2\n")
    assert "No column is named question" in texts(lab)
    assert recording.store().sets() == ()

    upload(lab)

    assert recording.store().sets() == ("mine",)
    assert recording.store().read_set("mine") == read_labelled(LABELLED, "mine.csv")[0]
    assert say("lab_sets.left_out", n=1) in [warning.value for warning in lab.warning]
    assert any(
        "text" in table.value and "answerable is 'perhaps'" in str(table.value["text"].tolist())
        for table in lab.dataframe
    )
    assert field(lab, "lab_set_default").value == "mine"
    assert {button.label for button in lab.download_button} >= {"CSV", "JSON"}

    upload(lab)
    assert recording.store().sets() == ("mine", "mine 2")
    lab.button(key=f"ask_delete_set_{tag('mine 2')}").click().run()
    lab.button(key=f"sure_delete_set_{tag('mine 2')}").click().run()
    assert recording.store().sets() == ("mine",)

    lab.button(key="labelled_samples").click().run()
    assert [len(recording.store().read_set(name)) for name in recording.store().sets()] == [193, 3]


def test_given_a_set_when_run_then_every_question_is_recorded_once_and_runs_are_compared_measured_again_and_deleted(
    lab: AppTest,
) -> None:
    run_set(upload(lab))

    (head,) = recording.store().runs()
    assert (head.name, head.set_name, head.done, head.total) == ("mine", "mine", 3, 3)
    assert field(lab, "lab_run_default").value == head.id
    assert session_of(lab).jobs[-1].ran == Ran(3, 0, 0, 3)
    assert [row["state"] for row in table(lab, "version")] == [say("lab_sets.state_whole")]

    field(lab, "knob_min_correctness").set_value(1.0).run()
    run_set(lab)
    assert session_of(lab).jobs[-1].ran == Ran(0, 3, 0, 3)
    assert say("jobs.ran", n=3, measured=0, reused=3) in badges(lab)
    newest, oldest = recording.store().runs()
    assert any(text.value.startswith("Settings that differ") and "100 %" in text.value for text in lab.text)

    lab.button(key="see_results").click().run()
    assert say("lab_limit.title") in [heading.value for heading in lab.header]

    open_tab(lab, "compare")
    assert "Right only by the first: 0. Right only by the second: 0." in texts(lab)
    lab.selectbox(key=f"compare_first_{newest.id}").set_value(f"=run default/{oldest.id}").run()
    rows = {row["figure"]: row for row in table(lab, "figure")}
    refused = rows[say("lab_compare.rate_false_refusals")]
    assert ("0 of 2" in str(refused["first"]), "2 of 2" in str(refused["second"])) == (True, True)
    told = next(text.value for text in lab.text if "McNemar" in text.value)
    assert "Questions that both measured: 3. Right only by the first: 2. Right only by the second: 0." in told
    assert "p = 0.5." in told
    assert [row["second"] for row in table(lab, "second_by")] == [say("lab_compare.ended_false_refusal")] * 2
    lab.selectbox(key=f"compare_first_{newest.id}").set_value("rag-engine").run()
    assert any(text.value.startswith("Left as the run has them") for text in lab.text)

    lab.segmented_control(key="lab_way").set_value("all").run()
    presets = {row["name"]: row for row in table(lab, "stays")}
    assert all(row["right"] + row["wrong"] + row["refused"] <= 3 for row in presets.values())  # type: ignore[operator]
    assert presets[say("presets.front_open")]["refused"] == 0

    open_tab(lab, "sets")
    library = state.engine().library
    library.delete(library.snapshot.documents[0].id)
    lab.run()
    assert any("state" in warning.value for warning in lab.warning)
    settle(lab.button(key="resume_run").click().run())
    assert recording.store().runs()[0].version == library.snapshot.version
    assert "resume_run" not in [button.key for button in lab.button]
    lab.button(key=f"ask_delete_run_{newest.id}").click().run()
    assert "Delete the run “mine” with its 3 results?" in texts(lab)
    lab.button(key=f"sure_delete_run_{newest.id}").click().run()
    assert [head.id for head in recording.store().runs()] == [oldest.id]
    assert recording.store().sets() == ("mine",)


def test_given_an_edited_table_when_saved_then_the_set_is_changed_and_a_bad_row_stops_it(lab: AppTest) -> None:
    upload(lab)
    key = f"labelled_table_{tag('mine')}_0"
    lab.session_state[key] = {
        "edited_rows": {0: {"answers": "every 6 years"}},
        "deleted_rows": [1],
        "added_rows": [{"question": "Who?", "answerable": False, "answers": "x"}],
    }
    lab.run()
    assert lab.button(key="save_set").disabled
    assert "row 3: it is labelled unanswerable, but has an answer" in texts(lab)

    lab.session_state[key] = {
        "edited_rows": {0: {"answers": "every 6 years"}},
        "deleted_rows": [1],
        "added_rows": [{"question": "Who?", "answerable": False}],
    }
    lab.run()
    lab.button(key="save_set").click().run()

    found = recording.store().read_set("mine")
    assert [(one.question, one.answers) for one in found] == [
        ("How often does the flow meter have to be calibrated?", ("every 6 years",)),
        ("What is the capital of France?", ()),
        ("Who?", ()),
    ]


def test_given_questions_that_name_documents_by_id_then_the_table_shows_names_and_ids_are_saved(lab: AppTest) -> None:
    upload(lab)
    first, *_ = [one for one in state.engine().library.view.documents if one.name == "flow-meter-manual.pdf"]
    asked = LabelledQuestion("1", "How?", True, ("so",), (first.id,), (Place(first.id, 2),))
    recording.store().write_set("mine", [asked])
    key = f"labelled_table_{tag('mine')}_0"
    lab.run()
    assert lab.button(key="save_set").disabled  # nothing is changed yet

    lab.session_state[key] = {"edited_rows": {0: {"answers": "so it is"}}, "deleted_rows": [], "added_rows": []}
    lab.run()
    lab.button(key="save_set").click().run()

    (found,) = recording.store().read_set("mine")
    assert (found.answers, found.documents, found.places) == (("so it is",), (first.id,), (Place(first.id, 2),))
    assert sets._renamed(asked, {first.id: first.name}).documents == ("flow-meter-manual.pdf",)


# comparisons


def open_tab(page: AppTest, name: str) -> AppTest:
    page.session_state["lab_tab"] = say(f"lab.tab_{name}")
    return page.run()


def table(page: AppTest, column: str) -> list[dict[str, object]]:
    return next(one.value for one in page.dataframe if column in one.value).to_dict("records")


def test_given_no_run_when_a_tab_is_opened_then_it_says_so_in_words(lab: AppTest) -> None:
    for tab in ("results", "compare", "guarantee", "feedback"):
        open_tab(lab, tab)
        assert lab.info, tab


def test_given_moved_settings_when_the_page_is_changed_then_they_stand_on_both(app: AppTest, library: object) -> None:
    page = settle(app)
    field(page, "knob_min_correctness").set_value(0.8).run()

    page.switch_page("pages/lab.py").run()
    assert (field(page, "knob_min_correctness").value, field(page, "knob_top_k").value) == (0.8, 10)
    field(page, "knob_top_k").set_value(7).run()
    page.switch_page("pages/ask.py").run()

    assert (field(page, "knob_min_correctness").value, field(page, "knob_top_k").value) == (0.8, 7)


def places_of(page: AppTest, touch: Touch, most: int) -> list[int]:
    """Places of a run of the page, from its first to its last, at which it can be ended."""
    seen = touch(0)
    page.run()
    return [1 + number * (seen() - 1) // (most - 1) for number in range(most)]


def test_given_a_run_that_is_started_when_the_page_is_touched_at_any_moment_then_it_is_begun_once_and_chosen(
    lab: AppTest, touch: Touch
) -> None:
    run_set(upload(lab, b"question,answerable\nWho?,no\n"))

    for number, place in enumerate(places_of(lab, touch, 4), 2):
        touch(place)
        next(button for button in lab.button if button.label == say("lab_sets.run")).click().run()

        runs = recording.store().runs()
        assert len(runs) == number, place
        assert len(session_of(lab).jobs) == 1, place  # what the run before it came to has gone by itself
        assert field(lab, "lab_run_default").value == runs[0].id, place
        assert not session_of(lab).starting


def test_given_a_set_that_is_made_when_the_page_is_touched_at_any_moment_then_it_is_chosen(
    lab: AppTest, touch: Touch
) -> None:
    upload(lab, b"question,answerable\nWho?,no\n", "0.csv")

    for number, place in enumerate(places_of(lab, touch, 4), 1):
        touch(place)
        upload(lab, b"question,answerable\nWho?,no\n", f"{number}.csv")
        assert field(lab, "lab_set_default").value == f"{number}", place

    assert recording.store().sets() == tuple(map(str, range(5)))


def type_question(page: AppTest, question: str, answer: str = "", answerable: bool = True) -> AppTest:
    page.text_input(key=sets.QUESTION).set_value(question)
    page.radio(key=sets.ANSWERABLE).set_value(answerable)
    page.text_input(key=sets.ANSWER).set_value(answer)
    return next(button for button in page.button if button.label == say("lab_typed.add")).click().run()


def test_given_no_questions_when_some_are_typed_then_they_are_a_set_and_the_form_is_empty_for_the_next(
    lab: AppTest,
) -> None:
    type_question(lab, "How many vacation days do employees have?", "25 vacation days")

    assert field(lab, "lab_set_default").value == say("lab_typed.default_set")
    assert lab.text_input(key=sets.QUESTION).value == lab.text_input(key=sets.ANSWER).value == ""

    type_question(lab, "What is the capital of France?", answerable=False)
    type_question(lab, " ")
    found = recording.store().read_set(say("lab_typed.default_set"))
    assert [(one.question, one.answerable, one.answers) for one in found] == [
        ("How many vacation days do employees have?", True, ("25 vacation days",)),
        ("What is the capital of France?", False, ()),
    ]


def test_given_a_right_answer_to_a_question_without_one_when_typed_then_it_is_said_and_nothing_is_lost(
    lab: AppTest,
) -> None:
    type_question(lab, "What is the capital of France?", "Paris", answerable=False)

    assert say("lab_typed.both") in texts(lab)
    assert recording.store().sets() == ()
    assert lab.text_input(key=sets.QUESTION).value == "What is the capital of France?"
