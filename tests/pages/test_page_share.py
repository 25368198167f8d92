"""A decision that leaves the page: its label in a test set, its link, and its files; nothing in them is read as
markup.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path
from types import SimpleNamespace

import pymupdf
import pytest
from page_kit import another, ask, asked_of, badges, session_of, settle, texts
from streamlit.testing.v1 import AppTest

from rag_core.domain.status import Reason
from rag_core.errors import InvalidInput
from rag_core.evaluation.labelled import LabelledQuestion, holds_answer, to_row
from rag_core.ingest.reading.pdf import compose_sheet
from ui.app import state
from ui.app.people import recording
from ui.app.texts import say
from ui.ask import export
from ui.ask.feedback import right_answer
from ui.settings import sharing

HOSTILE = (
    "![x](http://203.0.113.9/a.png) <img src=http://203.0.113.9/b.png> "
    "<script>alert(1)</script> [go](http://203.0.113.9) | **b** `c`"
)
QUESTION = "How many vacation days do employees have?"


def test_given_an_answer_and_a_refusal_when_added_to_the_test_set_then_each_is_labelled_as_decided_and_can_be_changed(
    page: AppTest,
) -> None:
    ask(page, QUESTION)
    page.button(key="add_to_set").click().run()

    (label,) = recording.store().read_set("Test set")
    (cited,) = asked_of(page).decision.citations[:1]
    assert (label.question, label.answerable, label.answers) == (
        QUESTION,
        True,
        (asked_of(page).decision.claims[0].text,),
    )
    assert (label.places[0].document, label.places[0].page) == (cited.document_id, cited.page)
    assert say("labelling.added") in badges(page)

    page.text_input(key="label_answer").set_value("25 vacation days")
    next(button for button in page.button if button.label == say("labelling.save")).click().run()
    assert [one.answers for one in recording.store().read_set("Test set")] == [("25 vacation days",)]

    ask(page, "What is the capital of France?")
    page.button(key="add_to_set").click().run()
    assert [one.answerable for one in recording.store().read_set("Test set")] == [True, False]
    page.button(key="label_take_back").click().run()
    assert [one.answerable for one in recording.store().read_set("Test set")] == [True]


def test_given_an_answer_called_wrong_when_added_to_the_test_set_then_the_page_says_that_any_answer_counts_until_the_right_one_is_given(  # noqa: E501
    page: AppTest,
) -> None:
    ask(page, QUESTION)
    page.button(key="add_to_set").click().run()
    assert say("labelling.counts_as_right") not in [info.value for info in page.info]
    page.button(key="label_take_back").click().run()

    page.button(key="feedback_wrong").click().run()
    page.button(key="add_to_set").click().run()
    assert say("labelling.counts_as_right") in [info.value for info in page.info]

    page.text_input(key="label_answer").set_value("25 vacation days")
    next(button for button in page.button if button.label == say("labelling.save")).click().run()
    assert say("labelling.counts_as_right") not in [info.value for info in page.info]


def test_given_a_label_when_its_question_is_asked_again_then_what_people_said_stays(page: AppTest) -> None:
    ask(page, QUESTION)
    page.button(key="add_to_set").click().run()
    ask(page, QUESTION)
    page.button(key="feedback_wrong").click().run()

    page.button(key="add_to_set").click().run()

    assert [one.answers for one in recording.store().read_set("Test set")] == [()]

    page.text_input(key="label_answer").set_value("24 vacation days")
    next(button for button in page.button if button.label == say("labelling.save")).click().run()

    ask(page, QUESTION)
    page.button(key="add_to_set").click().run()

    assert [one.answers for one in recording.store().read_set("Test set")] == [("24 vacation days",)]
    assert page.text_input(key="label_answer").value == "24 vacation days"


ROWS = {
    "What were net sales in fiscal 2022?": ("Fiscal 2022 | Fiscal 2021: Net sales | $ | 5,140 | $ | 4,870", "$5,140"),
    "What is the minimum pressure?": (
        "Parameter | Value | Unit: Minimum pressure | 16 | bar",
        "Minimum pressure 16 bar",
    ),
    "How many stores are there?": ("U.S. | Abroad: Stores | 1,144 | 212", "Stores 1,144 212"),
    "How often is it calibrated?": (
        "It is calibrated every 5 years | at least.",
        "It is calibrated every 5 years at least.",
    ),
}


def test_given_a_row_of_a_table_when_added_to_the_test_set_then_its_right_answer_is_the_figure_or_the_row_and_no_list_in_brackets() -> (  # noqa: E501
    None
):
    for question, (claim, answer) in ROWS.items():
        label = LabelledQuestion("1", question, True, (right_answer(question, claim),))

        assert label.answers == (answer,)
        assert to_row(label)["answers"] == answer
        assert holds_answer(claim, label.answers), claim


def test_given_a_link_to_a_decision_when_opened_then_it_is_shown_as_it_was_decided_until_the_next_question(
    page: AppTest, app: AppTest
) -> None:
    page.slider(key="knob_min_correctness").set_value(1.0).run()
    ask(page, QUESTION)
    assert asked_of(page).decision.reason is Reason.CORRECTNESS
    number = asked_of(page).record
    other = another()
    other.query_params["decision"] = str(number)

    settle(other)

    assert asked_of(other).question == QUESTION
    assert asked_of(other).decision.reason is Reason.CORRECTNESS
    assert session_of(other).values["min_correctness"] == 1.0
    assert other.query_params["decision"] in (str(number), [str(number)])
    ask(other, "When are expenses reimbursed?")
    assert "decision" not in other.query_params


@pytest.mark.parametrize("number", ["99999", "-1", "7; drop table", "٣", "1" * 40])
def test_given_a_link_that_names_no_decision_when_opened_then_the_page_says_so(library: Path, number: str) -> None:
    with pytest.raises(InvalidInput):
        export.read(state.engine(), number)


def test_given_a_decision_full_of_markup_when_written_or_printed_then_it_is_text_without_links() -> None:
    written = export.to_markdown(
        [
            {"kind": "title", "text": "A decision"},
            {"kind": "lead", "text": HOSTILE + "\n# head\n1. one\n- item\nwww.evil.example"},
            {"kind": "rows", "rows": [["Check", "Measured"], [HOSTILE, "a\nb"]]},
            {"kind": "picture", "text": HOSTILE, "png": "QUJD"},
        ]
    )

    assert written.startswith("# A decision\n")
    assert not re.search(r"(?<!\\)[<`]|(?<!\\)\]\(|(?<!\\)!\[x|://|www\.", written.replace("![\\!", ""))
    assert "> \\# head\n> 1\\. one\n> \\- item" in written
    assert written.count("\n| ") == 3  # the head, its line, and one row
    assert written.endswith("[page-1]: data:image/png;base64,QUJD\n")

    printed = compose_sheet(
        [{"kind": "lead", "text": HOSTILE + "\x00\x1b कौन 中文"}, {"kind": "rows", "rows": [[HOSTILE, "b"]]}]
    )

    with pymupdf.open(stream=printed) as sheet:
        shown = "".join("".join(page.get_text() for page in sheet).split())
        assert shown.count("".join(HOSTILE.split())) == 2
        assert "कौन中文" in shown
        assert [page.get_links() for page in sheet] == [[]]
        assert sheet[0].get_images() == []


def test_given_an_answer_when_exported_then_the_file_has_question_answer_marked_page_checks_and_the_settings_fingerprint(  # noqa: E501
    page: AppTest,
) -> None:
    ask(page, QUESTION)
    asked, engine = asked_of(page), state.engine()
    assert {button.label for button in page.get("download_button")} >= {say("export.pdf"), say("export.markdown")}

    made = export.blocks(engine, asked)
    written = export.to_markdown(made)

    assert export.file_name(asked) == "answer-how-many-vacation-days-do-employees-have"
    assert "25 vacation days" in written
    assert asked.settings.hash() in written
    assert say("checks.title_correctness") in written
    assert [block["kind"] for block in made].count("picture") == len(
        {(one.document_id, one.page) for one in asked.decision.citations}
    )
    with pymupdf.open(stream=compose_sheet(made)) as sheet:
        assert QUESTION in sheet[0].get_text()
        assert sum(len(leaf.get_images()) for leaf in sheet) >= 1
    assert QUESTION in texts(page)


def test_given_the_address_of_the_page_then_a_link_names_collection_and_decision_and_nothing_else() -> None:
    local = (
        "http://127.0.0.1:8501/",
        "http://localhost:8501/?top_k=3",
        "http://[::1]:8501/",
        "http://plumbline.localhost/",
    )
    assert [export.only_here(page) for page in local] == [True] * len(local)
    assert [export.only_here(page) for page in ("https://docs.example.org/", "http://192.168.1.20:8501/", "")] == [
        False
    ] * 3
    assert (
        sharing.address("http://127.0.0.1:8501/?top_k=3#x", "my law", 7)
        == "http://127.0.0.1:8501/?collection=my+law&decision=7"
    )
    assert export.file_name(SimpleNamespace(question="???", decision=SimpleNamespace(answered=False))) == "refusal"  # type: ignore[arg-type]


@pytest.mark.parametrize(("height", "pages"), [(3000, 3), (1650, 3), (500, 1)])
def test_given_a_picture_of_any_height_when_printed_then_it_has_its_line_beside_it_and_nothing_behind_it_is_lost(
    height: int, pages: int
) -> None:
    """A page longer than A4 ended the file: the checks and the settings of a filing of legal size were missing."""
    dots = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 1000, height))
    dots.clear_with(200)
    of = [
        export.block("head", "Sources"),
        export.block("small", "a.pdf, page 1"),
        {"kind": "picture", "text": "a.pdf, page 1", "png": base64.b64encode(dots.tobytes("png")).decode()},
        export.block("head", "Checks"),
    ]

    with pymupdf.open(stream=compose_sheet(of)) as made:
        told = [page.get_text() for page in made]
        drawn = [len(page.get_images()) for page in made]

    assert len(told) == pages
    assert "Checks" in told[-1]
    assert "a.pdf, page 1" in told[drawn.index(1)]
