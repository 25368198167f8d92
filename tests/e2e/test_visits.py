"""A shared demo in two real browsers: a visitor's documents are theirs alone, on the page and at every address, and go
with the visit.
"""

from __future__ import annotations

from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pymupdf
import pytest

pytest.importorskip("playwright.sync_api")

from browser_kit import FIRST_RUN_MS, WAIT_MS, Watch, ask, drop, free_port, served, settled
from playwright.sync_api import Browser, BrowserContext, Page, expect

from ui.app.texts import say

SECRET = "The secret ingredient of the sauce is juniper, and it is kept in the cellar."
QUESTION = "What is the secret ingredient of the sauce?"


@pytest.fixture(scope="module")
def demo(library: Path) -> Iterator[tuple[str, Path]]:
    """The address of a shared demo, and its library."""
    port = free_port()
    with served(
        library, library.with_name("log"), by=("rag_core", "serve", "--visitors", "--port"), port=port
    ) as address:
        yield address, library


def pdf(text: str) -> bytes:
    """A document of one page."""
    document = pymupdf.open()
    document.new_page().insert_text((72, 72), text)
    return bytes(document.tobytes())


def opened(chromium: Browser, address: str) -> tuple[BrowserContext, Watch, Page]:
    """A browser of its own that opens the page."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(WAIT_MS)
    watch, page = Watch(context), context.new_page()
    page.goto(address)
    expect(page.get_by_role("heading", name=say("ask.title"))).to_be_visible(timeout=FIRST_RUN_MS)
    return context, watch, page


def status(address: str, context: BrowserContext | None = None) -> int:
    """What a request for an address comes to, with a browser's cookies."""
    parts = urlsplit(address)
    cookies = "; ".join(f"{one['name']}={one['value']}" for one in context.cookies()) if context else ""
    connection = HTTPConnection("127.0.0.1", parts.port, timeout=WAIT_MS / 1000)
    connection.request("GET", parts.path, headers={"cookie": cookies} if cookies else {})
    found = connection.getresponse().status
    connection.close()
    return found


def test_given_a_shared_demo_when_one_visitor_adds_a_document_then_no_other_sees_it_anywhere_and_it_goes_with_the_visit(
    chromium: Browser, demo: tuple[str, Path]
) -> None:
    address, folder = demo
    one, first_watch, mine = opened(chromium, address)
    two, second_watch, theirs = opened(chromium, address)
    cookie = one.cookies()[0]
    assert cookie["httpOnly"]
    assert cookie["value"] != two.cookies()[0]["value"]

    settled(mine)
    drop(mine, "recipe.pdf", pdf(SECRET))
    # its name stands there before
    expect(mine.get_by_text("Indexed and ready to be asked: 1")).to_be_visible(timeout=FIRST_RUN_MS)
    expect(mine.get_by_text("recipe.pdf").first).to_be_visible(timeout=FIRST_RUN_MS)
    ask(mine, QUESTION)
    expect(mine.get_by_text("juniper").first).to_be_visible(timeout=FIRST_RUN_MS)
    own = next(path.name for path in folder.iterdir() if path.name.startswith("visit-"))
    expect(mine.get_by_role("combobox", name=say("collections.label"))).to_be_visible()

    theirs.goto(f"{address}?collection={own}")
    settled(theirs)
    ask(theirs, QUESTION)
    expect(theirs.get_by_text("juniper")).to_have_count(0)
    expect(theirs.locator(".st-key-refusal")).to_be_visible(timeout=WAIT_MS)

    expect(mine.locator(".st-key-viewer_lines img")).to_be_visible(timeout=WAIT_MS)
    shown = mine.eval_on_selector_all("img", "all => all.map(one => one.src)")
    assert all(one.startswith("data:") for one in shown), "a picture has no address that others could open"
    mine.locator(".st-key-share button").first.click()
    with mine.expect_download(timeout=FIRST_RUN_MS) as saved:
        mine.get_by_role("button", name=say("export.markdown"), exact=True).first.click()
    sent = saved.value.url
    mine.keyboard.press("Escape")
    document = next(path.name for path in (folder / own / "sources").iterdir())
    original = f"{address}original/{own}/sha256:{document.split('.')[0]}"
    assert "/media/" in sent
    for place in (original, sent):
        assert status(place, one) == 200, place
        assert status(place, two) in (401, 404), place
        assert status(place) in (401, 404), place

    mine.locator(".st-key-visit_about button").first.click()
    mine.get_by_role("button", name=say("visiting.end")).first.click()
    expect(mine.get_by_text(say("visiting.over"))).to_be_visible(timeout=FIRST_RUN_MS)
    expect(mine.get_by_text("juniper")).to_have_count(0)
    assert not (folder / own).exists()
    for place in (original, sent):
        assert status(place, one) in (401, 404), place

    mine.get_by_role("link", name=say("visiting.again")).click()
    expect(mine.get_by_role("heading", name=say("ask.title"))).to_be_visible(timeout=FIRST_RUN_MS)
    settled(mine)
    expect(mine.get_by_text("juniper")).to_have_count(0)
    for watch, context in ((first_watch, one), (second_watch, two)):
        watch.judge()
        context.close()
