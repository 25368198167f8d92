"""Every page and state can be read and used by everyone, as axe-core sees it in Chromium; and the newest ones by the
keyboard alone.
"""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api")

from axe_kit import SIZES, checker
from browser_kit import FIRST_RUN_MS, WAIT_MS, ask, go, settled
from playwright.sync_api import Locator, Page, expect

from ui.app.texts import say, tell


def test_given_each_page_when_checked_then_everyone_can_read_it(page: Page, screens: Path) -> None:
    check = checker(page, screens)

    check("empty")
    ask(page, "How often does the flow meter have to be calibrated?")
    expect(page.locator(".st-key-answer")).to_be_visible(timeout=WAIT_MS)
    check("answer")
    page.get_by_role("button", name=say("whole.open")).click()
    expect(page.locator(".st-key-whole_sheet img")).to_be_visible(timeout=WAIT_MS)
    check("document")
    page.keyboard.press("Escape")
    for stage in ("retrieve", "gate", "compress", "ground"):
        page.locator(f'[class*="st-key-stage_{stage}_"] summary').first.click()
        expect(page.locator(f".st-key-in_{stage}")).to_be_visible(timeout=WAIT_MS)
    check("stages")
    ask(page, "What is the capital of France?")
    expect(page.locator(".st-key-refusal")).to_be_visible(timeout=WAIT_MS)
    check("refusal")
    page.set_viewport_size(SIZES["narrow"])  # there the links are in a side bar that opens
    go(page, "Documents")
    check("documents")
    settled(page)
    page.locator('[class*="st-key-ask_delete_"] button').first.click()
    expect(page.locator('[class*="st-key-sure_delete_"]').first).to_be_visible(timeout=WAIT_MS)
    check("delete_prompt")
    page.set_viewport_size(SIZES["narrow"])
    go(page, say("health.page"), say("health.title"))
    expect(page.locator(".st-key-health_figures")).to_be_visible(timeout=WAIT_MS)

    assert check("health") == {}


MAX_TABS = 40  # from one control to another of the same page; a person gives up long before
TYPED = ("What were net sales in fiscal 2022?", "Wie hoch war der Umsatz im Jahr 2031?")


def tab_to(page: Page, field: Locator, key: str = "Tab") -> int:
    """Press Tab until this has the focus; how often that was."""
    for presses in range(MAX_TABS):
        if field.evaluate("e => e === document.activeElement || e.contains(document.activeElement)"):
            return presses
        page.keyboard.press(key)
    raise AssertionError(f"{key} does not reach it: {field}")


def test_given_a_collection_without_test_questions_when_they_are_typed_by_keyboard_then_each_is_kept_and_everyone_can_read_the_form(  # noqa: E501
    page: Page, screens: Path
) -> None:
    check, keys = checker(page, screens), page.keyboard
    page.get_by_role("button", name=say("collections.new")).click()
    page.get_by_role("textbox", name=say("collections.name"), exact=True).fill("Otázky कसौटी, typed by keyboard")
    keys.press("Enter")
    expect(page.get_by_text(say("examples.empty"))).to_be_visible(timeout=WAIT_MS)
    settled(page)
    go(page, say("lab.page"), say("lab.title"))
    question, answer = page.locator(".st-key-typed_question input"), page.locator(".st-key-typed_answer input")
    expect(question).to_be_visible(timeout=WAIT_MS)
    settled(page)

    page.get_by_role("tab", name=say("lab.tab_sets"), exact=True).focus()
    tab_to(page, question)
    keys.type(TYPED[0])
    tab_to(page, answer)
    keys.type("5,140")
    keys.press("Enter")
    expect(
        page.get_by_text(tell("lab_typed.added", question=TYPED[0], set=tell("lab_typed.default_set")))
    ).to_be_visible(timeout=WAIT_MS)
    expect(question).to_have_value("")
    settled(page)
    tab_to(page, question)
    keys.type(TYPED[1])
    tab_to(page, page.locator(".st-key-typed_answerable input").first)
    keys.press("ArrowRight")
    tab_to(page, page.get_by_role("button", name=say("lab_typed.add")))
    keys.press("Enter")
    expect(
        page.get_by_text(tell("lab_typed.added", question=TYPED[1], set=tell("lab_typed.default_set")))
    ).to_be_visible(timeout=WAIT_MS)
    expect(page.get_by_text(tell("lab_sets.counts", n=2, yes=1, no=1, answers=1))).to_be_visible(timeout=WAIT_MS)
    expect(answer).to_have_value("")

    assert check("typed_questions") == {}


def test_given_questions_of_a_session_when_saved_by_keyboard_then_two_files_hold_them_and_everyone_can_read_their_list(
    page: Page, screens: Path
) -> None:
    check, keys = checker(page, screens), page.keyboard
    asked = [
        "How often does the flow meter have to be calibrated?",
        "परीक्षा कितने मिनट की होती है?",
        "What is the capital of France?",
    ]
    for question in asked:
        ask(page, question)
    settled(page)
    box, saved = page.get_by_test_id("stChatInputTextArea"), dict[str, bytes]()
    box.focus()
    tab_to(page, page.locator('[data-testid="stPopover"].st-key-share button, .st-key-share button').first)
    keys.press("Enter")
    for ending in ("pdf", "md"):
        button = page.locator(f".st-key-all_asked_{'markdown' if ending == 'md' else ending} button")
        expect(button).to_be_visible(timeout=WAIT_MS)
        tab_to(page, button)
        with page.expect_download(timeout=FIRST_RUN_MS) as download:
            keys.press("Enter")
        saved[ending] = Path(download.value.path()).read_bytes()
        assert download.value.suggested_filename.endswith(f".{ending}")

    assert saved["pdf"].startswith(b"%PDF")
    assert all(question.split()[0] in saved["md"].decode() for question in asked)
    check("history")
    page.get_by_role("button", name=say("export.link_make")).or_(
        page.get_by_text(say("export.link_about"))
    ).first.wait_for()
    if page.get_by_role("button", name=say("export.link_make")).is_visible():
        page.get_by_role("button", name=say("export.link_make")).click()
    expect(page.get_by_text(say("export.link_local"))).to_be_visible(timeout=WAIT_MS)

    assert check("share") == {}
