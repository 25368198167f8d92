"""One server over the samples for the browser tests of a process, and a session that fails when anything foreign was
requested.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api")

from browser_kit import CHROMIUM, FIRST_RUN_MS, WAIT_MS, Watch, launched, served
from playwright.sync_api import Browser, Page, expect

from ui.app.texts import say
from ui.ask.waiting import EXAMPLES

Opener = Callable[..., Page]


@pytest.fixture(scope="session", autouse=True)
def with_chromium() -> None:
    """Without a browser all are skipped, which fails in the build."""
    if not CHROMIUM.exists():
        pytest.skip("needs Chromium at /usr/bin/chromium")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, sample_library: Path) -> Path:
    """A library for a file that starts servers of its own; it holds the samples."""
    return Path(shutil.copytree(sample_library, tmp_path_factory.mktemp("served") / "library"))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, sample_library: Path) -> Iterator[str]:
    """The address of a page over a library of its own, which holds the samples and what earlier tests have dropped."""
    library = shutil.copytree(sample_library, tmp_path_factory.mktemp("served") / "library")
    with served(library, library.with_name("log")) as address:
        yield address


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser for a file: its driver leaves an event loop running, which other tests must not meet."""
    with launched() as browser:
        yield browser


@pytest.fixture
def open_page(chromium: Browser, server: str) -> Iterator[Opener]:
    """Opens sessions with the samples indexed; the test fails when one requested anything foreign or its console had an
    error.
    """
    watches: list[Watch] = []
    with ExitStack() as closing:

        def opened(**options: object) -> Page:
            context = chromium.new_context(**({"viewport": {"width": 1280, "height": 900}} | options))  # type: ignore[arg-type]
            closing.callback(context.close)
            context.set_default_timeout(WAIT_MS)
            watches.append(Watch(context))
            page = context.new_page()
            page.goto(server)
            expect(page.get_by_role("heading", name=say("ask.title"))).to_be_visible(timeout=WAIT_MS)
            expect(page.get_by_role("button", name=EXAMPLES[-1][0])).to_be_visible(timeout=FIRST_RUN_MS)
            expect(page.get_by_text(say("jobs.samples"))).to_be_hidden(timeout=FIRST_RUN_MS)
            return page

        yield opened
        for watch in watches:
            watch.judge()


@pytest.fixture
def page(open_page: Opener) -> Page:
    """One session."""
    return open_page()


@pytest.fixture(scope="session")
def screens() -> Path:
    folder = Path(__file__).resolve().parents[2] / "build" / "screens"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
