"""The first look at an answer: it, the line that judges it, and the marked words are in sight at once, on three sizes
of screen.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api")

from browser_kit import SCHEMES, WAIT_MS, ask, drop, go, ground, marked_rows, settled
from playwright.sync_api import Page, expect

from ui.app.texts import say

VACATION = "How many vacation days do employees have?"
LONG_ONES = (
    "What is the difference between a finite and an infinite progression?",
    "Was mache ich, wenn ich mein Passwort vergessen habe?",
    "Wo melde ich eine Störung?",
)
SIZES = ((1280, 720), (1440, 900), (390, 844))  # pixels: a small laptop, a large one, a phone


def top_of_field(page: Page) -> float:
    """The height on the screen at which the field for questions begins, which covers what is below."""
    return float(page.locator(".st-key-ask").evaluate("field => field.getBoundingClientRect().top"))


def test_given_an_answer_when_looked_at_on_any_screen_then_answer_judgement_and_marked_words_are_in_sight_without_scrolling(  # noqa: E501
    page: Page, screens: Path
) -> None:
    ask(page, "How often does the flow meter have to be calibrated?")
    expect(page.locator(".st-key-answer").get_by_text("every 5 years").first).to_be_visible(timeout=WAIT_MS)
    settled(page)

    grounds = set()
    for scheme, (width, height) in product(SCHEMES, SIZES):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 0)")
        expect(page.locator(".st-key-answer_text")).to_be_in_viewport(ratio=1)
        expect(page.locator(".st-key-how_sure_line")).to_be_in_viewport(ratio=1)
        expect(page.locator(".st-key-question")).to_be_in_viewport(ratio=1)
        rows = marked_rows(page.locator(".st-key-viewer_lines img"))
        assert 0 < min(rows) < max(rows) < top_of_field(page), (scheme, width, height)
        page.screenshot(path=screens / f"stage-{scheme}-{width}.png")
        grounds.add(ground(page))
    assert len(grounds) == len(SCHEMES)  # or the page did not follow


@pytest.mark.parametrize("question", LONG_ONES)
def test_given_a_long_answer_when_looked_at_on_a_phone_then_all_of_it_and_its_marked_words_are_in_sight_and_nothing_is_kept_from_sight(  # noqa: E501
    page: Page, question: str
) -> None:
    width, height = SIZES[-1]
    page.set_viewport_size({"width": width, "height": height})
    ask(page, question)
    expect(page.locator(".st-key-answer_text")).to_be_in_viewport(ratio=1, timeout=WAIT_MS)
    settled(page)

    lines, answer = page.locator(".st-key-viewer_lines"), page.locator(".st-key-answer_text").bounding_box()
    rows, shown = marked_rows(lines.locator("img")), lines.bounding_box()
    assert answer["y"] + answer["height"] <= shown["y"] < min(rows) < max(rows) < top_of_field(page)
    # no narrower than the answer's card
    assert shown["x"] + shown["width"] == pytest.approx(answer["x"] + answer["width"], abs=30)

    last = page.locator(".st-key-answer_more button").last
    last.focus()
    below, shown = last.bounding_box(), lines.bounding_box()
    assert below["y"] + below["height"] <= shown["y"]  # the marked words make way for what the keyboard goes to


def test_given_an_answer_when_files_are_added_then_it_does_not_move_and_what_failed_stays_in_sight(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    drop(page, "note.pdf", b"<html>")
    problem = page.get_by_text("The file is not a PDF")
    expect(problem).to_be_visible(timeout=WAIT_MS)
    ask(page, VACATION)
    answer = page.locator(".st-key-outcome")
    expect(answer.locator(".st-key-viewer_lines img")).to_be_visible(timeout=WAIT_MS)
    settled(page)
    before = answer.bounding_box()

    held = []
    page.route("**/_stcore/upload_file/**", lambda request: held.append(request))
    drop(page, "second.pdf", b"<html> again")
    chip = page.get_by_test_id("stFileChip").filter(visible=True)
    expect(chip).to_have_count(1, timeout=WAIT_MS)  # the field names a file on its way
    expect(chip).to_be_in_viewport()
    assert answer.bounding_box() == before
    for request in held:
        request.continue_()
    page.unroute("**/_stcore/upload_file/**")
    expect(page.locator(".st-key-jobs").get_by_text("second.pdf")).to_be_visible(timeout=WAIT_MS)
    expect(chip).to_have_count(0, timeout=WAIT_MS)
    settled(page)

    assert before is not None
    assert answer.bounding_box() == before
    expect(page.get_by_text("The file is not a PDF").first).to_be_in_viewport()


def test_given_hands_that_never_leave_the_keyboard_when_asking_then_the_result_is_gone_to_and_told(
    page: Page,
) -> None:
    keys, told = page.keyboard, page.locator(".plumbline-told[role=status]")
    settled(page)  # a box that is drawn anew loses the focus
    keys.press("Tab")
    expect(page.locator(".plumbline-skip")).to_be_focused()
    keys.press("Enter")
    box = page.get_by_test_id("stChatInputTextArea")
    expect(box).to_be_focused()

    keys.type(VACATION)
    keys.press("Enter")
    expect(page.locator(".st-key-answer")).to_be_focused(timeout=WAIT_MS)
    expect(page.locator(".st-key-answer_text")).to_be_in_viewport(ratio=1)  # nothing was scrolled
    expect(told).to_contain_text("25 vacation days")
    expect(told).to_contain_text("% sure that this is what was asked for")
    settled(page)
    page.locator(".st-key-answer_text a").first.press("Enter")  # the mark of a source leads to its card
    expect(page.locator(".st-key-citation_1")).to_be_focused()
    expect(page.locator(".st-key-citation_1")).to_be_in_viewport()
    box.focus()
    keys.type("What is the maximum operating pressure?")
    keys.press("Enter")
    keys.type("How lo")  # whoever types on is not taken away from it
    expect(told).to_contain_text("bar", timeout=WAIT_MS)
    expect(box).to_be_focused()
    expect(box).to_have_value("How lo")

    go(page, say("documents.page"))
    expect(told).to_be_empty()  # where the result is not on the page, nobody comes upon its words


def test_given_an_answer_when_its_document_is_read_then_words_are_found_and_marked_and_the_pdf_can_be_had(
    page: Page,
) -> None:
    ask(page, VACATION)
    page.get_by_role("button", name=say("whole.open")).click()
    dialog = page.get_by_test_id("stDialog")
    sheet = dialog.locator(".st-key-whole_sheet img")
    expect(sheet).to_be_visible(timeout=WAIT_MS)
    cited = sum(marked_rows(sheet).values())

    dialog.get_by_label(say("whole.search")).fill("employees")
    page.keyboard.press("Enter")

    expect(dialog.get_by_text("Places marked on this page: 4.")).to_be_visible(timeout=WAIT_MS)
    settled(page)
    assert 0 < sum(marked_rows(sheet).values()) != cited > 0
    link = dialog.get_by_role("link", name=say("whole.pdf")).get_attribute("href")
    assert link.endswith("#page=1")
    pdf = page.context.request.get(page.url.split("?")[0] + link)
    assert pdf.headers["content-type"] == "application/pdf"
    assert pdf.body().startswith(b"%PDF-")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
