"""The page in a real Chromium, over a real server: what AppTest cannot see."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pymupdf
import pytest

playwright = pytest.importorskip("playwright.sync_api")
expect, Page, Browser = playwright.expect, playwright.Page, playwright.Browser

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = Path("/usr/bin/chromium")
START_SECONDS = 60.0
WAIT_MS = 45_000  # for an answer on a busy machine; it takes less than a second on an idle one
FIRST_RUN_MS = 120_000  # for the samples to be indexed on a busy machine; about ten seconds on an idle one
LAST_EXAMPLE = "Wann läuft ein API-Schlüssel ab?"  # is offered when the last of the samples is indexed
FOREIGN = "http://203.0.113.9/leak"  # an address kept for documentation: nothing is there
TRICKS = (
    f'![a]({FOREIGN}1.png) <img src="{FOREIGN}2.png"> <script>window.hacked=1;fetch("{FOREIGN}3")</script> [b](javascript:window.hacked=1)'
)

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not CHROMIUM.exists(), reason="needs Chromium at /usr/bin/chromium")]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a freshly started page with a library of its own."""
    port, folder = free_port(), tmp_path_factory.mktemp("served")
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    environment = {**os.environ, "RAG_LIBRARY": str(folder / "library")}
    environment.pop("RAG_PRESET", None)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log, start_new_session=True)
    try:
        wait_until_healthy(process, f"http://127.0.0.1:{port}/_stcore/health", folder / "log")
        yield f"http://127.0.0.1:{port}/"
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # its readers of PDFs too
        process.wait(10)


def wait_until_healthy(process: subprocess.Popen[bytes], address: str, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text(encoding="utf-8", errors="replace")
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise AssertionError("the page did not start: " + log.read_text(encoding="utf-8", errors="replace"))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser, server: str) -> Iterator[Page]:
    """A new session on the page, with the samples indexed; fails when anything foreign was requested or the console had an error."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(WAIT_MS)
    opened = context.new_page()
    requested, errors, dialogs = [], [], []
    context.on("request", lambda request: requested.append(request.url))
    opened.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    opened.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    opened.goto(server)
    expect(opened.get_by_role("heading", name="Ask your documents")).to_be_visible(timeout=WAIT_MS)
    expect(opened.get_by_role("button", name=LAST_EXAMPLE)).to_be_visible(timeout=FIRST_RUN_MS)
    expect(opened.get_by_text("Indexing the sample documents")).to_be_hidden(timeout=WAIT_MS)
    yield opened
    hacked = opened.evaluate("window.hacked")
    context.close()
    assert [url for url in requested if urlsplit(url).scheme in ("http", "https") and urlsplit(url).hostname != "127.0.0.1"] == []
    assert (errors, dialogs, hacked) == ([], [], None)


def ask(page: Page, question: str) -> None:
    box = page.get_by_test_id("stChatInputTextArea")
    box.fill(question)
    box.press("Enter")
    expect(page.locator(".st-key-asked").get_by_text(question, exact=True)).to_be_visible(timeout=WAIT_MS)


def pdf(text: str, title: str = "") -> bytes:
    made = pymupdf.open()
    made.new_page().insert_textbox((50, 50, 545, 790), text, fontsize=11)
    made.set_metadata({"title": title})
    return bytes(made.tobytes())


def upload(page: Page, name: str, data: bytes) -> None:
    page.locator('[data-testid="stFileUploader"] input[type=file]').set_input_files(
        [{"name": name, "mimeType": "application/pdf", "buffer": data}]
    )
    expect(page.get_by_text("Indexed and ready to be asked: 1")).to_be_visible(timeout=WAIT_MS)


def choose(page: Page, field: str, beginning: str) -> None:
    """Choose an option by typing, since a long list shows only its beginning."""
    box = page.get_by_role("combobox", name=field, exact=True)
    box.scroll_into_view_if_needed()  # a list that opens while the page scrolls closes again
    box.click()
    box.fill(beginning)
    page.get_by_role("option", name=beginning).click()


def test_given_a_first_start_when_a_sample_is_asked_then_it_is_answered_marked_and_refused_by_the_slider(page: Page) -> None:
    page.get_by_role("button", name="How many vacation days do employees have?").click()
    expect(page.get_by_text("Answered from the documents")).to_be_visible(timeout=WAIT_MS)
    expect(page.locator(".st-key-answer").get_by_text("25 vacation days")).to_be_visible()
    # the answer is in view: nothing scrolled past it
    expect(page.locator(".st-key-answer")).to_be_in_viewport()

    page.locator("label", has_text="Show the page").first.click()
    picture = page.locator('[data-testid="stImage"] img').first
    expect(picture).to_be_visible(timeout=WAIT_MS)
    assert picture.evaluate("image => image.naturalWidth") > 500

    slider = page.get_by_role("slider", name="How sure")
    slider.focus()
    slider.press("End")
    expect(page.get_by_text("Result: answered → refused.")).to_be_visible(timeout=WAIT_MS)
    expect(page.locator(".st-key-refusal").get_by_text("Refused: not sure enough")).to_be_visible()


def test_given_a_new_pdf_when_dropped_then_it_is_answered_from_and_found_on_the_documents_page(page: Page) -> None:
    upload(page, "bridge.pdf", pdf("The harbour bridge was opened in 1931 and is 412 metres long."))

    ask(page, "How long is the harbour bridge?")

    expect(page.locator(".st-key-answer").get_by_text("412 metres")).to_be_visible(timeout=WAIT_MS)
    page.get_by_role("link", name="Documents").click()
    expect(page.get_by_role("heading", name="Documents", exact=True)).to_be_visible(timeout=WAIT_MS)
    expect(page.locator('[data-testid="stDataFrame"]')).to_contain_text("bridge.pdf")


def test_given_a_hostile_title_text_and_file_name_when_shown_everywhere_then_nothing_foreign_is_requested_or_run(page: Page) -> None:
    # the fixture judges what was requested, run and reported
    upload(page, f"a {TRICKS.replace('/', '_')}.pdf", pdf(f"The password of the harbour office is {TRICKS} and nothing else.", TRICKS))

    ask(page, "What is the password of the harbour office?")

    expect(page.locator(".st-key-answer").get_by_text(f"{FOREIGN}1.png")).to_be_visible(timeout=WAIT_MS)
    for expander in ("Passages that were found", "Every check, with what it measured"):
        page.locator("summary", has_text=expander).click()
    page.locator("label", has_text="Show the page").first.click()
    expect(page.locator('[data-testid="stImage"] img').first).to_be_visible(timeout=WAIT_MS)
    choose(page, "Search in", "a ![a]")
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Documents").click()
    expect(page.get_by_role("heading", name="What reading it found")).to_be_visible(timeout=WAIT_MS)
    choose(page, "Document", "a ![a]")
    expect(page.get_by_text(f"Title: {TRICKS}")).to_be_visible(timeout=WAIT_MS)
    page.wait_for_timeout(500)  # for a request that comes late
