"""The questions of a session, and where they are searched: history with its confidence, chosen documents, metadata
filters.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from page_kit import CALIBRATION, FRANCE, ask, by_key, session_of, texts
from streamlit.testing.v1 import AppTest

from rag_core.domain.documents import Document, Metadata
from rag_core.settings import Settings
from rag_core.wiring import open_engine
from ui.app import state
from ui.app.scope import values_by_key
from ui.app.sheets import to_markdown
from ui.ask import export


def test_given_a_history_when_a_question_is_brought_back_then_it_is_shown_and_not_asked_again(
    page: AppTest, embedded: list[int]
) -> None:
    ask(page, CALIBRATION)
    ask(page, FRANCE)
    calls = len(embedded)

    page.button(key="show_turn_1").click().run()

    assert "every 5 years" in texts(page)
    assert len(embedded) == calls
    assert by_key(page, "show_turn_") == ["show_turn_2"]  # below it: it stays in its place


def test_given_questions_when_asked_then_the_thread_keeps_each_with_its_confidence_and_all_can_be_saved(
    page: AppTest,
) -> None:
    """S4-12: each message carries whether it is a refusal, and its confidence level."""
    ask(page, CALIBRATION)
    # its own files are under Share
    assert "all_asked_pdf" not in {button.key for button in page.get("download_button")}
    assert by_key(page, "show_turn_") == []  # the only one is on the page
    ask(page, FRANCE)
    ask(page, "Hello")

    assert {"all_asked_pdf", "all_asked_markdown"} <= {button.key for button in page.get("download_button")}
    asked = session_of(page).history
    written = to_markdown(export.blocks_of_all(asked))
    assert all(part in written for part in ("1\\. How often", "every 5 years", "capital of France", "Hello"))

    shown = texts(page)

    assert re.search(r"✓ Answered, \d\d % sure", shown)
    assert "○ No answer. The best sentence that was found is probably not the answer to this question." in shown
    assert by_key(page, "show_turn_") == ["show_turn_1", "show_turn_2"]  # oldest first, above the one on the page
    assert shown.index(CALIBRATION) < shown.index(FRANCE) < shown.index("Hello")
    assert [message.name for message in page.chat_message] == ["user", "assistant", "user", "assistant", "user"]


def test_given_documents_with_metadata_when_a_value_is_chosen_then_only_such_documents_are_searched(
    library: Path, app: AppTest
) -> None:
    """S2-27: retrieval filters such as class."""
    engine = open_engine(library, "default", Settings.load())
    chapter = engine.library.snapshot.find("arithmetic-progressions.pdf")[0]
    engine.library.set_metadata(chapter.id, replace(chapter.metadata, values={"class": "10"}))
    app.run()
    app.selectbox(key="filter_class").set_value("10").run()

    ask(app, CALIBRATION)

    asked = session_of(app).asked
    assert asked.decision.answered is False
    assert {name for name, _ in asked.decision.retrieved} == {"arithmetic-progressions.pdf"}


def test_given_documents_when_their_metadata_are_listed_then_values_are_sorted_and_dates_are_years() -> None:
    documents = [
        Document("a", "a", "en", 1, Metadata(date="2024-03-01", values={"subject": "maths"})),
        Document("b", "b", "cs", 1, Metadata(date="2023", verified=True, values={"subject": "art"})),
    ]

    assert values_by_key(documents) == {
        "language": ["cs", "en"],
        "date": ["2023", "2024"],
        "verified": ["false", "true"],
        "subject": ["art", "maths"],
    }


def test_given_a_hundred_questions_in_a_session_then_it_holds_the_last_ones_and_grows_no_further(page: AppTest) -> None:
    ask(page, CALIBRATION)
    session, counts = session_of(page), []
    for _ in range(4):
        for _ in range(25):
            session.show(replace(session.history[-1], number=0, flips=None))
        page.run()
        counts.append((len(session.history), len(page.session_state), len(session.choices)))

    assert session.questions == 101
    assert session.history[-1] is session.asked
    assert counts[1:] == [counts[1]] * 3, counts
    assert counts[-1][0] == state.MAX_QUESTIONS
