"""A served page and a Chromium that looks at it, for the browser tests, the tour and the figures of the page."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    FilePayload,
    Locator,
    Page,
    expect,
    sync_playwright,
)

from ui.app.tables import ROW_PIXELS

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = Path("/usr/bin/chromium")
START_SECONDS = 60.0
WAIT_MS = 45_000  # for an answer on a busy machine; it takes less than a second on an idle one
AS_MAKE_APP = ("ui.serve", "--port")
SLIDER_LATE_MS = 400
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
expect.set_options(timeout=WAIT_MS)  # Playwright's own 5 s are too few where two browsers share two busy cores
FIRST_RUN_MS = 120_000  # for the samples to be indexed on a busy machine; about ten seconds on an idle one


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def served(
    library: Path, log: Path, named: Mapping[str, str] | None = None, by: Sequence[str] = AS_MAKE_APP, port: int = 0
) -> Iterator[str]:
    """The address of the page, served over this library by a Python module, once it answers; `named` are more variables
    for it.
    """
    port = port or free_port()
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("RAG_", "OPENAI_"))}
    environment = inherited | {"RAG_LIBRARY": str(library)} | dict(named or {})
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", *by, str(port)],
            cwd=ROOT,
            env=environment,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        wait_until_healthy(process, port, log)
        yield f"http://127.0.0.1:{port}/"
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # its readers of PDFs too
        process.wait(10)


def wait_until_healthy(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Wait until the page of this process answers; it fails with what stands in the log otherwise."""
    address = f"http://127.0.0.1:{port}/_stcore/health"
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text(encoding="utf-8", errors="replace")
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the page did not start: " + log.read_text(encoding="utf-8", errors="replace"))


