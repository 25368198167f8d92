"""The page where questions are asked, over the real engine and the sample documents."""

from __future__ import annotations

import hashlib

import pytest
from builders import a_job_of_another
from hostile import make
from hypothesis import given
from hypothesis import strategies as st
from page_kit import PDF, VACATION, ask, asked_of, badges, by_key, choose_document, field, open_part, settle, texts
from streamlit.testing.v1 import AppTest

from rag_core.domain.documents import Document
from rag_core.engine import Engine
from rag_core.settings import Settings
from ui.app import state
from ui.app.first_run import SAMPLES
from ui.app.scope import unique_names

ANSWERED = "Answered from the documents"
MANUAL = "sha256:" + hashlib.sha256((SAMPLES / "flow-meter-manual.pdf").read_bytes()).hexdigest()
REPORT = make.document(
    "The harbour bridge was opened in 1931 and is 412 metres long.", "Its toll is 3 pounds for a car."
).tobytes()


def upload(page: AppTest, *files: tuple[str, bytes]) -> AppTest:
    page.file_uploader[0].set_value([(name, data, PDF) for name, data in files]).run()
    return settle(page)


def test_given_the_samples_when_an_example_is_clicked_then_the_answer_names_its_page_and_words(page: AppTest) -> None:
    """S4-17, S3-19: answered with document, page and excerpt."""
    example = next(button for button in page.button if button.label == VACATION)

    example.click().run()

    assert "Maybe" in badges(page)  # two documents say different things
    assert by_key(page, "example_") == []
    assert "25 vacation days" in texts(page)
    assert "[1]  Company Policies, page 1" in texts(page)
    assert "company-policies.pdf · Company Policies › 1 Vacation" in texts(page)
    assert "\nEvery full-time employee has 25 vacation days in a calendar year.\n" in texts(page)


def test_given_an_answer_when_a_judging_slider_moves_then_it_is_decided_again_without_any_model(
    page: AppTest, embedded: list[int]
) -> None:
    ask(page, VACATION)
    asked_with = sum(embedded)
    assert asked_with > 0

    field(page, "knob_min_correctness").set_value(1.0).run()

    assert sum(embedded) == asked_with
    least = Settings.load().min_correctness
    assert f"Changed: How sure {100 * least:.0f} % → 100 %. Result: still a maybe, because it is " in texts(page)
    assert "Maybe" in badges(page)
    page.button(key="undo").click().run()
    assert asked_of(page).decision.answered
    assert "Result: still a maybe, because it is " in texts(page)
    field(page, "preset").set_value("scoping").run()
    assert sum(embedded) == asked_with


def test_given_an_answer_when_a_setting_of_retrieval_moves_then_the_question_is_asked_again(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(page, VACATION)
    measured = []
    measure = Engine.measure
    monkeypatch.setattr(Engine, "measure", lambda *given, **named: measured.append(given) or measure(*given, **named))

    field(page, "knob_top_k").set_value(2).run()

    assert len(measured) == 1
    assert len(page.dataframe[0].value) == 2
    assert "Changed: How many sources 10 → 2." in texts(page)


def test_given_an_answer_when_a_setting_of_ingest_moves_then_the_answer_stands(
    page: AppTest, embedded: list[int]
) -> None:
    ask(page, VACATION)
    asked_with = sum(embedded)
    open_part(page, "ingest")

    field(page, "knob_passage_tokens").set_value(64).run()
    assert "Applies to documents indexed from now on." in field(page, "knob_passage_tokens").help
    page.switch_page("pages/ask.py").run()

    assert "What to do" not in texts(page)
    assert asked_of(page).decision.answered
    assert sum(embedded) == asked_with


def test_given_documents_to_search_in_when_asked_then_no_other_one_is_found(page: AppTest) -> None:
    page.multiselect(key="documents").set_value([MANUAL]).run()
    ask(page, VACATION)

    assert set(page.dataframe[0].value["document"]) == {"flow-meter-manual.pdf"}
    page.multiselect(key="documents").set_value([]).run()
    assert "company-policies.pdf" in set(page.dataframe[0].value["document"])
    assert "Changed: the documents. Result: no answer → maybe, because it is " in texts(page)


def test_given_a_document_to_search_in_when_it_is_deleted_on_the_other_page_then_the_question_is_asked_of_the_rest(
    page: AppTest,
) -> None:
    page.multiselect(key="documents").set_value([MANUAL]).run()
    ask(page, "What is the maximum operating pressure?")
    page.switch_page("pages/documents.py").run()
    page.switch_page("pages/ask.py").run()
    assert page.multiselect(key="documents").value == [MANUAL]
    page.switch_page("pages/documents.py").run()
    choose_document(page, MANUAL)
    page.button(key=f"ask_delete_{MANUAL}").click().run()
    page.button(key=f"sure_delete_{MANUAL}").click().run()

    page.switch_page("pages/ask.py").run()

    assert page.multiselect(key="documents").value == []
    assert "flow-meter-manual.pdf" not in set(page.dataframe[0].value["document"])


def test_given_an_upload_when_it_is_stopped_then_it_waits_on_the_documents_page(page: AppTest) -> None:
    with a_job_of_another(state.runner()):
        page.file_uploader[0].set_value([("report.pdf", REPORT, PDF)]).run()
        page.button(key="stop_0").click().run()
        settle(page)  # at once: it does not wait for its turn

    assert "Stopped." in badges(page)
    page.switch_page("pages/documents.py").run()
    assert "report.pdf" in texts(page)
    assert by_key(page, "FormSubmitter:resume")


ALIKE = st.tuples(st.text("ab", min_size=8, max_size=8), st.sampled_from(["", "a.pdf", "a.pdf (aaaaaaaa)", "b"]))


@given(st.lists(ALIKE, unique_by=lambda row: row[0]))
def test_given_documents_of_any_names_when_labelled_then_no_two_labels_are_equal(rows: list[tuple[str, str]]) -> None:
    documents = [Document(f"sha256:{digits}", name, "en", 1) for digits, name in rows]

    labels = unique_names(documents)

    assert list(labels) == [document.id for document in documents]
    assert len(set(labels.values())) == len(documents)
    assert all(document.name in labels[document.id] for document in documents)


def test_given_a_refused_question_when_the_document_that_answers_it_is_added_then_it_is_answered(page: AppTest) -> None:
    ask(page, "How long is the harbour bridge?")
    assert ANSWERED not in badges(page)

    upload(page, ("report.pdf", REPORT))

    assert "Indexed and ready to be asked: 1" in badges(page)
    assert "report.pdf" in texts(page)
    assert "Changed: the documents. Result: no answer → answered, because it is " in texts(page)
    assert "412 metres" in page.code[0].value
