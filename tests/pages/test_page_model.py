"""The page with a language model: stages, who drafted, drafts that were rejected, what needs another prompt, and the
settings.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from folding import each
from honest_model import best_sentences, draft, honest, refusal, sufficient
from model_server import Asked as Sent
from model_server import Hang, ModelServer
from page_kit import (
    JOB_SECONDS,
    ask,
    asked_of,
    badges,
    captions,
    field,
    html,
    open_part,
    session_of,
    settle,
    texts,
)
from streamlit.testing.v1 import AppTest

from rag_core.domain.llm_trace import Call, Step
from rag_core.domain.status import Reason
from rag_core.errors import InvalidSetting
from rag_core.settings import Mode, Settings
from rag_core.work import loading
from ui.app import asked
from ui.app.asked import Pending
from ui.app.texts import say, screen, tell
from ui.ask import asking, waiting
from ui.ask import drafts as of_drafts
from ui.settings.sharing import to_address, to_yaml

QUESTION = "How often does the flow meter have to be calibrated?"
LEFT_SECONDS = 20.0  # less than a model may take: only a question that was stopped leaves so soon
KEY = "sk-not-for-anybody-7f3a9c"
MARKUP = "![it](x.png) <b>at all</b>"
PLANTED = "The flow meter has to be calibrated every 97 years by a licensed wizard."


@pytest.fixture
def model(empty_library: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A server with an honest model, as the one that is configured."""
    with ModelServer(honest) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("RAG_MODEL", "scripted")
        yield server


