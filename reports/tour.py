"""Takes the pictures of `docs/tour.md`: `python -m reports.tour`.

It needs Chromium, and starts the page over a library of its own.

The pictures are what the page shows at that moment: nothing is drawn into them. Colours are reduced to keep the
repository small.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PIL import Image
from playwright.sync_api import Locator, Page, ViewportSize, expect

from tests.e2e.browser_kit import FIRST_RUN_MS, WAIT_MS, ask, go, launched, served, settled
from ui.app.texts import say
from ui.ask.waiting import EXAMPLES

OUT = Path(__file__).resolve().parent.parent / "docs" / "tour"
SIZE: ViewportSize = {"width": 1360, "height": 850}  # pixels of the window, as on a laptop
PHONE: ViewportSize = {"width": 390, "height": 844}  # the same of a phone
COLOURS = 224  # colours of a picture's palette, for a small file; chosen
ANSWERED = "How often does the flow meter have to be calibrated?"
CONTRADICTED = "How many vacation days do employees have?"
NEAR_MISS = "How much does the company pay into the pension scheme?"
CZECH = "Jaká je doba plnění?"


def save(page: Page, name: str, top: Locator | None = None) -> None:
    """Save what the window shows, with `top` scrolled to its upper edge."""
    settled(page)
    if top is not None:
        top.first.evaluate(
            "e => document.querySelector('[data-testid=stMain]').scrollBy(0, e.getBoundingClientRect().top - 76)"
        )
    page.evaluate("document.querySelector('[data-testid=stSidebarContent]')?.scrollTo(0, 0)")
    page.mouse.move(SIZE["width"] / 2, 5)  # away from what shows its tools to a pointer
    page.wait_for_timeout(400)  # for what fades in
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    shot.quantize(COLOURS, dither=Image.Dither.NONE).save(OUT / f"{name}.png", optimize=True)


def start(page: Page) -> None:
    """The first page: samples, and questions to try."""
    expect(page.get_by_role("button", name=EXAMPLES[-1][0])).to_be_visible(timeout=FIRST_RUN_MS)
    expect(page.get_by_text(say("jobs.samples"))).to_be_hidden(timeout=FIRST_RUN_MS)
    save(page, "1-start")


def answer(page: Page, question: str, name: str) -> None:
    """A cited answer beside the page it stands on."""
    ask(page, question)
    expect(page.locator('.st-key-viewer [data-testid="stImage"] img').first).to_be_visible(timeout=WAIT_MS)
    save(page, name, page.locator(".st-key-asked"))


def slider(page: Page) -> None:
    """The same question, refused by the slider."""
    page.get_by_role("slider", name="How sure").focus()
    page.keyboard.press("End")
    expect(page.locator(".st-key-refusal")).to_be_visible(timeout=WAIT_MS)
    save(page, "3-slider", page.locator(".st-key-asked"))
    page.locator(".st-key-undo").get_by_role("button").first.click()
    expect(page.locator(".st-key-answer, .st-key-low").first).to_be_visible(timeout=WAIT_MS)


def refusal(page: Page) -> None:
    """A question that is on the topic and not in the documents."""
    ask(page, NEAR_MISS)
    expect(page.locator(".st-key-refusal")).to_be_visible(timeout=WAIT_MS)
    save(page, "4-refusal", page.locator(".st-key-asked"))


def trace(page: Page) -> None:
    """The stages of a question, with the one that decided open."""
    expect(page.locator(".st-key-in_gate table")).to_be_visible()
    save(page, "7-stages", page.locator('[class*="st-key-stage_retrieve_"]'))


def documents(page: Page) -> None:
    """The documents that are indexed."""
    go(page, say("documents.page"))
    save(page, "8-documents")


def whole(page: Page) -> None:
    """A document over the page, with what was looked for marked in it."""
    go(page, say("ask.page"), say("ask.title"))
    ask(page, CONTRADICTED)
    page.get_by_role("button", name=say("whole.open")).click()
    dialog = page.get_by_test_id("stDialog")
    expect(dialog.locator(".st-key-whole_sheet img")).to_be_visible(timeout=WAIT_MS)
    dialog.get_by_label(say("whole.search")).fill("employees")
    page.keyboard.press("Enter")
    expect(dialog.get_by_text("Marked on this page")).to_be_visible(timeout=WAIT_MS)
    save(page, "9-document")
    page.keyboard.press("Escape")


def phone(page: Page) -> None:
    """An answer in a narrow window, in the dark."""
    ask(page, ANSWERED)
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme="dark")
    expect(page.locator('.st-key-viewer [data-testid="stImage"] img').first).to_be_visible(timeout=WAIT_MS)
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 0)")
    save(page, "10-phone")
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(SIZE)


STOPS: tuple[Callable[[Page], None], ...] = (
    start,
    partial(answer, question=ANSWERED, name="2-answer"),
    slider,
    refusal,
    trace,
    partial(answer, question=CONTRADICTED, name="5-contradiction"),  # two documents say different things
    partial(answer, question=CZECH, name="6-czech"),
    documents,
    whole,
    phone,
)


def main() -> int:
    """Take all pictures anew."""
    OUT.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder) / "library", Path(folder) / "log") as address,
        launched() as browser,
    ):
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.set_default_timeout(WAIT_MS)
        page.goto(address)
        for stop in STOPS:
            stop(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
