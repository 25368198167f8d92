"""Fast hands in a real Chromium: no question is lost, no draft of one, and no setting takes a value that nobody
chose.
"""

from __future__ import annotations

import pytest

pytest.importorskip("playwright.sync_api")

from browser_kit import WAIT_MS, drop, moved, settled
from e2e_papers import long_pdf
from playwright.sync_api import Page, expect

from rag_core.settings import Settings
from ui.app.texts import say

DELAYS_MS = (0, 0, 20, 60, 200)  # between a question's Enter and the next touch; a slider tells its value 200 ms late
FRONT = ("min_correctness", "min_place", "top_k")  # sliders of the side bar
LOADS = 4
SLOWER = 4  # the browser's speed is divided by this
DRAFT = "How long is the pier, and who"


def box(page: Page):  # type: ignore[no-untyped-def]
    return page.get_by_test_id("stChatInputTextArea")


def slider(page: Page, name: str):  # type: ignore[no-untyped-def]
    return page.get_by_role("slider", name=say(f"knobs.{name}"))


def test_given_a_question_when_a_slider_is_moved_at_the_same_moment_then_each_is_asked(page: Page) -> None:
    for number, delay in enumerate(DELAYS_MS):
        question = f"How often does flow meter {number} have to be calibrated?"
        settled(page)
        box(page).fill(question)
        box(page).press("Enter")
        page.wait_for_timeout(delay)
        moved = slider(page, FRONT[number % len(FRONT)])
        moved.focus()
        for _ in range(1 + number % 3):
            moved.press("ArrowRight" if number % 2 else "ArrowLeft")

        expect(page.locator(".st-key-asked").get_by_text(question, exact=True)).to_be_visible(timeout=WAIT_MS)


def test_given_a_question_that_is_being_typed_when_the_page_changes_around_it_then_it_stands(page: Page) -> None:
    box(page).fill(DRAFT)
    moved(page, say(f"knobs.{FRONT[0]}"), "ArrowRight")
    expect(box(page)).to_have_value(DRAFT)

    drop(page, "pier.pdf", long_pdf(40))  # a job that is shown, goes on and ends
    expect(page.get_by_text("Indexed and ready to be asked: 1")).to_be_visible(timeout=2 * WAIT_MS)
    expect(box(page)).to_have_value(DRAFT)
    settled(page)

    expect(box(page)).to_have_value(DRAFT)


def test_given_a_slow_browser_when_the_page_is_opened_often_then_every_slider_stands_where_its_setting_does(
    page: Page,
) -> None:
    usual = Settings()
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    for load in range(LOADS):
        page.reload(wait_until="commit")
        if load % 3 == 0:
            page.wait_for_timeout(100 * load)  # left half drawn
            page.goto(page.url, wait_until="commit")  # Chromium refuses to reload a page that it is still putting up
        for name in FRONT:
            expect(slider(page, name)).to_have_value(f"{getattr(usual, name):g}", timeout=2 * WAIT_MS)
        settled(page)

        shown = {name: float(slider(page, name).input_value()) for name in FRONT}
        assert shown == {name: float(getattr(usual, name)) for name in FRONT}, load
        assert "?" not in page.url, load  # the address repeats what of the session's settings is not as usual


def test_given_a_job_that_is_shown_when_a_slider_is_moved_all_the_while_then_the_page_stays_whole(page: Page) -> None:
    """A run of the page in a fragment's thread was drawn in the fragment's place, and the page was white."""
    drop(page, "harbour.pdf", long_pdf(300))
    expect(page.locator(".st-key-jobs").get_by_role("button", name=say("jobs.stop"))).to_be_visible(timeout=WAIT_MS)
    for number in range(20):
        moved = slider(page, FRONT[number % len(FRONT)])
        moved.focus()
        moved.press("ArrowRight" if number % 2 else "ArrowLeft")
        page.wait_for_timeout(300)

    expect(page.get_by_role("heading", name=say("ask.title"))).to_be_visible()
    expect(box(page)).to_be_visible()
    for name in FRONT:
        expect(slider(page, name)).to_be_visible()
