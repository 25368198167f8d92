"""A question about a file that is still being indexed, in a real Chromium: answered by words, marked, and said so."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api")

from browser_kit import CHROMIUM, FIRST_RUN_MS, WAIT_MS, Watch, ask, drop, marked_rows, served
from e2e_papers import long_pdf
from playwright.sync_api import Browser, expect

from ui.app.texts import say, tell

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not CHROMIUM.exists(), reason="needs Chromium at /usr/bin/chromium")]

HELD = ("tests.e2e.held_serve", "--port")


def test_given_a_file_that_is_still_embedded_when_asked_then_its_page_is_cited_and_marked_and_the_state_is_told(
    chromium: Browser, library: Path, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    with served(library, tmp_path / "log", {"HELD_UNTIL": str(go), "RAG_PRESET": "open"}, by=HELD) as address:
        context = chromium.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(WAIT_MS)
        watch, page = Watch(context), context.new_page()
        page.goto(address)
        expect(page.get_by_role("heading", name=say("ask.title"))).to_be_visible(timeout=WAIT_MS)
        drop(page, "buoys.pdf", long_pdf(95))
        expect(page.get_by_text(say("jobs.early"))).to_be_visible(timeout=FIRST_RUN_MS)

        ask(page, "What does buoy 71 show?")

        expect(page.locator(".st-key-answer").get_by_text("buoy 71").first).to_be_visible(timeout=WAIT_MS)
        expect(page.locator(".st-key-indexing")).to_contain_text("still being indexed: 0 % of its passages can be found by meaning")
        picture = page.locator('.st-key-viewer [data-testid="stImage"] img').first
        expect(picture).to_be_visible(timeout=WAIT_MS)
        assert sum(marked_rows(picture).values()) > 500
        expect(page.get_by_text(re.compile("Indexed and ready"))).to_have_count(0)
        go.touch()
        watch.judge()
        context.close()


def test_given_several_files_and_another_upload_when_the_first_is_still_embedded_then_the_last_are_answered_from_and_marked(
    chromium: Browser, library: Path, tmp_path: Path
) -> None:
    go, own = tmp_path / "go", tmp_path / "library"
    shutil.copytree(library, own, ignore=shutil.ignore_patterns("default"))  # nothing that another test left to be finished
    with served(own, tmp_path / "log", {"HELD_UNTIL": str(go), "RAG_PRESET": "open"}, by=HELD) as address:
        context = chromium.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(WAIT_MS)
        watch, page = Watch(context), context.new_page()
        page.goto(address)
        expect(page.get_by_role("heading", name=say("ask.title"))).to_be_visible(timeout=WAIT_MS)
        drop(page, "first.pdf", long_pdf(95), second=long_pdf(40, first=200), third=long_pdf(40, first=300))
        expect(page.get_by_text(tell("jobs.early_files", n=3, files=3))).to_be_visible(timeout=FIRST_RUN_MS)

        ask(page, "What does buoy 333 show?")

        expect(page.locator(".st-key-answer").get_by_text("buoy 333").first).to_be_visible(timeout=WAIT_MS)
        expect(page.locator(".st-key-indexing")).to_contain_text("3 of 3 documents are still being indexed: 0 %")
        picture = page.locator('.st-key-viewer [data-testid="stImage"] img').first
        expect(picture).to_be_visible(timeout=WAIT_MS)
        assert sum(marked_rows(picture).values()) > 500

        drop(page, "memo.pdf", long_pdf(5, first=500))  # another upload, whose job waits for its turn
        expect(page.get_by_text(f"{say('jobs.waiting')} {say('jobs.early')}")).to_be_visible(timeout=FIRST_RUN_MS)
        ask(page, "What does buoy 503 show?")

        expect(page.locator(".st-key-answer").get_by_text("buoy 503").first).to_be_visible(timeout=WAIT_MS)
        expect(page.locator(".st-key-indexing")).to_contain_text("4 of 4 documents are still being indexed: ")
        go.touch()
        watch.judge()
        context.close()
