"""Every word on the screens, by key, from `data/screens/<language>/`.

Each part of the screen has a file; a translation is a folder, and English says what it lacks. A session speaks the
language that a person chose on the Settings page, else the browser's, else English. What is recorded or sent as a file
is in English, whatever the screen speaks.

A word that changes with a number is written with its forms, `{n:page|pages}`: in the order of the language's plural
forms for whole numbers, the one for all others last.

`say` is for elements that interpret their text (labels, captions, badges): it takes numbers only, so that nothing
untrusted can reach them through it. `tell` is for elements that do not (`st.text`, alternative texts) and takes
anything. So does `show_error`. `spoken` translates what the core says: it is written there, in English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from string import Formatter
from typing import Any

import streamlit as st
import yaml
from babel import Locale
from streamlit.runtime.scriptrunner_utils.script_run_context import get_script_run_ctx

from rag_core.errors import RagError
from rag_core.language import LANGUAGES
from rag_core.settings import DATA

SCREENS, SENTENCES = DATA / "screens", DATA / "sentences"
LANGUAGE = "en"
PARAMETER = "language"  # in the page's address; the key of the session's field too
_SAME = re.compile(r"\{=([\w.-]+)\}")  # stands for the text of that key, so that a name is written down once
_spoken: ContextVar[str] = ContextVar("spoken", default="")


@cache
def languages() -> Mapping[str, str]:
    """The languages that the screens speak: code and name, each in its own words."""
    return {folder.name: screen(folder.name)["frame.language_name"] for folder in sorted(SCREENS.iterdir())}


def language() -> str:
    """The code of the language that is spoken here; English outside a run of the page."""
    if spoken := _spoken.get():
        return spoken
    if get_script_run_ctx(suppress_warning=True) is None:
        return LANGUAGE
    if PARAMETER not in st.session_state:
        asked = st.query_params.get(PARAMETER)
        st.session_state[PARAMETER] = asked if asked in languages() else _of_browser()
    return str(st.session_state[PARAMETER])


def parameter() -> dict[str, str]:
    """The language in the page's address, so that a reload keeps it; none for the browser's own."""
    return {} if language() == _of_browser() else {PARAMETER: language()}


def keep() -> None:
    """Bring the page's address up to the language."""
    seen = st.query_params.to_dict()
    wanted = {name: value for name, value in seen.items() if name != PARAMETER} | parameter()
    if wanted != seen:
        st.query_params.from_dict(wanted)


def choose() -> None:
    """The field for the language of this session's screens."""
    st.selectbox(
        say("settings.language"),
        list(languages()),
        list(languages()).index(language()),
        format_func=languages().__getitem__,
        key=PARAMETER,
        on_change=_tell_options,
        width=220,
        persist_state="session",
    )


def _tell_options() -> None:
    # the browser sends an option by its words, and would go on sending those of the earlier language
    for key, value in st.session_state.items():
        if value and (isinstance(value, str) or (isinstance(value, list) and isinstance(value[0], str))):
            st.session_state[key] = value


@contextmanager
def speaking(code: str) -> Iterator[None]:
    """Speak this language in the block, or in the function that it decorates."""
    token = _spoken.set(code)
    try:
        yield
    finally:
        _spoken.reset(token)


def screen(code: str = "") -> Mapping[str, str]:
    """All texts of a language, of the one that is spoken without a code, by "part.key"; the part is the file's name."""
    return _texts(code or language())


def say(key: str, **numbers: float) -> str:
    """A text of our own for a label, with numbers filled in.

    Raises:
        KeyError: there is no such text, or it wants another number.
        TypeError: a value is no number; text could be markup.
    """
    wrong = ", ".join(name for name, value in numbers.items() if not isinstance(value, (int, float)))
    if wrong:
        raise TypeError(f"{key}: {wrong} must be a number; show text with tell() in an element that shows it as it is")
    return tell(key, **numbers)


