"""A server that has just started: whichever page is opened first, it is the whole page."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api")

from browser_kit import WAIT_MS, require_only_this_page, served
from playwright.sync_api import Browser, expect

from ui.app.texts import say


def test_given_a_server_nobody_has_opened_when_the_documents_are_opened_first_then_it_is_the_same_page(
    chromium: Browser, library: Path, tmp_path: Path
) -> None:
    with served(library, tmp_path / "log") as address:
        page = chromium.new_page()
        page.goto(address + "documents")

        expect(page.get_by_role("heading", name=say("documents.title"), exact=True)).to_be_visible(timeout=WAIT_MS)
        expect(page.get_by_role("link", name=say("ask.page"), exact=True)).to_be_visible(timeout=WAIT_MS)
        assert page.title() == "Plumbline"
        page.close()
        require_only_this_page(address)
