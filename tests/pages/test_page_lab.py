"""The lab: sets, runs, comparisons."""

from __future__ import annotations

import pytest
from page_kit import Touch, badges, field, session_of, settle, texts
from streamlit.testing.v1 import AppTest

from rag_core.evaluation import Ran
from rag_core.evaluation.labelled import LabelledQuestion, Place
from rag_core.evaluation.labelled_files import read_labelled
from ui.app import state
from ui.app.people import recording
from ui.app.texts import say
from ui.lab import running, sets
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


def run_set(page: AppTest) -> AppTest:
    next(button for button in page.button if button.label == say("lab_sets.run")).click().run()
    return settle(page)


def test_given_the_lab_when_opened_then_it_has_its_tabs_and_says_what_a_set_is(lab: AppTest) -> None:
    assert not lab.exception
    assert [tab.label for tab in lab.tabs] == ["Questions & run", "Results", "Compare", "Guarantee", "Feedback"]
    assert say("lab_sets.empty") in [info.value for info in lab.info]


def test_given_a_labelled_csv_when_dropped_then_good_rows_are_kept_and_the_others_are_named(lab: AppTest) -> None:
    upload(lab)

    assert not lab.exception
    assert recording.store().sets() == ("mine",)
    assert [one.question for one in recording.store().read_set("mine")][2] == "What is the capital of France?"
    assert say("lab_sets.left_out", n=1) in [warning.value for warning in lab.warning]
    assert any(
        "text" in table.value and "answerable is 'perhaps'" in str(table.value["text"].tolist())
        for table in lab.dataframe
    )
    assert lab.selectbox(key="lab_set_default").value == "mine"


def test_given_a_file_without_questions_when_dropped_then_the_error_says_what_to_do_and_nothing_is_made(
    lab: AppTest,
) -> None:
    upload(lab, b"a,b\n1,2\n")

    assert "No column is named question" in texts(lab)
    assert recording.store().sets() == ()


def test_given_the_samples_when_taken_then_all_their_questions_are_a_set(lab: AppTest) -> None:
    lab.button(key="labelled_samples").click().run()

    assert not lab.exception
    assert [len(recording.store().read_set(name)) for name in recording.store().sets()] == [193]


def test_given_a_set_when_run_then_every_question_is_recorded_and_the_run_is_chosen(lab: AppTest) -> None:
    run_set(upload(lab))

    assert not lab.exception
    (head,) = recording.store().runs()
    assert (head.name, head.set_name, head.done, head.total) == ("mine", "mine", 3, 3)
    assert lab.selectbox(key="lab_run_default").value == head.id
    (job,) = session_of(lab).jobs
    assert job.ran == Ran(3, 0, 0, 3)
    runs = next(table.value for table in lab.dataframe if "version" in table.value)
    assert list(runs["state"]) == [say("lab_sets.state_whole")]


def test_given_a_second_run_when_only_judgements_differ_then_the_page_says_that_all_was_recorded_before(
    lab: AppTest,
) -> None:
    run_set(upload(lab))
    field(lab, "knob_min_correctness").set_value(0.9).run()

    run_set(lab)

    assert session_of(lab).jobs[-1].ran == Ran(0, 3, 0, 3)
    assert say("jobs.ran", n=3, measured=0, reused=3) in badges(lab)


def test_given_a_run_when_documents_are_deleted_then_it_is_stale_and_can_be_measured_again(lab: AppTest) -> None:
    run_set(upload(lab))
    library = state.engine().library
    library.delete(library.snapshot.documents[0].id)
    lab.run()
    assert any("state" in warning.value for warning in lab.warning)

    lab.button(key="resume_run").click().run()
    settle(lab)

    (head,) = recording.store().runs()
    assert head.version == library.snapshot.version
    assert "resume_run" not in [button.key for button in lab.button]


