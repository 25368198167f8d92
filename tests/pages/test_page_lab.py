"""The lab: sets, runs, comparisons."""

from __future__ import annotations

from page_kit import settle
from streamlit.testing.v1 import AppTest


def lab(app: AppTest) -> AppTest:
    """The lab, opened."""
    settle(app)
    return settle(app.switch_page("pages/lab.py"))


def test_given_the_lab_when_opened_then_it_has_its_tabs(app: AppTest, library: object) -> None:
    page = lab(app)

    assert not page.exception
    assert [tab.label for tab in page.tabs] == ["Set & run", "Results", "Compare", "Guarantee", "Feedback"]
