"""The screens speak the language of the person; what is decided, recorded and sent stays as it is in English."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Formatter
from typing import Any

import pytest
import yaml
from babel import Locale
from folding import each
from google.protobuf.message import Message
from page_kit import JOB_SECONDS, ask, asked_of, session_of, settle
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

from rag_core.ingest.reading.pdf_findings import HIDDEN_KINDS, hidden_text
from rag_core.settings import Settings
from ui.app import first_run, texts
from ui.app.texts import LANGUAGE, SCREENS, languages, recorded, say, screen, speaking, spoken
from ui.ask import export
from ui.ask.waiting import EXAMPLES, offered
from ui.settings import sharing
from ui.settings.saved_presets import FRONT, PUBLISHED

APP = str(Path(__file__).resolve().parents[2] / "app.py")
UI = Path(APP).parent / "ui"
OTHERS = sorted(set(languages()) - {LANGUAGE})
HELP = "help.yaml"  # in English it stands with the settings and presets
QUESTIONS = ("How many vacation days do employees have?", "What is the capital of France?", "Was ist eine Wärmepumpe?")
PAGES = ("ask", "documents", "lab", "health", "settings")


def rows(code: str) -> dict[str, Mapping[str, str]]:
    """The texts of a language as they stand in its own files."""
    return {
        path.name: yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
        for path in sorted((SCREENS / code).glob("*.yaml"))
    }


def fields(text: str) -> Iterator[tuple[str, str]]:
    """The placeholders of a text with their formats."""
    return (
        (name, form or "")
        for _, name, form, _ in Formatter().parse(re.sub(r"\{=[\w.-]+\}", "", text))
        if name is not None
    )


def shapes(text: str) -> tuple[set[tuple[str, str]], set[str]]:
    """What a translation has in common with its text: values with their formats, and the texts that it names."""
    return {one for one in fields(text) if "|" not in one[1]}, set(re.findall(r"\{=([\w.-]+)\}", text))


@each("code", OTHERS)
def test_given_a_language_then_it_has_the_files_keys_and_placeholders_of_english(code: str) -> None:
    english, other = rows(LANGUAGE), rows(code)
    helped = {*(knob.name for knob in Settings.knobs()), *(f"preset_{name}" for name in (*FRONT, *PUBLISHED)), "mode"}

    assert set(other.pop(HELP)) == helped
    assert {name: list(texts) for name, texts in other.items()} == {
        name: list(texts) for name, texts in english.items()
    }
    wrong = [
        f"{name}: {key}"
        for name, texts in english.items()
        for key, text in texts.items()
        if shapes(text) != shapes(other[name][key])
    ]
    assert wrong == []


@each("code", sorted(languages()))
def test_given_a_word_that_changes_with_a_number_then_it_has_a_form_for_each_plural_of_its_language(code: str) -> None:
    forms = {Locale.parse(code).plural_form(n) for n in range(100)}
    wrong = [
        key
        for key, text in screen(code).items()
        for _, form in fields(text)
        if "|" in form and form.count("|") + 1 != len(forms)
    ]

    assert wrong == []


@each(
    ("code", "said"),
    [
        ("en", ["0 sentences", "1 sentence", "2 sentences", "5 sentences"]),
        ("de", ["0 Sätze werden", "1 Satz wird", "2 Sätze werden", "5 Sätze werden"]),
        ("cs", ["0 vět", "1 věta", "2 věty", "5 vět"]),
    ],
)
def test_given_a_number_when_told_then_its_word_has_the_form_for_it(code: str, said: list[str]) -> None:
    with speaking(code):
        assert all(words in say("waiting.check", n=n) for n, words in zip((0, 1, 2, 5), said, strict=True))


def test_given_a_text_that_a_language_lacks_then_english_says_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for code, words in (("en", "title: Hello\nabout: There are {n:d} {n:page|pages}"), ("cs", "title: Ahoj")):
        (tmp_path / code).mkdir()
        (tmp_path / code / "greeting.yaml").write_text(words, encoding="utf-8")
    monkeypatch.setattr(texts, "SCREENS", tmp_path)
    monkeypatch.setattr(texts, "_texts", texts._texts.__wrapped__)

    with speaking("cs"):
        assert [say("greeting.title"), say("greeting.about", n=3)] == ["Ahoj", "There are 3 pages"]


@each("path", sorted(UI.rglob("*.py")), ids=lambda path: path.name)
def test_given_a_module_when_imported_then_it_says_nothing_yet(path: Path) -> None:
    """Else everybody reads the language of who came first."""
    early: list[ast.AST] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            early += [*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)]
        elif isinstance(node, (ast.Module, ast.ClassDef)):
            early += [one for one in node.body if not isinstance(one, (ast.FunctionDef, ast.ClassDef))]
    called = {ast.unparse(one.func) for part in early for one in ast.walk(part) if isinstance(one, ast.Call)}

    assert not called & {"say", "tell", "screen", "language"}


def shown(app: AppTest) -> set[str]:
    """Every text that the elements of the page carry."""
    found: set[str] = set()

    def read(message: Message) -> None:
        if getattr(message, "language", "") == "json":  # a decision, as it is sent
            return
        for field, value in message.ListFields():
            for one in value if field.is_repeated else [value]:
                if isinstance(one, Message):
                    read(one)
                elif isinstance(one, str) and field.name != "autocomplete":
                    found.add(re.sub("<p>.*?</p>", "", one))  # what the core says of a check

    def walk(node: Any) -> None:
        if isinstance(getattr(node, "proto", None), Message):
            read(node.proto)
        for child in getattr(node, "children", {}).values():
            walk(child)

    walk(app._tree)
    return found


def english_on(app: AppTest, code: str) -> list[str]:
    """Texts of English that the page shows, of those that this language has other words for: as a whole, or longer ones
    within another text.
    """
    on_page, other = shown(app), screen(code)
    together = "\n".join(on_page)
    found = []
    for key, text in screen(LANGUAGE).items():
        filled = re.escape(re.sub(r"\{[^}]*\}", "\0", text)).replace("\0", ".*?")
        words = len(re.findall(r"[a-z]{2,}", re.sub(r"\{[^}]*\}", "", text)))
        if other[key] != text and words > ("{" in text) and key != "frame.language_name":
            within = len(re.findall(r"[a-z]{2,}", text.split("{")[0])) > 3 and text.split("{")[0] in together
            if within or any(re.fullmatch(filled, one) for one in on_page):
                found.append(f"{key}: {text}")
    return found


def test_given_a_language_when_the_pages_are_looked_through_then_no_english_is_left_and_decisions_are_the_same(
    library: Path,
) -> None:
    left, decided = {}, []
    for code in (LANGUAGE, *OTHERS):
        app = AppTest.from_file(APP, default_timeout=JOB_SECONDS)
        app.query_params[texts.PARAMETER] = code
        app.run()
        with speaking(code):  # as the page does: a test says which option is chosen by its words
            for name in PAGES if code != LANGUAGE else ():
                app.switch_page(f"pages/{name}.py").run()
                left[code, name] = english_on(app, code)
            app.switch_page("pages/ask.py").run()
            for question in QUESTIONS:
                settle(ask(app, question))
                left[code, question] = english_on(app, code)
        decisions = [one.decision.to_json() for one in session_of(app).history]
        decided.append([{name: one[name] for name in one if name not in ("trace", "metadata")} for one in decisions])

    assert [f"{where}: {one}" for where, found in left.items() for one in found] == []
    assert len(decided[0]) == len(QUESTIONS)
    assert decided[1:] == decided[:1] * len(OTHERS)


def test_given_the_language_field_when_changed_then_every_page_speaks_it_and_a_reload_keeps_it(
    app: AppTest, library: Path
) -> None:
    app.switch_page("pages/settings.py").run()
    assert app.title[0].value == "Settings"
    assert texts.PARAMETER not in app.query_params

    app.selectbox(key=texts.PARAMETER).set_value("cs").run()
    assert app.title[0].value == "Nastavení"
    told = {key: app.selectbox(key=key).proto for key in ("preset", "stage")}  # a browser would send the old words on
    assert {key: (one.set_value, one.raw_value) for key, one in told.items()} == {
        "preset": (True, "Vyvážená"),
        "stage": (True, "Hledání pasáží"),
    }
    with speaking("cs"):  # as the page does: a test says which option is chosen by its words
        app.switch_page("pages/documents.py").run()
        assert app.title[0].value == "Dokumenty"
        app.switch_page("pages/settings.py").run()
        assert app.selectbox(key=texts.PARAMETER).value == "cs"

    again = AppTest.from_file(APP, default_timeout=JOB_SECONDS)
    again.query_params.update(app.query_params)
    assert again.run().title[0].value == "Zeptejte se svých dokumentů"
    with speaking("cs"):
        again.switch_page("pages/settings.py").run()
        again.selectbox(key=texts.PARAMETER).set_value("en").run()
    assert again.title[0].value == "Settings"
    assert texts.PARAMETER not in again.query_params


@each(
    ("locale", "asked", "code"),
    [("de-AT", "", "de"), ("fr-FR", "", "en"), (None, "", "en"), ("de-AT", "en", "en"), ("cs", "../../x", "cs")],
)
def test_given_a_browser_when_it_opens_the_page_then_that_speaks_its_language_where_it_can(
    monkeypatch: pytest.MonkeyPatch, locale: str | None, asked: str, code: str
) -> None:
    def opens() -> None:
        import streamlit as st

        from ui.app.texts import language

        st.text(language())

    monkeypatch.setattr(ContextProxy, "locale", locale)
    app = AppTest.from_function(opens)
    if asked:
        app.query_params[texts.PARAMETER] = asked

    assert app.run().text[0].value == code


def test_given_a_file_when_it_is_made_on_a_screen_of_any_language_then_it_is_in_english(page: AppTest) -> None:
    asked = asked_of(ask(page, QUESTIONS[0]))
    settings = asked.settings.changed(top_k=7, facts_mode="off")
    files = []
    for code in sorted(languages()):
        with speaking(code):
            files.append(
                [
                    export.file_name(asked),
                    [one for one in export.blocks_of_all([asked]) if "UTC" not in one["text"]],
                    sharing.to_yaml(settings),
                    recorded("lab_typed.default_set"),
                ]
            )

    assert files[1:] == files[:1] * (len(files) - 1)
    assert QUESTIONS[0] in str(files[0][1])


def test_given_a_language_when_examples_are_offered_then_the_one_in_it_comes_first() -> None:
    there = first_run.sample_ids().values()

    for code, question in (("de", "Wann läuft ein API-Schlüssel ab?"), ("en", EXAMPLES[0][0])):
        with speaking(code):
            assert offered(there)[0][0] == question
    assert offered(()) == []


def test_given_a_german_screen_then_the_field_for_files_says_its_limit_in_german(app: AppTest) -> None:
    app.query_params["language"] = "de"

    page = app.run()

    styles = "".join(one.proto.body for one in page.get("html"))
    assert '--upload:"Hochladen"' in styles
    assert ".st-key-load_settings_0{" in styles
    assert '--takes:"Höchstens 1 MB je Datei"' in styles  # of settings; documents have the server's limit


def test_given_hidden_text_of_several_kinds_then_all_of_the_sentence_is_in_the_language_of_the_screen() -> None:
    kinds = {HIDDEN_KINDS["tiny"]: [(3, 40)], HIDDEN_KINDS["layer"]: [(1, 5), (2, 6)]}
    (said,) = hidden_text(kinds)

    with speaking("de"):
        assert spoken(said) == (
            "Seiten 1-3: 51 Zeichen verborgenen Textes wurden ausgelassen: 40 zu klein zum Lesen (Seite 3); "
            "11 in einer ausgeschalteten Ebene (Seiten 1-2)."
        )
