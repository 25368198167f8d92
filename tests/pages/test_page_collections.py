"""Collections: each session works in one, and nothing of another reaches it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from builders import a_job_of_another
from hostile import make
from page_kit import ask, badges, by_key, collection_field, settle, texts
from streamlit.testing.v1 import AppTest

from rag_core.library.stored.named import collections
from rag_core.library.stored.sources import Source
from rag_core.settings import Settings
from rag_core.wiring import open_engine
from ui.app import first_run, state
from ui.app.texts import say, tell

BRIDGE = "The harbour bridge was opened in 1931 and is 412 metres long."
REPORT = make.document(BRIDGE, "Its toll is 3 pounds for a car.").tobytes()


@pytest.fixture
def two(library: Path) -> Path:
    """A library with the samples in `default` and a bridge in `harbour`."""
    open_engine(library, "harbour").library.add(
        [Source("bridge.pdf", make.document(BRIDGE).tobytes(), "pdf")], Settings.load()
    )
    return library


def create(page: AppTest, name: str) -> AppTest:
    page.text_input(key=by_key_of_text(page)).set_value(name)
    return page.button(key=by_key(page, "FormSubmitter:new_named")[0]).click().run()


def by_key_of_text(page: AppTest) -> str:
    return next(field.key for field in page.text_input if (field.key or "").startswith("collection_name_"))


def test_given_two_collections_when_one_is_chosen_then_a_question_finds_nothing_of_the_other(
    app: AppTest, two: Path
) -> None:
    """S3-25: collections isolate collections."""
    page = settle(app)
    assert collection_field(page).options == [say("collections.own"), "harbour"]
    ask(page, "How long is the harbour bridge?")
    assert "412" not in texts(page)

    collection_field(page).set_value("harbour").run()
    assert "412" not in texts(page)  # the question of the other collection is not asked here
    ask(page, "How long is the harbour bridge?")
    assert "412 metres" in texts(page)
    ask(page, "How many vacation days do employees have?")
    assert "25 vacation days" not in texts(page)

    page.switch_page("pages/documents.py").run()
    assert list(page.dataframe[0].value["name"]) == ["bridge.pdf"]


def test_given_a_choice_of_documents_when_the_collection_changes_then_it_does_not_go_along(
    app: AppTest, two: Path
) -> None:
    bridge = Source("bridge.pdf", make.document(BRIDGE).tobytes(), "pdf")
    chosen = open_engine(two, "default").library.add([bridge], Settings.load()).added[0].id
    open_engine(two, "harbour").library.add([bridge], Settings.load())  # the same document stands in both
    page = settle(app)
    page.multiselect(key="documents").set_value([chosen]).run()

    collection_field(page).set_value("harbour").run()
    assert page.multiselect(key="documents").value == []
    ask(page, "How long is the harbour bridge?")
    assert "412 metres" in texts(page)

    collection_field(page).set_value("default").run()
    assert page.multiselect(key="documents").value == []


def test_given_a_name_as_people_write_it_when_created_then_it_is_shown_so_everywhere_and_its_folder_has_a_plain_one(
    app: AppTest, library: Path
) -> None:
    title, name = "**../up** <b>[x](y)", "up-b-x-y"
    page = create(settle(app), title)

    assert collection_field(page).value == name
    assert collection_field(page).options == [say("collections.own"), title]
    assert collections(library) == tuple(sorted(("default", name)))
    page.file_uploader[0].set_value([("bridge.pdf", make.document(BRIDGE).tobytes(), "application/pdf")]).run()
    collection_field(page).set_value("default").run()
    assert tell("jobs.in_collection", name=title) in texts(page)
    settle(page)
    collection_field(page).set_value(name).run()
    page.switch_page("pages/documents.py").run()
    assert tell("collections.address", name=name) in texts(page)
    assert tell("dropping.name", name=title) in texts(page)
    page.text_input(key=f"drop_name_{name}").set_value(title)
    next(button for button in page.button if button.label == say("dropping.sure")).click().run()
    assert collections(library) == ("default",)


def test_given_a_name_that_cannot_be_when_created_then_the_error_says_what_can_and_the_choice_stays(
    app: AppTest, library: Path
) -> None:
    page = settle(app)
    for name in ("", "\u200b \u202e"):
        create(page, name)
        assert "What to do: Use 1 to 80 characters." in texts(page)
        assert collection_field(page).value == "default"
        assert collections(library) == ("default",)


@pytest.fixture
def samples_apart(empty_library: Path, sample_library: Path) -> Path:
    """A library as the first start leaves it: the samples in their own collection, and nothing else."""
    shutil.copytree(sample_library, empty_library)
    (empty_library / "default").rename(empty_library / "samples")
    return empty_library


def test_given_the_first_start_when_opened_then_the_samples_are_indexed_once_in_a_collection_of_their_own(
    app: AppTest, empty_library: Path
) -> None:
    """One start for all that holds of it: indexing the samples takes as long as fifteen other tests of the page."""
    app.run()
    assert "Indexing the sample documents" in texts(app)
    page = settle(app)
    held = open_engine(empty_library, "samples").library.snapshot

    assert collection_field(page).value == "samples"
    assert collection_field(page).options == [say("collections.own"), say("collections.samples")]
    assert len(held.documents) == len(first_run.samples())
    assert open_engine(empty_library, "default").library.snapshot.documents == ()
    assert not page.query_params  # the page begins here for everybody

    page.switch_page("pages/documents.py").run()
    assert len(page.dataframe[0].value) == len(list(first_run.SAMPLES.glob("*.pdf")))
    settle(page)
    assert open_engine(empty_library, "samples").library.snapshot.version == held.version  # nothing is indexed again

    create(page, "mine")
    settle(page)
    assert open_engine(empty_library, "mine").library.snapshot.documents == ()  # another collection has no samples


def test_given_the_samples_when_a_file_is_dropped_then_it_goes_to_another_collection_and_the_page_with_it(
    app: AppTest, samples_apart: Path
) -> None:
    page = settle(app)
    assert say("jobs.add_apart") in [caption.value for caption in page.caption]

    page.file_uploader[0].set_value([("bridge.pdf", make.document(BRIDGE).tobytes(), "application/pdf")]).run()
    settle(page)

    assert collection_field(page).value == "default"
    assert [one.name for one in open_engine(samples_apart, "default").library.snapshot.documents] == ["bridge.pdf"]
    assert len(open_engine(samples_apart, "samples").library.snapshot.documents) == len(first_run.samples())
    assert say("jobs.add_apart") not in [caption.value for caption in page.caption]
    # every page begins with one's own documents from now on
    assert first_run.start_collection(samples_apart) == "default"


def test_given_a_browser_that_was_not_told_of_the_files_collection_when_it_touches_the_page_then_that_stays(
    app: AppTest, samples_apart: Path
) -> None:
    page = settle(app)
    as_before = page._tree.get_widget_states()
    page.file_uploader[0].set_value([("bridge.pdf", make.document(BRIDGE).tobytes(), "application/pdf")]).run()

    page._run(as_before)

    assert collection_field(page).value == "default"
    settle(page)


def test_given_questions_before_the_first_document_is_read_then_they_wait_and_each_is_asked_unless_taken_back(
    app: AppTest, samples_apart: Path
) -> None:
    """A typed question is never lost."""
    page = settle(app)
    with a_job_of_another(state.runner()):
        page.file_uploader[0].set_value([("report.pdf", REPORT, "application/pdf")]).run()
        assert not page.chat_input(key="question").disabled
        ask(page, "How long is the harbour bridge?")
        ask(page, "What is the toll for a car?")
        assert "How long is the harbour bridge?" in texts(page)
        assert say("waiting.held") in texts(page)
        assert page.session_state[state.SESSION].history == []  # nothing is decided
        page.button(key="take_back_0").click().run()
        assert by_key(page, "take_back_") == ["take_back_0"]
    settle(page)

    assert "Answered from the documents" in badges(page)
    assert "Its toll is 3 pounds for a car." in texts(page)
    assert say("waiting.held") not in texts(page)
    assert [asked.question for asked in page.session_state[state.SESSION].history] == ["What is the toll for a car?"]
