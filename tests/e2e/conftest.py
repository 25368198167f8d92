"""One server over the samples for all browser tests of a file, and a session that fails when anything foreign was requested."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("playwright.sync_api")

from browser_kit import FIRST_RUN_MS, WAIT_MS, launched, served
from playwright.sync_api import Browser, Page, expect

from ui.app.texts import say
from ui.ask.examples import EXAMPLES

Opener = Callable[..., Page]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, sample_library: Path) -> Path:
    """A library of the tests of a file, which holds the samples."""
    return Path(shutil.copytree(sample_library, tmp_path_factory.mktemp("served") / "library"))


@pytest.fixture(scope="module")
def server(library: Path) -> Iterator[str]:
    """The address of a freshly started page."""
    with served(library, library.with_name("log")) as address:
        yield address


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture
def open_page(chromium: Browser, server: str) -> Iterator[Opener]:
    """Opens sessions with the samples indexed; the test fails when one requested anything foreign or its console had an error."""
    pages: list[tuple[Page, list[str], list[str]]] = []
    with ExitStack() as closing:

        def opened(**options: object) -> Page:
            context = chromium.new_context(**({"viewport": {"width": 1280, "height": 900}} | options))  # type: ignore[arg-type]
            closing.callback(context.close)
            context.set_default_timeout(WAIT_MS)
            page = context.new_page()
            requested: list[str] = []
            wrong: list[str] = []
            context.on("request", lambda request: requested.append(request.url))
            page.on("console", lambda message: wrong.append(f"{message.text} {message.location}") if message.type == "error" else None)
            page.on("dialog", lambda dialog: (wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
            page.goto(server)
            expect(page.get_by_role("heading", name=say("ask.title"))).to_be_visible(timeout=WAIT_MS)
            expect(page.get_by_role("button", name=EXAMPLES[-1].question)).to_be_visible(timeout=FIRST_RUN_MS)
            expect(page.get_by_text(say("jobs.samples"))).to_be_hidden(timeout=FIRST_RUN_MS)
            pages.append((page, requested, wrong))
            return page

        yield opened
        hacked = [page.evaluate("window.hacked") for page, _, _ in pages if not page.is_closed()]
    foreign = [
        url for _, urls, _ in pages for url in urls if urlsplit(url).scheme in ("http", "https") and urlsplit(url).hostname != "127.0.0.1"
    ]
    assert foreign == []
    assert [error for _, _, errors in pages for error in errors] == []
    assert [value for value in hacked if value is not None] == []


@pytest.fixture
def page(open_page: Opener) -> Page:
    """One session."""
    return open_page()


@pytest.fixture(scope="session")
def screens() -> Path:
    """Where screenshots are kept."""
    folder = Path(__file__).resolve().parents[2] / "build" / "screens"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