def tell(key: str, **values: object) -> str:
    """A text for an element that shows it as it is; the values may come from documents.

    Raises:
        KeyError: there is no such text, or it wants another value.
    """
    code = language()
    return _words(code).vformat(_texts(code)[key], (), values)


def figure(value: float, form: str) -> str:
    """A number as the language of the screen writes it, by a format such as ".2f" or ".0%"."""
    return _words(language()).format_field(value, form)


def spoken(text: str) -> str:
    """A sentence of the core in the language of the screen; as it is where `data/sentences/` does not have it.

    Words of documents in it stay as they are: show it in an element that does not interpret it.
    """
    return text if language() == LANGUAGE else _spoken_in(language(), text)


@lru_cache(maxsize=4096)
def _spoken_in(code: str, text: str) -> str:
    for end in (len(text), *(found.end(1) for found in reversed([*_BREAK.finditer(text)]))):
        for pattern, words in _sentences(code):
            if found := pattern.fullmatch(text, 0, end):
                said, rest = words.format(*(_named(code, of) for of in found.groups())), text[end:].lstrip()
                return f"{said} {_spoken_in(code, rest)}" if rest else said
    return text


def _named(code: str, said: str) -> str:
    """A list of languages, or of parts that are sentences themselves, in the language of the screen; else as it is."""
    names, known = Locale.parse(code).languages, {LANGUAGES.name(one): one for one in LANGUAGES}
    listed = said.split(", ")
    if {*listed} <= {*known}:
        return ", ".join(names[known[one]] for one in listed)
    return "; ".join(_spoken_in(code, part) for part in said.split("; "))


_BREAK = re.compile(r"([.:])\s")  # where one sentence may end and another begin


@cache
def _sentences(code: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """The sentences of a language; those with most letters of their own come first."""
    path = SENTENCES / f"{code}.yaml"
    rows = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader) if path.exists() else {}
    return tuple(
        (re.compile(re.escape(said).replace(r"\{\}", "(.+?)").replace(r"\(s\)", "s?"), re.DOTALL), words)
        for said, words in sorted(rows.items(), key=lambda row: -len(row[0]))
    )


@speaking(LANGUAGE)
def recorded(key: str, **values: object) -> str:
    """A text that is recorded, such as the name of a set of questions: the same whatever the screen speaks."""
    return tell(key, **values)


class _Words(Formatter):
    """Fills values into the texts of a language; of a word with several forms it takes the one for the number."""

    def __init__(self, code: str) -> None:
        self._form = Locale.parse(code).plural_form
        self._signs = {} if code == LANGUAGE else str.maketrans(",.", "\u202f,")  # signs in numbers

    def format_field(self, value: Any, format_spec: str) -> str:
        """A value by its format, or the word for a number."""
        *fewer, others = format_spec.split("|")
        if not fewer:
            filled = str(super().format_field(value, format_spec))
            return filled.translate(self._signs).replace("%", " %") if format_spec else filled
        return dict(zip(("one", "few"), fewer, strict=False)).get(self._form(value), others)


_words = cache(_Words)


@cache
def _texts(code: str) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for path in (*sorted((SCREENS / LANGUAGE).glob("*.yaml")), *sorted((SCREENS / code).glob("*.yaml"))):
        # strings only: "on" is a word here
        rows = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader) or {}
        found |= {f"{path.stem}.{key}": text for key, text in rows.items()}
    return {key: _SAME.sub(lambda other: found[other[1]], text) for key, text in found.items()}


def _of_browser() -> str:
    code = (st.context.locale or "").partition("-")[0]
    return code if code in languages() else LANGUAGE


def show_error(error: RagError, name: str = "") -> None:
    """One problem with its remedy; `name` is the file it is about."""
    with st.container(border=True):
        st.badge(say("problems.badge"), icon=":material/error:", color="red")
        if name:
            st.text(name)
        st.text(spoken(error.problem))
        st.text(tell("problems.remedy", remedy=spoken(error.remedy)))