def test_given_a_second_run_under_other_settings_then_the_list_says_what_was_changed_and_each_run_keeps_its_note(
    lab: AppTest,
) -> None:
    run_set(upload(lab))
    field(lab, "knob_top_k").set_value(4).run()
    run_set(lab)
    newest, oldest = recording.store().runs()

    lab.text_area(key=f"run_note_{newest.id}").set_value("Fewer *passages*.").run()

    assert [head.note for head in recording.store().runs()] == ["Fewer *passages*.", ""]
    runs = next(table.value for table in lab.dataframe if "version" in table.value)
    assert list(runs["note"]) == ["Fewer *passages*.", ""]
    changed, first = runs["changed"]
    assert ("4" in changed, first) == (True, "")
    assert running.run_before(newest, (newest, oldest)) == oldest


def test_given_a_run_when_its_results_are_asked_for_then_their_tab_opens(lab: AppTest) -> None:
    run_set(upload(lab))

    lab.button(key="see_results").click().run()

    assert not lab.exception
    assert say("lab_limit.title") in [heading.value for heading in lab.subheader]


def test_given_a_run_when_deleted_then_it_asks_first(lab: AppTest) -> None:
    run_set(upload(lab))
    (head,) = recording.store().runs()

    lab.button(key=f"ask_delete_run_{head.id}").click().run()
    assert "Delete the run “mine” with its 3 results?" in texts(lab)
    assert recording.store().runs() == (head,)
    lab.button(key=f"sure_delete_run_{head.id}").click().run()

    assert not lab.exception
    assert recording.store().runs() == ()
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

    assert not lab.exception
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

    assert not lab.exception
    (found,) = recording.store().read_set("mine")
    assert (found.answers, found.documents, found.places) == (("so it is",), (first.id,), (Place(first.id, 2),))
    assert sets._renamed(asked, {first.id: first.name}).documents == ("flow-meter-manual.pdf",)


def test_given_a_set_when_deleted_then_nothing_else_is_lost(lab: AppTest) -> None:
    upload(lab)
    upload(lab, LABELLED, "mine.csv")
    assert recording.store().sets() == ("mine", "mine 2")

    lab.button(key=f"ask_delete_set_{tag('mine 2')}").click().run()
    lab.button(key=f"sure_delete_set_{tag('mine 2')}").click().run()
    assert not lab.exception
    assert recording.store().sets() == ("mine",)


def test_given_a_set_when_shown_then_it_can_be_saved_as_a_file_of_either_kind(lab: AppTest) -> None:
    upload(lab)

    assert {button.label for button in lab.download_button} >= {"CSV", "JSON"}
    assert read_labelled(LABELLED, "mine.csv")[0] == recording.store().read_set("mine")


# comparisons


def open_tab(page: AppTest, name: str) -> AppTest:
    page.session_state["lab_tab"] = say(f"lab.tab_{name}")
    return page.run()


def table(page: AppTest, column: str) -> list[dict[str, object]]:
    """The rows of the table that has this column."""
    return next(one.value for one in page.dataframe if column in one.value).to_dict("records")


@pytest.mark.parametrize("tab", ["results", "compare", "guarantee", "feedback"])
def test_given_no_run_when_a_tab_is_opened_then_it_says_so_in_words(lab: AppTest, tab: str) -> None:
    open_tab(lab, tab)

    assert not lab.exception
    assert lab.info


def test_given_a_run_when_two_settings_are_compared_then_rates_test_and_differing_questions_are_shown(
    lab: AppTest,
) -> None:
    run_set(upload(lab))
    field(lab, "knob_min_correctness").set_value(1.0).run()
    open_tab(lab, "compare")

    assert not lab.exception
    rows = {row["figure"]: row for row in table(lab, "figure")}
    refused = rows[say("lab_compare.rate_false_refusals")]
    assert "0 of 2" in refused["first"]
    assert "2 of 2" in refused["second"]
    told = next(text.value for text in lab.text if "McNemar" in text.value)
    assert "Right only by the first: 2. Right only by the second: 0." in told
    assert "p = 0.5." in told
    assert [row["second"] for row in table(lab, "second_by")] == [say("lab_compare.ended_false_refusal")] * 2


def test_given_settings_that_need_a_new_run_when_compared_then_the_page_names_what_stays(lab: AppTest) -> None:
    run_set(upload(lab))
    open_tab(lab, "compare")

    (run,) = recording.store().runs()
    lab.selectbox(key=f"compare_first_{run.id}").set_value("rag-engine").run()

    assert not lab.exception
    assert any(text.value.startswith("Left as the run has them") for text in lab.text)


