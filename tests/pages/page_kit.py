"""What the tests of the pages do with the app, and read from it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Selectbox

from ui.app import state
from ui.app.texts import say

APP = Path(__file__).resolve().parents[2] / "app.py"
PDF = "application/pdf"
VACATION = "How many vacation days do employees have?"
CALIBRATION = "How often does the flow meter have to be calibrated?"
FRANCE = "What is the capital of France?"
JOB_SECONDS = 120.0  # reached by what hangs, on a busy machine too
LOOK_SECONDS = 0.5
Touch = Callable[[int], Callable[[], int]]


def another() -> AppTest:
    """Another session on the same server, not run yet."""
    return AppTest.from_file(str(APP), default_timeout=JOB_SECONDS)


def settle(app: AppTest) -> AppTest:
    """Run the page until no job is running, as the browser does twice a second."""
    deadline = time.monotonic() + JOB_SECONDS
    app.run()
    while any(button.label in ("Stop", "Stopping…") for button in app.button):
        assert time.monotonic() < deadline, "a job did not end"
        if all([job.wait(LOOK_SECONDS) for job in session_of(app).jobs]):  # one of another session
            time.sleep(0.1)
        app.run()
    return app


def texts(app: AppTest) -> str:
    """Everything on the page that is shown as it is."""
    return "\n".join(element.value for element in app.text)


def badges(app: AppTest) -> str:
    """Everything on the page that is markdown, which is where badges are."""
    return "\n".join(element.value for element in app.markdown)


def captions(app: AppTest) -> str:
    """Everything on the page that is small print."""
    return "\n".join(caption.value for caption in app.caption)


def html(app: AppTest) -> str:
    """The tables of checks, as HTML."""
    return "\n".join(one.proto.body for one in app.get("html") if '<table class="checks">' in one.proto.body)


def session_of(app: AppTest) -> state.Session:
    held: state.Session = app.session_state["plumbline"]
    return held


def asked_of(app: AppTest) -> state.Asked:
    """The question on the page, with its decision."""
    asked = session_of(app).asked
    assert asked is not None
    return asked


def ask(app: AppTest, question: str) -> AppTest:
    """Ask in the question box of the Ask page."""
    if not app.chat_input:
        app.switch_page("pages/ask.py").run()
    return app.chat_input(key="question").set_value(question).run()


def field(app: AppTest, name: str) -> Any:
    """The field of a setting, `knob_` and its name, or of the preset: the edition of it that is on the page."""
    fields = (*app.slider, *app.selectbox, *app.toggle, *app.text_input, *app.text_area)
    (found,) = [one for one in fields if re.fullmatch(rf"{name}(_\d+)?", one.key or "")]
    return found


def move(app: AppTest, name: str, value: float) -> AppTest:
    """Give a setting another value."""
    return field(app, f"knob_{name}").set_value(value).run()


def run_set(app: AppTest) -> AppTest:
    """Run the labelled set that is open in the lab."""
    next(button for button in app.button if button.label == say("lab_sets.run")).click().run()
    return settle(app)


def submit(app: AppTest, form: str) -> AppTest:
    """Press the button of a form whose key begins so."""
    return app.button(key=by_key(app, f"FormSubmitter:{form}")[0]).click().run()


def document(name: str) -> str:
    """The id of the document with this file name."""
    return state.engine().library.snapshot.find(name)[0].id


def open_part(app: AppTest, name: str) -> AppTest:
    """Open a part of the Settings page."""
    if not any(field.key == "stage" for field in app.selectbox):
        app.switch_page("pages/settings.py").run()
    return app.selectbox(key="stage").set_value(name).run()


def by_key(app: AppTest, prefix: str) -> list[str]:
    return [button.key for button in app.button if (button.key or "").startswith(prefix)]


def collection_field(app: AppTest) -> Selectbox:
    """The field above the page that says which collection it works in."""
    return next(field for field in app.selectbox if (field.key or "").startswith("open_collection"))


def choose_document(app: AppTest, id: str) -> AppTest:
    """Choose a document on the Documents page, as a click on its row does."""
    app.session_state["document"] = id
    return app.run()


def keys_of_containers(page: AppTest) -> set[str]:
    found: set[str] = set()

    def walk(node: object) -> None:
        block = getattr(node, "proto", None)
        name = getattr(block, "id", "") if type(block).__name__ == "Block" else ""
        found.update(part.rsplit("-", 1)[-1] for part in [name] if part)
        for child in getattr(node, "children", {}).values():
            walk(child)

    walk(page._tree)
    return found