@contextmanager
def launched() -> Iterator[Browser]:
    """A Chromium without a window."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield browser
        browser.close()


class Watch:
    """What a session's pages requested, what their consoles called an error, and what a document got run."""

    def __init__(self, context: BrowserContext) -> None:
        self._context = context
        self._requested: list[str] = []
        self._wrong: list[str] = []
        context.on("request", lambda request: self._requested.append(request.url))
        context.on("console", self._said)
        context.on("dialog", self._asked)

    def _said(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self._wrong.append(f"{message.text} {message.location}")

    def _asked(self, dialog: Dialog) -> None:
        self._wrong.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def judge(self) -> None:
        """Fail when anything foreign was requested, anything was wrong, or a document's script ran
        (`e2e_papers.TRICKS`).
        """
        hacked = [page.evaluate("window.hacked") for page in self._context.pages]
        requested = [urlsplit(url) for url in self._requested]
        assert [
            url.geturl() for url in requested if url.scheme in ("http", "https") and url.hostname != "127.0.0.1"
        ] == []
        assert self._wrong == [], self._wrong
        assert [value for value in hacked if value is not None] == []


def ask(page: Page, question: str) -> None:
    """Ask in the question box, and wait until the page is about this question."""
    settled(page)
    box = page.get_by_test_id("stChatInputTextArea")
    expect(box).to_be_enabled(timeout=FIRST_RUN_MS)
    box.fill(question)
    box.press("Enter")
    expect(page.locator(".st-key-asked").get_by_text(question, exact=True)).to_be_visible(timeout=WAIT_MS)


MOVING = (
    "document.getAnimations().filter(one => one.playState === 'running' && "
    "one.effect?.getComputedTiming().endTime !== Infinity)"
)


def settled(page: Page) -> None:
    """Wait until the page is drawn: its script has ended, nothing is stale or still to come, and nothing moves or
    changes its colour.
    """
    expect(page.get_by_test_id("stStatusWidget")).to_be_hidden(timeout=WAIT_MS)
    expect(page.locator('[data-testid="stSkeleton"]')).to_have_count(0, timeout=WAIT_MS)
    page.wait_for_function("document.querySelectorAll('[data-stale=\"true\"]').length === 0", timeout=WAIT_MS)
    page.wait_for_function(f"{MOVING}.length === 0", timeout=WAIT_MS)


def moved(page: Page, slider: str, key: str) -> None:
    """Move a slider by a key, and wait until the page is drawn for its new value, which it tells 0.2 s late."""
    field = page.get_by_role("slider", name=slider)
    field.focus()
    field.press(key)
    page.wait_for_timeout(SLIDER_LATE_MS)
    settled(page)


YELLOW_ROWS = """async image => {
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = image.naturalWidth; canvas.height = image.naturalHeight;
    const drawn = canvas.getContext('2d'); drawn.drawImage(image, 0, 0);
    const dots = drawn.getImageData(0, 0, canvas.width, canvas.height).data, box = image.getBoundingClientRect(), rows = {};
    for (let i = 0; i < dots.length; i += 4)
        if (dots[i] > 200 && dots[i + 1] > 180 && dots[i + 2] < 160) {
            const y = box.top + Math.floor(i / 4 / canvas.width) / canvas.height * box.height;
            rows[y] = (rows[y] || 0) + 1;
        }
    return Object.entries(rows).map(([y, dots]) => [Number(y), dots]);
}"""


def marked_rows(picture: Locator) -> dict[float, int]:
    """How many yellow dots a shown picture has, by the height on the screen at which its row of dots stands."""
    return dict(picture.evaluate(YELLOW_ROWS))


def drop(page: Page, name: str, data: bytes, **more: bytes) -> None:
    """Hand a file, and `more` PDFs by their names, to the upload field, which takes none while the page is not
    connected to its server.
    """
    files = {name: data} | {f"{other}.pdf": content for other, content in more.items()}
    field = page.locator('[data-testid="stFileUploader"] input[type=file]').first
    expect(field).to_be_enabled(timeout=WAIT_MS)
    field.set_input_files(
        [FilePayload(name=one, mimeType="application/pdf", buffer=content) for one, content in files.items()]
    )


def choose(page: Page, field: str, beginning: str) -> None:
    """Choose an option by typing, since a long list shows only its beginning."""
    settled(page)  # a section that is still opening moves the field, which closes its list
    box = page.get_by_role("combobox", name=field, exact=True)
    box.scroll_into_view_if_needed()  # a list that opens while the page scrolls closes again
    box.click()
    box.fill(beginning)
    page.get_by_role("option", name=beginning).click()


def ground(page: Page) -> str:
    """The colour that the page is drawn on."""
    return str(page.evaluate("getComputedStyle(document.querySelector('.stApp')).backgroundColor"))


def choose_row(page: Page, text: str) -> None:
    """Click the row of the documents that has this text.

    The table is one picture, with unseen cells that say where each text is.
    """
    table = page.locator('[data-testid="stDataFrame"]').first
    cell = table.locator("td", has_text=text).first
    row = int((cell.get_attribute("id") or "").rpartition("-")[2])
    table.scroll_into_view_if_needed()
    table.click(position={"x": 60, "y": ROW_PIXELS * (row + 1.5)})  # below the heads
    settled(page)


def go(page: Page, name: str, title: str = "") -> None:
    """Open another page by its link, which a narrow window keeps in the side bar; `title` is its heading, where it is
    another word.
    """
    opener = page.get_by_test_id("stExpandSidebarButton")
    narrow = (page.viewport_size or {"width": 1280})["width"] < 700
    if narrow:
        opener.click()
    page.get_by_role("link", name=name, exact=True).first.click()
    if narrow:
        page.get_by_test_id("stSidebarCollapseButton").locator("button").click()
    expect(page.get_by_role("heading", name=title or name, exact=True)).to_be_visible(timeout=WAIT_MS)


def status(address: str, method: str = "GET", **headers: str) -> int:
    """What a program is answered."""
    try:
        with urllib.request.urlopen(
            urllib.request.Request(address, method=method, headers=headers), timeout=30
        ) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        return refused.code


def require_only_this_page(address: str) -> None:
    """A program is answered under the page's own name, and at the addresses that the page needs, alone."""
    local = f"http://localhost:{urlsplit(address).port}"
    assert status(address) == 200
    assert status(f"{local}/_stcore/health") == 200
    assert status(address, Host="evil.example") == 421
    assert status(address + "_stcore/health", Origin=local) == 403
    assert status(address + "_stcore/health", Origin=address.rstrip("/")) == 200
    for path in (
        "_stcore/metrics",
        "_stcore/agent/openapi.json",
        "_stcore/script-health-check",
        "oauth2callback",
        "auth/login",
    ):
        assert status(address + path) == 404, path
    assert status(address + "_stcore/agent/interact", "POST") == 404
    assert status(address + "_stcore/upload_file/a/b", "PUT") == 403  # without the token of the page
    with urllib.request.urlopen(address, timeout=30) as answer:
        assert "connect-src 'self';" in answer.headers["content-security-policy"]