def test_given_a_second_run_when_two_runs_are_compared_then_the_same_questions_are_paired(lab: AppTest) -> None:
    run_set(upload(lab))
    field(lab, "knob_top_k").set_value(1).run()
    run_set(lab)
    newest, oldest = recording.store().runs()
    open_tab(lab, "compare")

    lab.selectbox(key=f"compare_second_{newest.id}").set_value(f"=run default/{oldest.id}").run()

    assert not lab.exception
    assert "Questions that both measured: 3." in texts(lab)


def test_given_moved_settings_when_the_page_is_changed_then_they_stand_on_both(app: AppTest, library: object) -> None:
    page = settle(app)
    field(page, "knob_min_correctness").set_value(0.8).run()

    page.switch_page("pages/lab.py").run()
    assert (field(page, "knob_min_correctness").value, field(page, "knob_top_k").value) == (0.8, 10)
    field(page, "knob_top_k").set_value(7).run()
    page.switch_page("pages/ask.py").run()

    assert not page.exception
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

    for number, place in enumerate(places_of(lab, touch, 9), 2):
        touch(place)
        next(button for button in lab.button if button.label == say("lab_sets.run")).click().run()

        runs = recording.store().runs()
        assert len(runs) == number, place
        assert len(session_of(lab).jobs) == 1, place  # what the run before it came to has gone by itself
        assert lab.selectbox(key="lab_run_default").value == runs[0].id, place
        assert not session_of(lab).starting


def test_given_a_set_that_is_made_when_the_page_is_touched_at_any_moment_then_it_is_chosen(
    lab: AppTest, touch: Touch
) -> None:
    upload(lab, b"question,answerable\nWho?,no\n", "0.csv")

    for number, place in enumerate(places_of(lab, touch, 7), 1):
        touch(place)
        upload(lab, b"question,answerable\nWho?,no\n", f"{number}.csv")
        assert lab.selectbox(key="lab_set_default").value == f"{number}", place

    assert recording.store().sets() == tuple(map(str, range(8)))


def test_given_a_choice_of_the_program_when_the_page_was_drawn_then_the_field_is_the_readers_again(
    lab: AppTest,
) -> None:
    upload(lab)
    upload(lab, LABELLED, "other.csv")
    assert lab.selectbox(key="lab_set_default").value == "other"

    lab.selectbox(key="lab_set_default").set_value("mine").run()

    assert lab.selectbox(key="lab_set_default").value == "mine"
    assert session_of(lab).choices == {}


def test_given_a_run_when_all_presets_are_shown_then_each_has_its_counts(lab: AppTest) -> None:
    run_set(upload(lab))
    lab.session_state["lab_tab"] = say("lab.tab_compare")
    lab.session_state["lab_way"] = "all"
    lab.run()

    assert not lab.exception
    presets = next(table.value for table in lab.dataframe if "stays" in table.value).set_index("name")
    assert (presets[["right", "wrong", "refused"]].sum(axis=1) <= 3).all()
    assert presets.loc[say("presets.front_open"), "refused"] == 0
    balanced, recorded = say("presets.front_balanced"), say("lab_compare.option_recorded")
    assert presets.loc[balanced, "right"] == presets.loc[recorded, "right"]


def type_question(page: AppTest, question: str, answer: str = "", answerable: bool = True) -> AppTest:
    page.text_input(key=sets.QUESTION).set_value(question)
    page.radio(key=sets.ANSWERABLE).set_value(answerable)
    page.text_input(key=sets.ANSWER).set_value(answer)
    return next(button for button in page.button if button.label == say("lab_typed.add")).click().run()


def test_given_no_questions_when_some_are_typed_then_they_are_a_set_and_the_form_is_empty_for_the_next(
    lab: AppTest,
) -> None:
    type_question(lab, "How many vacation days do employees have?", "25 vacation days")

    assert not lab.exception
    assert lab.selectbox(key="lab_set_default").value == say("lab_typed.default_set")
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
