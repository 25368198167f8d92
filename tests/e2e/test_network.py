"""One whole session of the page, the lab's way to a certified preset too, and seen by a tracer.

No process of ours looks up a name, speaks to another machine, or writes elsewhere.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api")

from browser_kit import (
    FIRST_RUN_MS,
    ROOT,
    WAIT_MS,
    Watch,
    ask,
    choose,
    drop,
    free_port,
    go,
    moved,
    settled,
    wait_until_healthy,
)
from hostile import make
from lab_session import ANSWERABLE, certify
from playwright.sync_api import Browser, Page, expect
from traced import bare_environment, needs_strace, read_trace, under_strace

from ui.app.texts import say

pytestmark = [
    pytest.mark.tracer,
    pytest.mark.slow,
    pytest.mark.longest,
    needs_strace,
]


@contextmanager
def traced_page(folder: Path) -> Iterator[str]:
    """The address of the page as `make app` serves it, on a machine without a home folder's content; the trace is whole
    at the end.
    """
    port = free_port()
    environment = {**bare_environment(folder / "home", folder / "tmp"), "RAG_LIBRARY": str(folder / "library")}
    command = [*under_strace(folder / "trace"), sys.executable, "-m", "ui.serve", "--port", str(port)]
    log = folder / "log"
    with log.open("wb") as output:
        tracer = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=output, stderr=output, start_new_session=True
        )
    try:
        wait_until_healthy(tracer, port, log)
        yield f"http://127.0.0.1:{port}/"
        children = Path(f"/proc/{tracer.pid}/task/{tracer.pid}/children").read_text(encoding="utf-8").split()
        # the server; strace ends with the last process, and writes the rest of its file
        os.kill(int(children[0]), signal.SIGTERM)
        tracer.wait(60)
    finally:
        if tracer.poll() is None:
            os.killpg(tracer.pid, signal.SIGKILL)
            tracer.wait(10)


def session(page: Page, address: str) -> None:
    """A question, a changed setting, an upload with a scanned page, the documents, and all that the lab does."""
    page.goto(address)
    expect(page.get_by_role("heading", name=say("ask.title"))).to_be_visible(timeout=WAIT_MS)
    expect(page.get_by_text(say("jobs.samples"))).to_be_hidden(timeout=FIRST_RUN_MS)
    ask(page, ANSWERABLE[0].partition(",")[0])
    expect(page.locator(".st-key-answer")).to_be_visible(timeout=WAIT_MS)
    moved(page, "How sure", "ArrowLeft")
    drop(page, "scan.pdf", make.scanned())
    expect(page.get_by_text("Indexed and ready to be asked: 1")).to_be_visible(timeout=FIRST_RUN_MS)
    go(page, say("documents.page"))
    settled(page)
    # one's own file went to another one, and the page with it
    choose(page, say("collections.label"), say("collections.samples"))
    settled(page)
    certify(page)


def test_given_a_whole_session_of_the_page_when_traced_then_no_process_speaks_to_another_machine_or_writes_elsewhere(
    chromium: Browser, tmp_path: Path
) -> None:
    with traced_page(tmp_path) as address:
        context = chromium.new_context(viewport={"width": 1280, "height": 900})
        watch = Watch(context)
        session(context.new_page(), address)
        watch.judge()
        context.close()

    seen = read_trace(tmp_path / "trace")
    assert seen.spoken_to == ()
    assert seen.families <= {"AF_INET", "AF_UNIX"}  # AF_NETLINK is opened for a lookup, AF_INET6 by nobody
    assert seen.outside(tmp_path / "library", tmp_path / "tmp") == set()
    assert any("library" in path for path in seen.changed)  # the tracer saw what there was to see
    assert list((tmp_path / "home").iterdir()) == []