@pytest.fixture
def patient(model: ModelServer, page: AppTest, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The page with the model, where a run waits for its answer."""
    monkeypatch.setattr(asking, "PATIENCE_SECONDS", JOB_SECONDS)
    return page


def bad(sent: Sent) -> object:
    """A draft with a fact of its own under a real quote."""
    source, sentence = best_sentences(sent)[0]
    return draft((PLANTED, source, sentence))


def drafts(app: AppTest) -> list[str]:
    """What the trace calls the drafts, in order."""
    return [expander.label for expander in app.expander if expander.label.startswith("Draft ")]


def count(app: AppTest, words: str) -> tuple[int, int]:
    """How many elements of the page hold these words, and how many of those are drafts in the trace."""
    # the decision as JSON says itself what is rejected
    code = [one for one in app.code if not one.value.startswith("{")]
    everywhere = [*app.text, *app.markdown, *app.caption, *code, *app.button]
    inside = [element for expander in app.expander if expander.label.startswith("Draft ") for element in expander.text]
    held = [
        element
        for element in everywhere
        if words in str(getattr(element, "value", "")) + str(getattr(element, "label", ""))
    ]
    return len(held), len([element for element in inside if words in element.value])


def wait_for(app: AppTest, done: Callable[[], bool]) -> AppTest:
    """Run the page as its browser does until this holds."""
    deadline = time.monotonic() + JOB_SECONDS
    while not done():
        assert time.monotonic() < deadline, f"it did not come: {texts(app)[-500:]} {captions(app)}"
        time.sleep(0.05)
        app.run()
    return app


def setting(app: AppTest, name: str, value: object) -> AppTest:
    """Set a setting as `set_knob` does, whether its field is on the page or not."""
    app.session_state["plumbline"].values[name] = value
    app.session_state["plumbline"].editions[f"knob_{name}"] += 1
    return app.run()


# while it is asked


def test_given_a_server_that_hangs_when_asked_then_only_the_stage_is_shown_and_cancel_ends_it(
    model: ModelServer, page: AppTest
) -> None:
    model.play(Hang())

    ask(page, QUESTION)
    wait_for(page, lambda: model.calls == 1 and say("waiting.draft") in texts(page))

    assert QUESTION in texts(page)
    assert session_of(page).asked is None
    page.button(key="cancel").click().run()
    assert session_of(page).pending is None
    assert say("waiting.stopped_about") in captions(page)
    assert QUESTION in texts(page)
    assert model.left.wait(LEFT_SECONDS)
    assert model.calls == 1
    assert session_of(page).history == []


def test_given_a_slider_when_moved_while_the_model_thinks_then_it_is_not_asked_twice_and_the_slider_counts(
    model: ModelServer, page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S0-4: an outcome under other limits costs no call."""
    thinks = threading.Event()
    model.play(lambda sent: honest(sent) if thinks.wait(JOB_SECONDS) else "")
    ask(page, QUESTION)
    wait_for(page, lambda: model.calls == 1)

    field(page, "knob_min_correctness").set_value(1.0).run()
    assert session_of(page).pending is not None
    thinks.set()
    wait_for(page, lambda: session_of(page).asked is not None)

    assert asked_of(page).decision.reason is Reason.CORRECTNESS
    assert model.calls == 1


@each(
    ("step", "claims", "drafts", "said"),
    [
        ("", 0, 0, "Searching the documents"),
        (Step.SUFFICIENCY, 0, 0, "Asking whether what was found suffices"),
        (Step.EXPAND, 0, 0, "Searching again"),
        (Step.DRAFT, 0, 1, "Drafting"),
        (Step.DRAFT, 0, 2, "Drafting again, draft 2"),
        ("check", 1, 1, "Checking 1 sentence"),
        ("check", 3, 1, "Checking 3 sentences"),
        (Step.VERIFY, 1, 1, "Asking the model about 1 sentence"),
        (Step.VERIFY, 2, 1, "Asking the model about 2 sentences"),
    ],
)
def test_given_a_stage_when_shown_then_it_is_said_with_its_number_and_no_text(
    step, claims: int, drafts: int, said: str
) -> None:  # type: ignore[no-untyped-def]
    one = Pending("What?", lambda on_stage, cancelled: None)  # type: ignore[arg-type, return-value]
    one.step, one.claims, one.drafts = step, claims, drafts

    assert waiting.stage(one) == said


def test_given_work_that_does_not_look_when_stopped_then_what_it_comes_to_is_not_taken() -> None:
    going = threading.Event()
    one = Pending("What?", lambda on_stage, cancelled: going.wait(JOB_SECONDS))  # type: ignore[arg-type, return-value]

    one.stop()
    going.set()

    assert one.wait(JOB_SECONDS)
    assert one.asked is None


def test_given_a_tab_that_is_gone_for_a_while_when_looked_for_then_its_question_is_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A line that was broken for a moment is none."""
    here, now = [True], [100.0]

    class Server:
        def is_active_session(self, session: str) -> bool:
            assert session == "tab 1"
            return here[0]

    monkeypatch.setattr(asked.runtime, "exists", lambda: True)
    monkeypatch.setattr(asked.runtime, "get_instance", Server)
    monkeypatch.setattr(asked.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(asked, "get_script_run_ctx", lambda **_: type("Context", (), {"session_id": "tab 1"}))
    closed = asked.tab_closed()

    seen = []
    for there, at in [(True, 101), (False, 102), (False, 106.9), (True, 107), (False, 108), (False, 113)]:
        here[0], now[0] = there, at
        seen.append(closed())

    assert seen == [False, False, False, False, False, True]


# who drafted


def test_given_an_honest_model_when_asked_then_its_answer_says_who_drafted_and_stands_until_asked_again(
    patient: AppTest, model: ModelServer
) -> None:
    """S3-19: tokens and time of the model."""
    ask(patient, QUESTION)

    decision = asked_of(patient).decision
    assert decision.answered
    assert decision.metadata["drafter"] == "model"
    assert tell("drafted.model", model="scripted", endpoint=f"127.0.0.1:{model.port}") in texts(patient)
    assert f"Requests: 1, tokens: {decision.metadata['total_tokens']:,}, time: " in texts(patient)
    assert drafts(patient) == [say("attempts.shown", n=1)]
    assert asked_of(patient).record is not None

    field(patient, "knob_top_k").set_value(8).run()

    field(patient, "knob_top_k").set_value(10).run()

    assert not asked_of(patient).outdated
    assert "ask_again_button" not in {button.key for button in patient.button}
    assert model.calls == 1

    answer, number = asked_of(patient).decision.answer, asked_of(patient).number

    field(patient, "knob_top_k").set_value(3).run()

    assert model.calls == 1
    assert asked_of(patient).outdated
    assert asked_of(patient).decision.answer == answer
    assert screen()["waiting.outdated_about"] in texts(patient)
    field(patient, "knob_min_correctness").set_value(0.1).run()  # judged meanwhile, as ever
    assert asked_of(patient).settings.min_correctness == 0.1
    patient.button(key="ask_again_button").click().run()
    assert model.calls == 2
    assert not asked_of(patient).outdated
    assert (asked_of(patient).number, asked_of(patient).settings.top_k) == (number, 3)
    assert "Changed: How many sources 10 → 3." in texts(patient)


def test_given_a_model_whose_drafts_are_all_bad_when_asked_then_no_word_of_them_stands_outside_the_trace(
    patient: AppTest, model: ModelServer
) -> None:
    """S0-22, S2-25, S3-16: rejected drafts are in the trace only, marked as rejected."""
    model.play(bad)

    ask(patient, QUESTION)

    decision = asked_of(patient).decision
    assert decision.answered
    assert decision.metadata["drafter"] == "extract"
    stand_in = of_drafts.stand_in(decision)
    assert stand_in.endswith("The answer is taken from the documents word for word.")
    assert texts(patient).count(stand_in) == 1
    assert drafts(patient) == [say("attempts.rejected", n=number) for number in range(1, len(decision.attempts) + 1)]
    everywhere, inside = count(patient, PLANTED)
    assert everywhere == inside >= len(decision.attempts) > 1
    assert len([badge for badge in patient.markdown if screen()["attempts.no_answer"] in badge.value]) == len(
        decision.attempts
    )
    assert "✗ " + screen()["checks.title_facts"] in texts(patient)

    setting(patient, "fallback_extract", False)

    ask(patient, QUESTION)

    decision = asked_of(patient).decision
    assert decision.to_json()["hallucination"] is True
    everywhere, inside = count(patient, PLANTED)
    assert everywhere == inside >= len(decision.attempts) > 1
    assert screen()["sentences.rejected"] not in [element.value for element in patient.header]


def test_given_a_model_that_finds_no_answer_when_asked_then_its_words_stand_in_the_trace_only(
    patient: AppTest, model: ModelServer
) -> None:
    """S4-13: a model's refusal is a refusal, with its reason. Where the extract's score is high, that is shown."""
    model.play(refusal(f"The passages say nothing of it, {MARKUP}"))

    ask(patient, "How do I set the zero point of the meter?")

    assert asked_of(patient).decision.reason is Reason.MODEL_REFUSED
    assert screen()["refusal.why_model_refused"] in texts(patient)
    (one,) = asked_of(patient).decision.attempts
    assert MARKUP in one.attempt.refusal
    shown = [element.value for element in patient.text if MARKUP in element.value]
    assert shown == [screen()["attempts.refusal"].format(refusal=one.attempt.refusal)]
    assert all(MARKUP not in element.value for element in (*patient.markdown, *patient.caption))


# the trace


def test_given_sufficiency_and_verification_when_asked_then_the_trace_has_what_the_model_said_of_both(
    patient: AppTest,
) -> None:
    setting(patient, "sufficiency_mode", Mode.ENFORCE)
    setting(patient, "verification_mode", Mode.ENFORCE)

    ask(patient, QUESTION)

    said = texts(patient)
    assert "The model says that they answer the question; its stated confidence is 0.90." in said
    assert "1.  yes" in said
    prompts = [call.prompt for call in asked_of(patient).measurements.llm_trace.calls]
    assert [prompt.partition("/")[0] for prompt in prompts] == ["sufficiency", "compress", "verify"]
    assert all(f"Prompt: {prompt}" in said for prompt in prompts)
    assert screen()["checks.title_sufficiency"] in html(patient)


def test_given_a_request_in_any_state_when_put_in_words_then_each_is_said() -> None:
    call = Call(Step.DRAFT, "compress/1 0a", "m", "h:1", 1200, 40, 2500.0, tried=("h:0 did not answer.",))

    assert of_drafts.call_in_words(call).splitlines() == [
        "Prompt: compress/1 0a",
        "Before it: h:0 did not answer.",
        "Asked: m at h:1, by a schema",
        "1,200 tokens in, 40 out, 2.5 s",
    ]
    assert "without a schema" in of_drafts.call_in_words(Call(Step.DRAFT, model="m", structured=False))
    assert of_drafts.call_in_words(Call(Step.DRAFT, failure="It hung.")) == "Nothing came of it: It hung."


# its client


def test_given_a_model_that_drafts_when_a_library_is_opened_then_its_client_is_loaded_and_a_fault_of_it_stops_nothing() -> (  # noqa: E501
    None
):
    def faulty(settings: Settings) -> None:
        raise InvalidSetting("It is nowhere.", remedy="Say where.")

    asked_for: list[Settings] = []
    for make in (asked_for.append, faulty, None):
        loading._load_client(SimpleNamespace(tools=SimpleNamespace(model=make)), Settings())  # type: ignore[arg-type]

    assert asked_for == [Settings()]


def test_given_a_model_that_says_no_of_the_passages_when_refused_then_no_extract_is_shown_as_a_rejected_draft(
    patient: AppTest, model: ModelServer
) -> None:
    model.play(sufficient("no", 0.9, ("the price",)))
    setting(patient, "sufficiency_mode", Mode.ENFORCE)

    ask(patient, QUESTION)

    assert asked_of(patient).decision.reason is Reason.SUFFICIENCY
    assert screen()["refusal.why_sufficiency"] in texts(patient)
    assert screen()["sentences.rejected"] not in [element.value for element in patient.header]
    said = screen()["attempts.missing"].format(missing="the price")
    assert [element.value for element in patient.text if "the price" in element.value] == [
        element.value for element in patient.text if said in element.value
    ]
    assert said in texts(patient)
    assert f"The check “{screen()['checks.title_sufficiency']}” refused." in texts(patient)


# what needs another prompt


def test_given_a_check_that_the_model_never_made_when_it_is_required_then_nothing_is_decided_and_nobody_is_asked(
    patient: AppTest, model: ModelServer
) -> None:
    ask(patient, QUESTION)

    setting(patient, "verification_mode", Mode.ENFORCE)

    assert asked_of(patient).decision.reason is Reason.NEEDS_GENERATION
    assert model.calls == 1
    assert screen()["waiting.undecided"] in texts(patient)
    assert "answered → not decided, because the language model would have to be asked again" in texts(patient)
    assert "No answer" not in badges(patient)
    patient.button(key="ask_again_button").click().run()
    assert model.calls == 3  # a new draft, and what is said of it
    assert asked_of(patient).decision.answered
    assert "not decided → answered" in texts(patient)


def test_given_documents_that_came_meanwhile_when_a_model_drafted_then_it_is_not_asked_by_itself(
    patient: AppTest, model: ModelServer
) -> None:
    ask(patient, QUESTION)

    patient.file_uploader[0].set_value([("notes.txt", b"The harbour bridge is 412 metres long.", "text/plain")]).run()
    settle(patient)

    assert asked_of(patient).outdated
    assert model.calls == 1


# the settings


def test_given_a_model_when_the_settings_are_opened_then_they_name_it_with_its_key_masked(
    patient: AppTest, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is shown, stored or shared, the key is not in it."""
    monkeypatch.setenv("RAG_FALLBACK_BASE_URL", "http://203.0.113.9:8000/v1")
    ask(patient, QUESTION)
    open_part(patient, "draft")

    assert f"scripted at 127.0.0.1:{model.port}, key sk-…3a9c" in texts(patient)
    assert "If it does not answer: scripted at 203.0.113.9:8000, key none" in texts(patient)
    assert "unencrypted" in texts(patient)
    session = session_of(patient)
    everything = [
        repr(session),
        repr(patient.session_state._state.filtered_state),
        to_yaml(session.settings()),
        str(to_address(session.settings())),
    ]
    everything += [json.dumps(asked_of(patient).decision.to_json()), *(repr(vars(one)) for one in session.history)]
    assert [held for held in everything if KEY in held] == []


def test_given_secrets_that_cannot_be_read_when_the_page_is_opened_then_the_settings_say_so(
    app: AppTest, library: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def unreadable(*_: object) -> object:
        raise InvalidSetting("secrets.toml cannot be read: it is no TOML.", remedy="Mend it.")

    monkeypatch.setattr("ui.app.state.model_environment", unreadable)
    monkeypatch.setattr("rag_core.wiring.models.model_environment", unreadable)

    open_part(app.run(), "draft")

    assert "secrets.toml cannot be read: it is no TOML." in texts(app)
