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
from page_kit import ask, asked_of, field, session_of, settle, texts
from streamlit.testing.v1 import AppTest

from rag_core.domain.status import Reason
from rag_core.errors import InvalidInput
from rag_core.ingest.reading.pdf import compose_sheet
from ui.app import sheets, state
from ui.app.texts import say
from ui.ask import export
from ui.settings import sharing

HOSTILE = (
    "![x](http://203.0.113.9/a.png) <img src=http://203.0.113.9/b.png> "
    "<script>alert(1)</script> [go](http://203.0.113.9) | **b** `c`"
)
QUESTION = "How many vacation days do employees have?"


def test_given_a_link_to_a_decision_when_opened_then_it_is_shown_as_it_was_decided_until_the_next_question(
    page: AppTest, app: AppTest
) -> None:
    field(page, "knob_min_correctness").set_value(1.0).run()
    ask(page, QUESTION)
    assert asked_of(page).decision.reason is Reason.CORRECTNESS
    number = asked_of(page).record
    other = AppTest.from_file(app._script_path, default_timeout=app.default_timeout)
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


def test_given_a_decision_full_of_markup_when_written_as_markdown_then_every_sign_of_it_is_escaped() -> None:
    written = sheets.to_markdown(
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


def test_given_a_decision_full_of_markup_when_printed_then_it_is_text_without_links_or_foreign_pictures() -> None:
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
    written = sheets.to_markdown(made)

    assert export.file_name(asked) == "maybe-how-many-vacation-days-do-employees-have"
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
    nameless = SimpleNamespace(question="???", decision=SimpleNamespace(answered=False, may_be=None))
    assert export.file_name(nameless) == "refusal"  # type: ignore[arg-type]


@pytest.mark.parametrize(("height", "pages"), [(3000, 3), (1650, 3), (500, 1)])
def test_given_a_picture_of_any_height_when_printed_then_it_has_its_line_beside_it_and_nothing_behind_it_is_lost(
    height: int, pages: int
) -> None:
    """A page longer than A4 ended the file: the checks and the settings of a filing of legal size were missing."""
    dots = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 1000, height))
    dots.clear_with(200)
    of = [
        sheets.block("head", "Sources"),
        sheets.block("small", "a.pdf, page 1"),
        {"kind": "picture", "text": "a.pdf, page 1", "png": base64.b64encode(dots.tobytes("png")).decode()},
        sheets.block("head", "Checks"),
    ]

    with pymupdf.open(stream=compose_sheet(of)) as made:
        told = [page.get_text() for page in made]
        drawn = [len(page.get_images()) for page in made]

    assert len(told) == pages
    assert "Checks" in told[-1]
    assert "a.pdf, page 1" in told[drawn.index(1)]
