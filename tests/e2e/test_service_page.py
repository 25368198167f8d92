"""The page as `python -m rag_core serve` serves it, beside the API, in a real Chromium: what the API adds, the page
answers from.
"""

from __future__ import annotations

import json
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

pytest.importorskip("playwright.sync_api")

from browser_kit import FIRST_RUN_MS, WAIT_MS, Watch, ask, served
from playwright.sync_api import Browser, expect

from ui.app.texts import say

TEXT = "The warranty period of the pump is 31 months from delivery."


def test_given_page_and_api_in_one_process_when_a_document_comes_by_the_api_then_the_page_answers_from_it(
    chromium: Browser, library: Path
) -> None:
    with served(library, library.with_name("log"), by=("rag_core", "serve", "--port")) as address:
        body = json.dumps({"documents": [{"content": TEXT, "metadata": {"title": "Pump"}}]}).encode()
        sent = Request(f"{address}api/rag/index", body, {"content-type": "application/json"})
        with urlopen(sent, timeout=FIRST_RUN_MS / 1000) as answer:
            assert json.load(answer)["indexed"] == 1
        context = chromium.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(WAIT_MS)
        watch, page = Watch(context), context.new_page()
        page.goto(address)
        expect(page.get_by_role("heading", name=say("ask.title"))).to_be_visible(timeout=FIRST_RUN_MS)

        ask(page, "How long is the warranty period of the pump?")

        expect(page.get_by_text("31 months from delivery").first).to_be_visible(timeout=WAIT_MS)
        watch.judge()
        context.close()
