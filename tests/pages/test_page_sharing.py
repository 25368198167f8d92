"""Settings in the page's address and in a file: what goes out comes back, and what is wrong is said and left out."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
import yaml
from folding import each
from hypothesis import example, given
from hypothesis import strategies as st
from page_kit import another, collection_field, field, move, texts
from streamlit.testing.v1 import AppTest

from rag_core.errors import InvalidSetting
from rag_core.library.stored.named import collections, create_collection
from rag_core.settings import Knob, Settings, presets
from rag_core.settings.configuration import load_settings
from ui.settings import sharing
from ui.settings.fields import FIXED

SHARED = {name: knob for name, knob in sharing._shared().items()}
ROOT = Path(__file__).resolve().parents[2]
TEXTS = {"reranker", "keyword_synonyms", "refusal_text", "model"}


def value(page: AppTest, name: str) -> object:
    return getattr(page.session_state.plumbline.settings(), name)


def address(page: AppTest) -> dict[str, str]:
    """The parameters of the address; AppTest keeps each as a list."""
    return {name: found[-1] if isinstance(found, list) else found for name, found in page.query_params.items()}


def on_grid(knob: Knob) -> st.SearchStrategy[object]:
    """Any value that a field can have."""
    if knob.options:
        return st.sampled_from(knob.options)
    if knob.low is None or knob.high is None or knob.step is None:
        return st.booleans() if isinstance(knob.default, bool) else st.text(max_size=40)
    steps = st.integers(0, round((knob.high - knob.low) / knob.step))
    if isinstance(knob.default, int):
        return steps.map(lambda n: int(knob.low + n * knob.step))  # type: ignore[operator]
    return steps.map(lambda n: round(knob.low + n * knob.step, 10))  # type: ignore[operator]


def chosen(knobs: dict[str, Knob]) -> st.SearchStrategy[Settings]:
    values = st.fixed_dictionaries({}, optional={name: on_grid(knob) for name, knob in knobs.items()})
    return st.builds(Settings.load, st.sampled_from(list(presets())), values)


@given(chosen(SHARED))
def test_given_any_settings_when_written_to_an_address_and_read_then_they_are_the_same(settings: Settings) -> None:
    read, problems = sharing.from_address(sharing.to_address(settings))

    assert (read, problems) == (settings, [])


@given(chosen(sharing._file_knobs()))
@example(Settings.load("balanced", {"refusal_text": "- Write short.\n  - A\x85B\u2028C\u2029\n"}))
def test_given_any_settings_when_written_to_a_file_then_the_command_line_and_the_page_read_the_same(
    settings: Settings,
) -> None:
    written = sharing.to_yaml(settings)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / sharing.FILE
        path.write_text(written, encoding="utf-8")

        assert load_settings(config=path) == settings
    assert sharing.from_yaml(written.encode()) == settings


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=20), max_size=5))
def test_given_any_address_when_read_then_it_gives_settings_and_a_problem_for_each_part_that_was_left_out(
    parameters: dict[str, str],
) -> None:
    settings, problems = sharing.from_address(parameters)

    assert isinstance(settings, Settings)
    known = [name for name in parameters if name in SHARED or name == "preset"]
    assert len(problems) >= len(parameters) - len(known)


@each("name", sorted(TEXTS | set(FIXED)))
def test_given_free_text_or_a_model_in_an_address_when_read_then_it_is_left_out(name: str) -> None:
    settings, problems = sharing.from_address({name: "http://203.0.113.9/model"})

    assert settings == Settings.load()
    assert problems == [f"{name}: is not taken from an address."]


def test_given_the_settings_that_travel_when_counted_then_they_are_all_but_free_text_and_the_model() -> None:
    assert set(SHARED) == {knob.name for knob in Settings.knobs()} - TEXTS - set(FIXED)


def test_given_moved_fields_when_the_page_has_run_then_the_address_holds_what_differs(page: AppTest) -> None:
    assert address(page) == {}

    move(page, "min_correctness", 0.6)
    assert address(page) == {"preset": "balanced", "min_correctness": "0.6"}

    field(page, "preset").set_value("scoping").run()
    assert address(page) == {"preset": "scoping"}
    field(page, "preset").set_value("balanced").run()

    assert address(page) == {}

    move(page, "min_correctness", 0.33)
    page.query_params.clear()  # as on going back in the browser, and on another page: the session has the last word
    page.switch_page("pages/documents.py").run()
    page.switch_page("pages/ask.py").run()
    assert field(page, "knob_min_correctness").value == 0.33
    assert address(page) == {"preset": "balanced", "min_correctness": "0.33"}


def test_given_an_address_when_opened_then_the_page_starts_with_its_values(app: AppTest, library: Path) -> None:
    app.query_params.update({"preset": "scoping", "max_distance": "0.6", "top_k": "5"})

    app.run()

    assert field(app, "preset").value == "scoping"
    assert field(app, "knob_top_k").value == 5
    assert (value(app, "max_distance"), value(app, "min_documents")) == (0.6, 2)
    assert address(app) == {"preset": "scoping", "max_distance": "0.6", "top_k": "5"}
    assert "close_address" not in [button.key for button in app.button]


def test_given_a_bad_address_when_opened_then_one_notice_names_what_was_left_out_and_the_rest_counts(
    app: AppTest, library: Path
) -> None:
    app.query_params.update(
        {"min_correctness": "7", "nonsense": "<b>x</b>", "preset": "no-such", "refusal_text": "Pay me", "top_k": "5"}
    )

    app.run()

    assert (value(app, "min_correctness"), value(app, "top_k"), value(app, "refusal_text")) == (
        Settings.load().min_correctness,
        5,
        "",
    )
    said = texts(app)
    assert "Setting 'min_correctness' cannot be '7'" in said
    assert "There is no preset named 'no-such'." in said
    assert "nonsense: there is no such setting." in said
    assert "refusal_text: is not taken from an address." in said
    assert address(app) == {"preset": "balanced", "top_k": "5"}

    app.button(key="close_address").click().run()

    assert "nonsense" not in texts(app)

    other = another()
    other.query_params.update({f"{'x' * 500}{n}": "1" for n in range(20)} | {"collection": "../elsewhere"})
    other.run()
    problems = [text.value for text in other.text if text.value.startswith("x")]
    assert [len(problem) for problem in problems] == [sharing.MAX_CHARS] * sharing.MAX_SAID
    assert "and 16 more" in texts(other)
    assert (other.session_state.plumbline.collection, collections(library)) == ("default", ("default",))
    assert address(other) == {}


def test_given_a_collection_when_chosen_then_the_address_names_it_and_a_new_session_opens_it(
    page: AppTest, library: Path
) -> None:
    create_collection(library, "contracts")
    page.run()
    collection_field(page).set_value("contracts").run()
    assert address(page) == {"collection": "contracts"}

    other = another()
    other.query_params["collection"] = "contracts"
    other.run()

    assert other.session_state.plumbline.collection == "contracts"
    assert collection_field(other).value == "contracts"
    collection_field(page).set_value("default").run()
    assert address(page) == {}


def upload(page: AppTest, data: bytes, name: str = "settings.yaml") -> AppTest:
    field = next(field for field in page.file_uploader if field.key.startswith("load_settings_"))
    return field.set_value((name, data, "application/yaml")).run()


def test_given_a_file_when_loaded_then_its_settings_stand_on_the_fields_and_the_library_keeps_its_model(
    page: AppTest,
) -> None:
    upload(page, b"preset: scoping\ntop_k: 5\nembedding_model: another\n")

    assert field(page, "preset").value == "scoping"
    assert field(page, "knob_top_k").value == 5
    assert value(page, "embedding_model") == "multilingual-e5-small"
    assert page.toast[0].value == "Settings taken from the file. Values that differ from its preset: 1"
    assert address(page) == {"preset": "scoping", "top_k": "5"}


@each(
    ("data", "said"),
    [
        (b"min_correctness: 7", "Setting 'min_correctness' cannot be 7"),
        (b"preset: no-such", "There is no preset named 'no-such'."),
        (b"top_k: [1, 2]", "Setting 'top_k' cannot be [1, 2]"),
        (b"top_k: 0", "Setting 'top_k' cannot be 0"),
        (b"- a\n- b", "The file cannot be read as settings."),
        (b"\xff\xfe", "The file cannot be read as settings."),
        (b"a: [", "The file cannot be read as settings."),
        (b"[" * 5000, "The file cannot be read as settings."),
        (b"", "The file cannot be read as settings."),
        (b"#" * (sharing.MAX_KB * 1024 + 1), "The file is larger than settings are."),
    ],
)
def test_given_a_bad_file_when_read_then_the_error_says_why_and_what_to_do(data: bytes, said: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        sharing.from_yaml(data)

    assert said in caught.value.problem
    assert caught.value.remedy


def test_given_a_bad_file_when_loaded_then_a_short_error_says_why_until_a_good_one_follows(
    page: AppTest,
) -> None:
    move(page, "min_correctness", 0.6)
    before = page.session_state.plumbline.settings()

    upload(page, b"no_such: 1")
    assert "There is no setting named 'no_such'." in texts(page)
    assert "What to do:" in texts(page)
    assert page.session_state.plumbline.settings() == before
    page.button(key="close_error").click().run()
    assert "no_such" not in texts(page)

    upload(page, yaml.safe_dump({"top_k": "9" * 5000}).encode())
    assert max(len(text.value) for text in page.text if "top_k" in text.value) <= sharing.MAX_CHARS
    upload(page, b"top_k: 5")
    assert "9" * 50 not in texts(page)
    assert field(page, "knob_top_k").value == 5


def test_given_what_the_environment_says_when_a_file_is_read_then_it_stays_under_the_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """S4-3."""
    monkeypatch.setenv("RAG_MIN_DOCUMENTS", "3")
    monkeypatch.setenv("RAG_CONFIDENCE_THRESHOLD", "0.5")

    settings = sharing.from_yaml(b"max_distance: 0.7")

    assert (settings.min_documents, settings.max_distance) == (3, 0.7)
