"""The first look at an answer: it, the line that judges it, and the marked words are in sight at once, on three sizes of screen."""

from __future__ import annotations

import pytest

pytest.importorskip("playwright.sync_api")

from browser_kit import CHROMIUM, WAIT_MS, ask, drop, marked_rows, settled
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not CHROMIUM.exists(), reason="needs Chromium at /usr/bin/chromium")]

SIZES = ((1280, 720), (1440, 900), (390, 844))  # pixels: a small laptop, a large one, a phone


def test_given_an_answer_when_looked_at_on_any_screen_then_answer_judgement_and_marked_words_are_in_sight_without_scrolling(
    page: Page,
) -> None:
    ask(page, "How often does the flow meter have to be calibrated?")
    expect(page.locator(".st-key-answer").get_by_text("every 5 years")).to_be_visible(timeout=WAIT_MS)
    settled(page)

    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 0)")
        expect(page.locator(".st-key-answer_text")).to_be_in_viewport(ratio=1)
        expect(page.locator(".st-key-how_sure")).to_be_in_viewport(ratio=1)
        expect(page.locator(".st-key-question")).to_be_in_viewport(ratio=1)
        rows = marked_rows(page.locator(".st-key-viewer_lines img"))
        assert 0 < min(rows) < max(rows) < height, (width, height)


def test_given_an_answer_when_files_are_added_then_it_does_not_move_and_what_failed_stays_in_sight(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    drop(page, "note.pdf", b"<html>")
    problem = page.get_by_text("The file is not a PDF")
    expect(problem).to_be_visible(timeout=WAIT_MS)
    ask(page, "How many vacation days do employees have?")
    answer = page.locator(".st-key-outcome")
    expect(answer).to_be_visible(timeout=WAIT_MS)
    settled(page)
    before = answer.bounding_box()

    drop(page, "second.pdf", b"<html> again")
    expect(page.get_by_text("second.pdf")).to_be_visible(timeout=WAIT_MS)
    expect(page.get_by_test_id("stFileChip").filter(visible=True)).to_have_count(0, timeout=WAIT_MS)  # the field names a file on its way
    settled(page)

    assert before is not None
    assert answer.bounding_box() == before
    expect(page.get_by_text("The file is not a PDF").first).to_be_in_viewport()


def test_given_an_answer_when_the_limit_under_it_is_moved_to_its_end_then_it_is_refused_there_and_the_side_bar_follows(page: Page) -> None:
    ask(page, "How often does the flow meter have to be calibrated?")
    limit = page.get_by_role("slider", name="At least this sure")
    expect(limit).to_be_visible(timeout=WAIT_MS)

    limit.focus()
    limit.press("End")

    expect(page.locator(".st-key-refusal").get_by_text("You ask for at least 100 %: not shown.")).to_be_visible(timeout=WAIT_MS)
    expect(page.get_by_role("slider", name="How sure")).to_have_value("1", timeout=WAIT_MS)
