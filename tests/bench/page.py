"""How fast the page is in a browser: from `make app` to a page that can be asked, the first answer, and a slider that re-decides."""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, Page
from playwright.sync_api import Error as BrowserError

from tests.e2e.browser_kit import CHROMIUM, FIRST_RUN_MS, ROOT, free_port, launched, settled
from ui.ask.examples import EXAMPLES

MOVES = 12
# resolves with the milliseconds from now until the line about what changed says something else
UNTIL_CHANGED = """() => new Promise(done => {
    const said = () => document.querySelector('.st-key-change')?.innerText ?? '';
    const before = said(), started = performance.now();
    setTimeout(() => done(10000), 10000);
    const watch = new MutationObserver(() => {
        if (said() && said() !== before) { watch.disconnect(); done(performance.now() - started); }
    });
    watch.observe(document.body, {childList: true, subtree: true, characterData: true});
})"""


def figures() -> list[tuple[str, float, float, str]]:
    """(name, value, target, unit) of the page; nothing where there is no Chromium."""
    if not CHROMIUM.exists():
        print("no Chromium: the page is not measured")
        return []
    with tempfile.TemporaryDirectory() as folder, launched() as browser:
        library = Path(folder) / "library"
        fresh, _, _ = _one_start(browser, library)
        usable, answer, slider = _one_start(browser, library)
    return [
        ("page: first start, with the samples to index", fresh, 8.0, "s"),
        ("page: start", usable, 8.0, "s"),
        ("page: first sample answer", answer, 2.0, "s"),
        ("page: a slider re-decides, median", slider, 300.0, "ms"),
    ]


def _one_start(browser: Browser, library: Path) -> tuple[float, float, float]:
    """Seconds until a question can be asked, seconds until the first answer, median milliseconds of a slider."""
    port = free_port()
    started = time.perf_counter()
    server = subprocess.Popen(
        ["make", "--silent", "app", f"PORT={port}"], cwd=ROOT, env={**os.environ, "RAG_LIBRARY": str(library)}, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(FIRST_RUN_MS)
        _open(page, f"http://127.0.0.1:{port}/")
        example = page.get_by_role("button", name=EXAMPLES[0].question)
        example.wait_for()
        usable = time.perf_counter() - started
        asked = time.perf_counter()
        example.click()
        page.locator(".st-key-answer").wait_for()
        answer = time.perf_counter() - asked
        slider = _moves(page)
        page.close()
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait(10)
    return usable, answer, slider


def _open(page: Page, address: str) -> None:
    """Open the page as soon as somebody answers."""
    deadline = time.perf_counter() + FIRST_RUN_MS / 1000
    while True:
        try:
            page.goto(address)
            return
        except BrowserError:
            if time.perf_counter() > deadline:
                raise
            time.sleep(0.05)


def _moves(page: Page) -> float:
    """Move the first slider to and fro; every move is one replay, from the key to the drawn text."""
    page.get_by_text("Indexing the sample documents").wait_for(state="hidden")
    settled(page)
    slider = page.get_by_role("slider").first
    slider.focus()
    taken = []
    for move in range(MOVES):
        page.evaluate(f"void (window.changed = ({UNTIL_CHANGED})())")
        slider.press("ArrowLeft" if move % 2 else "ArrowRight")
        taken.append(float(page.evaluate("window.changed")))
        settled(page)
    return statistics.median(taken)


if __name__ == "__main__":
    for name, value, target, unit in figures():
        print(f"{name:52} {value:8.2f} {unit:3} target {target:g}{'' if value <= target else '  PAST TARGET'}")
