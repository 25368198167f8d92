"""A language model in the browser: the stage while it thinks, cancel, and no word of a rejected draft outside the
trace.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api")

from browser_kit import WAIT_MS, served, settled
from honest_model import best_sentences, draft, honest
from model_server import Asked, Hang, ModelServer
from playwright.sync_api import Page, expect
from test_accessible import checker

from ui.app.texts import say

CALIBRATION = "How often does the flow meter have to be calibrated?"
PLANTED = "every 97 years by a licensed wizard"
KEY = "sk-not-for-anybody-7f3a9c"
MODEL = "organisation/an-extremely-long-model-name-70B-instruct-Q4_K_M-2026-11-21.gguf"
# looks at the page each time anything changes on it, and remembers whether the words ever stood outside the trace
WATCH = """words => {
    window.leaked = [];
    const look = () => {
        const copy = document.body.cloneNode(true);
        copy.querySelectorAll('[class*="st-key-in_"]').forEach(one => one.remove());
        if (copy.textContent.includes(words)) window.leaked.push(copy.textContent.slice(0, 200));
    };
    new MutationObserver(look).observe(document.body, {subtree: true, childList: true, characterData: true});
}"""


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer(honest) as server:
        yield server


@pytest.fixture(scope="module")
def server(model: ModelServer, library: Path) -> Iterator[str]:
    """The address of a page that drafts with the scripted model."""
    named = {"OPENAI_BASE_URL": model.base_url, "OPENAI_API_KEY": KEY, "RAG_MODEL": MODEL}
    with served(library, library.with_name("log"), named) as address:
        yield address


def bad(asked: Asked) -> object:
    """A draft with a fact of its own under a real quote."""
    source, sentence = best_sentences(asked)[0]
    return draft((f"The flow meter has to be calibrated {PLANTED}.", source, sentence))


def wait_for_call(model: ModelServer) -> None:
    """Wait until the server has been asked."""
    deadline = time.monotonic() + WAIT_MS / 1000
    while not model.calls:
        assert time.monotonic() < deadline, "the model was not asked"
        time.sleep(0.05)


def type_question(page: Page, question: str) -> None:
    settled(page)
    box = page.get_by_test_id("stChatInputTextArea")
    box.fill(question)
    box.press("Enter")


def test_given_a_slow_model_when_cancelled_and_asked_again_then_the_answer_is_audited_and_the_bad_draft_only_in_the_trace(  # noqa: E501
    page: Page, model: ModelServer, screens: Path
) -> None:
    """S3-16, S4-11: nothing of a draft before its audits; rejected ones in the trace only.

    Everyone can read what a model brings to the page.
    """
    check = checker(page, screens)
    page.evaluate(WATCH, PLANTED)
    model.play(Hang())
    type_question(page, CALIBRATION)
    expect(page.locator(".st-key-waiting")).to_contain_text(say("waiting.draft"), timeout=WAIT_MS)
    expect(page.locator(".st-key-waiting")).to_contain_text(CALIBRATION)
    wait_for_call(model)
    slider = page.get_by_role("slider", name="How sure")
    slider.focus()
    slider.press("ArrowLeft")  # a run of the page is no second call
    expect(page.locator(".st-key-waiting")).to_be_visible()
    page.get_by_role("button", name=say("waiting.cancel")).click()
    expect(page.locator(".st-key-stopped")).to_be_visible(timeout=WAIT_MS)
    assert check("model-stopped") == {}
    assert model.left.wait(30)
    assert model.calls == 1

    model.play([bad, honest])
    page.get_by_role("button", name=say("waiting.ask_stopped")).click()

    expect(page.locator(".st-key-answer")).to_be_visible(timeout=WAIT_MS)
    expect(page.locator(".st-key-answer")).to_contain_text("every 5 years")
    expect(page.locator(".st-key-drafted")).to_contain_text(MODEL)
    page.locator('[class*="st-key-stage_compress_"] summary').first.click()
    first = page.locator(".st-key-attempts summary").first
    expect(first).to_contain_text(say("attempts.rejected", n=1))
    first.click()
    expect(page.locator(".st-key-attempt_1")).to_contain_text(PLANTED)
    settled(page)
    assert check("model-answered") == {}
    assert page.evaluate("window.leaked") == []
    assert KEY not in page.content()
    assert model.calls == 2


def test_given_a_tab_that_is_closed_while_the_model_thinks_then_its_question_ends(
    open_page, model: ModelServer
) -> None:
    page = open_page()
    model.play(Hang())
    type_question(page, "How often must the flow meter be calibrated?")
    expect(page.locator(".st-key-waiting")).to_contain_text(say("waiting.draft"), timeout=WAIT_MS)
    wait_for_call(model)

    page.context.close()

    assert model.left.wait(60)
