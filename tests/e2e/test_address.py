"""The page's address in a real browser: it repeats the settings, and a reload keeps them."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("playwright.sync_api")

from browser_kit import WAIT_MS, settled
from playwright.sync_api import Locator, Page, expect

from rag_core.settings import Settings
from ui.app.texts import say

START = Settings.load().min_correctness  # where the slider stands


def slider(page: Page, name: str = "min_correctness") -> Locator:
    return page.get_by_role("slider", name=say(f"knobs.{name}"))


def press(page: Page, key: str, value: str, name: str = "min_correctness") -> None:
    """Move a slider, and wait until the address says so."""
    slider(page, name).focus()
    slider(page, name).press(key)
    expect(page).to_have_url(re.compile(rf"{name}={re.escape(value)}$"), timeout=WAIT_MS)
    settled(page)


def test_given_moves_of_a_slider_when_going_back_or_reloading_then_the_slider_and_the_address_stay(page: Page) -> None:
    moved = f"{START + 0.01:g}"
    press(page, "ArrowRight", moved)

    page.go_back()
    expect(page).to_have_url(re.compile(rf"min_correctness={re.escape(moved)}$"), timeout=WAIT_MS)
    page.reload()

    expect(slider(page)).to_have_value(moved, timeout=WAIT_MS)


def test_given_an_address_when_opened_in_a_new_session_then_its_settings_stand_and_each_move_runs_the_page_once(
    page: Page,
) -> None:
    page.goto(page.url + "?preset=scoping&top_k=5")
    expect(page.get_by_role("slider", name=say("knobs.top_k"))).to_have_value("5", timeout=WAIT_MS)
    settled(page)
    sent: list[object] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    page.reload()
    expect(page.get_by_role("slider", name=say("knobs.top_k"))).to_have_value("5", timeout=WAIT_MS)
    settled(page)
    before = len(sent)

    expect(slider(page)).to_have_count(0)  # that preset does not refuse by it
    press(page, "ArrowRight", f"{Settings.load('scoping').max_distance + 0.01:g}", "max_distance")

    assert len(sent) - before == 1
