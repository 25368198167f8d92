"""The small model that `make demo-model` serves, as the page offers it: what it says of itself, and what happens where it does not run.

A process that lives and a server of the test stand for it, known to the page by the file that `serving` writes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from folding import each
from honest_model import honest
from model_server import ModelServer
from page_kit import ask, asked_of, captions, texts
from streamlit.testing.v1 import AppTest

from rag_core.adapters.llm.demo.packages import MODEL
from rag_core.adapters.llm.demo.server import FOLDER
from rag_core.wiring import running_demo_model
from ui.app.texts import say
from ui.ask.question import asking

QUESTION = "How often does the flow meter have to be calibrated?"
NOBODY = 2**31 - 2  # no process has this number
PATIENCE = 60.0  # seconds a run of the page waits for the answer


@pytest.fixture
def here(page: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The page, run in a folder of its own where no small model runs, with no other configured."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "RAG_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    FOLDER.mkdir(parents=True)
    monkeypatch.setattr(asking, "PATIENCE_SECONDS", PATIENCE)
    return page


@pytest.fixture
def served(here: AppTest) -> Iterator[ModelServer]:
    with ModelServer(honest) as server:
        known(os.getpid(), urlsplit(server.base_url).port or 0)
        yield server


def known(pid: int, port: int) -> None:
    """The file that names the process of the small model."""
    (FOLDER / "running.json").write_text(json.dumps({"pid": pid, "port": port, "key": "k"}), encoding="utf-8")


def drafting(app: AppTest) -> AppTest:
    """Open the part of the settings that says who drafts."""
    return app.selectbox(key="stage").set_value("draft").run()


def offered(app: AppTest) -> bool:
    return any(button.key == "small_model" for button in app.button)


def test_given_a_small_model_that_runs_when_offered_then_it_says_what_it_is_and_drafts_once_it_is_chosen(
    here: AppTest, served: ModelServer
) -> None:
    drafting(here.run())

    assert "**Small model on this machine.** It is too small to be good and real enough to be caught" in captions(here)
    assert "Questions and passages do not leave this machine." in captions(here)
    assert say("model.none") not in captions(here)
    assert [button.label for button in here.button if button.key == "small_model"] == [say("model.small_start")]
    ask(here, QUESTION)
    assert (asked_of(here).decision.metadata["drafter"], served.calls) == ("extract", 0)  # an offer, and no more

    here.button(key="small_model").click().run()
    assert not offered(here)
    ask(here, QUESTION)

    metadata = asked_of(here).decision.metadata
    assert (metadata["drafter"], metadata["model"]) == ("model", MODEL)
    assert metadata["endpoint"] == urlsplit(served.base_url).netloc
    assert served.calls > 0
    assert not here.exception


@each("said", ["", "[]", '{"pid": 1}', json.dumps({"pid": NOBODY, "port": 9, "key": "k"})])
def test_given_no_process_behind_the_file_then_nothing_is_offered_and_the_page_says_how_to_start_one(said: str, here: AppTest) -> None:
    (FOLDER / "running.json").write_text(said, encoding="utf-8")

    drafting(here.run())

    assert not offered(here)
    assert say("model.none") in captions(here)
    assert "make demo-model" in say("model.none")
    ask(here, QUESTION)
    assert asked_of(here).decision.answered
    assert not here.exception


def test_given_a_small_model_that_was_chosen_and_ends_then_the_extract_answers_and_says_why(here: AppTest, served: ModelServer) -> None:
    """The process lives and its server is gone; then the process is gone too."""
    drafting(here.run())
    here.button(key="small_model").click().run()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        known(process.pid, 9)  # nobody listens there
        ask(here, QUESTION)
        hung = asked_of(here).decision
        process.kill()
    assert (hung.answered, hung.metadata["drafter"]) == (True, "extract")
    assert "could not be asked" in hung.metadata["drafter_note"]
    assert running_demo_model() is None

    ask(here, "Who calibrates the flow meter?")

    gone = asked_of(here).decision
    assert (gone.metadata["drafter"], served.calls) == ("extract", 0)
    assert "No language model is configured" in gone.metadata["drafter_note"]
    assert not here.exception
    assert "Traceback" not in texts(here)
