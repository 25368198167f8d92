"""How fast the page is in a browser, and how much it holds: from `make app` to a page that can be asked, answers, and a
slider.

`python -m tests.bench.page` prints these figures alone, with the machine's load. The last one is the growth over 100
questions of one session, in the server's processes and in the tab; the page keeps the last questions with all that was
measured, so it is counted from the time when that list is full.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, Page

from tests.bench.peers.memory import tree_bytes
from tests.e2e.browser_kit import CHROMIUM, FIRST_RUN_MS, ROOT, ask, free_port, launched, settled, wait_until_healthy
from ui.app.state import MAX_QUESTIONS
from ui.ask.waiting import EXAMPLES

MOVES = 10
SESSION = 100  # questions of one session, as issue 17 counts them
ASKED = ROOT / "data" / "questions.jsonl"  # about the samples: what they answer and what not, in four languages
MEASURED = 10  # questions that the medians are of
# resolves with the milliseconds from the next key until the result of this question stands there, and until the picture
# of its lines does; with nothing where no picture comes, as beside a refusal
UNTIL_DRAWN = """question => new Promise(done => {
    let started = null, said = null;
    setTimeout(() => done(null), 15000);
    addEventListener('keydown', () => { started ??= performance.now(); }, {capture: true, once: true});
    const before = document.querySelector('.st-key-viewer_lines img')?.src;
    const look = () => {
        const picture = document.querySelector('.st-key-viewer_lines img');
        const asked = document.querySelector('.st-key-asked')?.innerText.includes(question);
        if (started !== null && asked && document.querySelector('.st-key-answer_text, .st-key-quote_place'))
            said ??= performance.now() - started;
        const drawn = picture && picture.src !== before && picture.complete && picture.naturalWidth > 0;
        if (said !== null && drawn) done([said, performance.now() - started]);
        else requestAnimationFrame(look);
    };
    look();
})"""
HEAP_MB = "(window.gc?.(), performance.memory.usedJSHeapSize / 2 ** 20)"
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
        fresh, later = _one_start(browser, library), _one_start(browser, library, SESSION)
    return [
        ("page: first start, with the samples to index", fresh.usable, 6.0, "s"),
        ("page: start", later.usable, 4.0, "s"),
        ("page: first sample answer", later.first_answer, 2.0, "s"),
        (f"page: from Enter to the value, median of {MEASURED}", later.answer, 0.6, "s"),
        (f"page: from Enter to the marked lines, median of {MEASURED}", later.drawn, 1.0, "s"),
        (f"page: a slider re-decides, median of {MOVES}", later.slider, 200.0, "ms"),
        (
            f"page: a session grows from {MAX_QUESTIONS} to {SESSION} questions, server",
            max(later.grown[0], 0.0),
            20.0,
            "MB",
        ),
        (
            f"page: a session grows from {MAX_QUESTIONS} to {SESSION} questions, tab",
            max(later.grown[1], 0.0),
            20.0,
            "MB",
        ),
    ]


class Start(NamedTuple):
    """Seconds until a question can be asked and until the first answer; median seconds of an answer and of its marked
    lines, and milliseconds of a slider.

    `grown` are the MB that the server and the tab grew by over a long session, (0, 0) where there was none.
    """

    usable: float
    first_answer: float
    answer: float
    drawn: float
    slider: float
    grown: tuple[float, float] = (0.0, 0.0)


def _one_start(browser: Browser, library: Path, session: int = 0) -> Start:
    """Start the page, ask, move a slider, and go on with a session of so many questions."""
    port, log = free_port(), library.with_suffix(".log")
    started = time.perf_counter()
    with log.open("wb") as output:
        server = subprocess.Popen(
            ["make", "--silent", "app", f"PORT={port}"],
            cwd=ROOT,
            env={**os.environ, "RAG_LIBRARY": str(library)},
            start_new_session=True,
            stdout=output,
            stderr=output,
        )
    try:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(FIRST_RUN_MS)
        wait_until_healthy(server, port, log)  # a browser that tries before takes the processor from what it waits for
        page.goto(f"http://127.0.0.1:{port}/")
        example = page.get_by_role("button", name=EXAMPLES[0][0])
        example.wait_for()
        usable = time.perf_counter() - started
        asked = time.perf_counter()
        example.click()
        page.locator(".st-key-answer").wait_for()
        answer = time.perf_counter() - asked
        slider = _moves(page)
        said, drawn = map(statistics.median, zip(*_measured(page), strict=True))
        grown = _session(page, server.pid, session) if session else (0.0, 0.0)
        page.close()
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait(10)
    return Start(usable, answer, said, drawn, slider, grown)


def _session(page: Page, server: int, questions: int) -> tuple[float, float]:
    """Ask so many different questions in this session; the MB by which the server's processes and the tab grew since
    its list was full.
    """
    rows = [json.loads(line)["question"] for line in ASKED.read_text(encoding="utf-8").splitlines()]
    held: list[tuple[float, float]] = []
    for number, question in enumerate(dict.fromkeys(rows), 1):
        ask(page, question)
        page.locator(".st-key-outcome").wait_for()
        settled(page)
        if number % 10 == 0:
            held.append((tree_bytes(server) / 2**20, float(page.evaluate(HEAP_MB))))
            print(f"  {number:4} questions: server {held[-1][0]:6.0f} MB, tab {held[-1][1]:4.0f} MB", flush=True)
        if number == questions:
            break
    full = held[MAX_QUESTIONS // 10 - 1]
    return held[-1][0] - full[0], held[-1][1] - full[1]


def _measured(page: Page) -> list[tuple[float, float]]:
    """Seconds from Enter to the value and to the marked lines, of the first questions about the samples with both."""
    rows = [json.loads(line) for line in ASKED.read_text(encoding="utf-8").splitlines()]
    found: list[tuple[float, float]] = []
    for question in dict.fromkeys(row["question"] for row in rows if row["answerable"]):
        settled(page)
        box = page.get_by_test_id("stChatInputTextArea")
        box.fill(question)
        page.evaluate(f"question => void (window.drawn = ({UNTIL_DRAWN})(question))", question)
        box.press("Enter")
        if took := page.evaluate("window.drawn"):
            found.append((took[0] / 1000, took[1] / 1000))
        if len(found) == MEASURED:
            break
    return found


def _moves(page: Page) -> float:
    """Move the slider How sure to and fro; every move is one replay, from the key to the drawn text."""
    page.get_by_text("Indexing the sample documents").wait_for(state="hidden")
    settled(page)
    slider = page.get_by_role("slider", name="How sure").first
    slider.focus()
    taken = []
    for move in range(MOVES):
        page.evaluate(f"void (window.changed = ({UNTIL_CHANGED})())")
        slider.press("ArrowLeft" if move % 2 else "ArrowRight")
        taken.append(float(page.evaluate("window.changed")))
        settled(page)
    return statistics.median(taken)


if __name__ == "__main__":
    print(f"load of the machine before: {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    for name, value, target, unit in figures():
        print(f"{name:52} {value:8.2f} {unit:3} target {target:g}{'' if value <= target else '  PAST TARGET'}")
    print(f"load of the machine after: {os.getloadavg()[0]:.1f}")
