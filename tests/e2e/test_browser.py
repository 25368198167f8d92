"""The page in a real Chromium, over a real server: what AppTest cannot see."""

from __future__ import annotations

import csv
import re

import pytest

pytest.importorskip("playwright.sync_api")

from browser_kit import WAIT_MS, ask, choose, choose_row, drop, marked_rows, settled
from e2e_papers import FOREIGN, TRICKS, long_pdf, pdf
from playwright.sync_api import Page, expect

from ui.app.texts import say

FORMULA = "=cmd|' C calc'!A0"
VACATION = "How many vacation days do employees have?"
CALIBRATION = "How often does the flow meter have to be calibrated?"


def upload(page: Page, name: str, data: bytes) -> None:
    drop(page, name, data)
    expect(page.get_by_text("Indexed and ready to be asked: 1")).to_be_visible(timeout=WAIT_MS)


def marked_page(page: Page) -> None:
    """Wait for the picture of a page, and see that something on it is marked in yellow."""
    picture = page.locator('.st-key-viewer [data-testid="stImage"] img').first
    expect(picture).to_be_visible(timeout=WAIT_MS)
    assert sum(marked_rows(picture).values()) > 500


def test_given_a_first_start_when_a_sample_is_asked_then_it_is_answered_marked_and_refused_by_the_slider(
    page: Page,
) -> None:
    page.get_by_role("button", name=CALIBRATION).click()
    expect(page.locator(".st-key-answer").get_by_text("every 5 years").first).to_be_visible(timeout=WAIT_MS)
    # the answer is in view: nothing scrolled past it
    expect(page.locator(".st-key-answer")).to_be_in_viewport()
    marked_page(page)

    slider = page.get_by_role("slider", name="How sure")
    slider.focus()
    slider.press("End")

    expect(page.locator(".st-key-refusal")).to_be_visible(timeout=WAIT_MS)
    expect(page.locator(".st-key-change")).to_contain_text("answered → maybe")
    slider.focus()
    slider.press("Home")
    expect(page.locator(".st-key-answer")).to_be_visible(timeout=WAIT_MS)


def test_given_several_questions_then_the_newest_and_the_field_are_in_view_below_the_others_and_a_reload_keeps_them(
    page: Page,
) -> None:
    for question in (CALIBRATION, "What is the capital of France?", "What may a hotel in London cost per night?"):
        ask(page, question)
    for _ in range(2):
        expect(page.locator(".st-key-answer")).to_be_in_viewport(timeout=WAIT_MS)
        expect(page.get_by_test_id("stChatInputTextArea")).to_be_in_viewport()
        expect(page.locator('[class*="st-key-turn_"]')).to_have_count(2)
        settled(page)
        page.reload()


def test_given_a_long_upload_when_stopped_half_way_then_nothing_is_lost(page: Page) -> None:
    drop(page, "small.pdf", pdf("The lighthouse keeper is called Orsolya."))
    page.wait_for_timeout(150)  # it is being taken while the next one is dropped
    upload(page, "long.pdf", long_pdf(160))
    # the field lists nothing that was taken
    expect(page.get_by_test_id("stFileChip").filter(visible=True)).to_have_count(0)
    expect(page.get_by_text(re.compile(r"of 1\. long\.pdf"))).to_be_visible(timeout=WAIT_MS)

    # while it draws, the head of the page has one too
    stop = page.locator(".st-key-jobs").get_by_role("button", name="Stop", exact=True)
    expect(stop).to_have_count(1, timeout=WAIT_MS)  # the small file's line has gone
    stop.click()

    expect(page.get_by_text("Stopped. What was complete is kept")).to_be_visible(timeout=WAIT_MS)
    ask(page, "What is the name of the lighthouse keeper?")
    expect(page.locator(".st-key-answer").get_by_text("Orsolya").first).to_be_visible(timeout=WAIT_MS)
    marked_page(page)  # a picture that is still on its way is gone when its page is left
    page.get_by_role("link", name="Documents").click()
    expect(page.get_by_text("Files that are not indexed yet: 1")).to_be_visible(timeout=WAIT_MS)


def test_given_a_hostile_title_text_and_file_name_when_shown_everywhere_then_nothing_foreign_is_requested_or_run(
    page: Page,
) -> None:
    # the fixture judges what was requested, run and reported
    upload(
        page,
        f"a {TRICKS.replace('/', '_')}.pdf",
        pdf(f"The password of the harbour office is {TRICKS} and nothing else.", TRICKS),
    )

    ask(page, "What is the password of the harbour office?")

    expect(page.locator(".st-key-answer").get_by_text(f"{FOREIGN}1.png").first).to_be_visible(timeout=WAIT_MS)
    marked_page(page)
    for summary in page.locator("summary").all():
        # one that is open stays so, and what is in it is opened next
        if not summary.evaluate("head => head.parentElement.open"):
            expect(summary).to_be_visible()
            summary.click()
    settled(page)
    choose(page, say("scope.documents"), "a ![a]")
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Documents").click()
    expect(page.get_by_role("heading", name="What reading it found")).to_be_visible(timeout=WAIT_MS)
    choose_row(page, "a ![a]")
    expect(page.get_by_text(f"Title: {TRICKS}")).to_be_visible(timeout=WAIT_MS)
    page.wait_for_timeout(500)  # for a request that comes late


def test_given_a_file_and_a_question_that_are_formulas_when_saved_as_a_table_then_no_spreadsheet_runs_them(
    page: Page,
) -> None:
    upload(page, f"{FORMULA}.pdf", pdf("The valve of the boiler is turned clockwise."))
    page.get_by_role("link", name="Documents").click()
    table = page.locator('[data-testid="stDataFrame"]').first
    expect(table).to_contain_text(FORMULA, timeout=WAIT_MS)
    table.hover()
    expect(page.get_by_role("button", name="Search").first).to_be_visible()  # the tools of the table are there,
    # but for the one that writes cells as they are
    assert page.get_by_role("button", name="Download as CSV").count() == 0

    page.get_by_role("link", name=say("lab.page"), exact=True).first.click()
    labelled = f"question,answerable,answers\n{FORMULA},yes,=1+1\nHow long is it?,yes,-5 °C\n".encode()
    page.locator('.st-key-labelled_0 input[type="file"]').set_input_files(
        [{"name": "formulas.csv", "mimeType": "text/csv", "buffer": labelled}]
    )
    expect(page.get_by_text("Questions: 2.")).to_be_visible(timeout=WAIT_MS)
    settled(page)
    with page.expect_download(timeout=WAIT_MS) as saved:
        page.get_by_role("button", name=say("lab_sets.save_csv"), exact=True).click()

    rows = list(csv.DictReader(saved.value.path().read_text(encoding="utf-8-sig").splitlines()))
    assert [(row["question"], row["answers"]) for row in rows] == [
        (f"'{FORMULA}", "'=1+1"),
        ("How long is it?", "'-5 °C"),
    ]
