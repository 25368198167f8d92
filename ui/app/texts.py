"""Every word on the screens, by key, from `data/screens/<language>/`.

Each part of the screen has a file; a translation is a folder.

`say` is for elements that interpret their text (labels, captions, badges): it takes numbers only, so that nothing
untrusted can reach them through it. `tell` is for elements that do not (`st.text`, alternative texts) and takes
anything. So does `show_error`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

import streamlit as st
import yaml

from rag_core.errors import RagError
from rag_core.settings import DATA

SCREENS = DATA / "screens"
LANGUAGE = "en"
_SAME = re.compile(r"\{=([\w.-]+)\}")  # stands for the text of that key, so that a name is written down once


@cache
def screen(language: str = LANGUAGE) -> Mapping[str, str]:
    """All texts of a language by "part.key", the part being the file's name."""
    found: dict[str, str] = {}
    for path in sorted((SCREENS / language).glob("*.yaml")):
        # strings only: "on" is a word here
        rows = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader) or {}
        found |= {f"{path.stem}.{key}": text for key, text in rows.items()}
    return {key: _SAME.sub(lambda other: found[other[1]], text) for key, text in found.items()}


def say(key: str, **numbers: float) -> str:
    """A text of our own for a label, with numbers filled in.

    Raises:
        KeyError: there is no such text, or it wants another number.
        TypeError: a value is no number; text could be markup.
    """
    wrong = [name for name, value in numbers.items() if not isinstance(value, (int, float))]
    if wrong:
        raise TypeError(
            f"{key}: {', '.join(wrong)} must be a number; show text with tell() in an element that does not interpret "
            f"it"
        )
    return screen()[key].format(**numbers)


def tell(key: str, **values: object) -> str:
    """A text for an element that shows it as it is; the values may come from documents.

    Raises:
        KeyError: there is no such text, or it wants another value.
    """
    return screen()[key].format(**values)


def show_error(error: RagError, name: str = "") -> None:
    """One problem with its remedy; `name` is the file it is about."""
    with st.container(border=True):
        st.badge(say("problems.badge"), icon=":material/error:", color="red")
        if name:
            st.text(name)
        st.text(error.problem)
        st.text(tell("problems.remedy", remedy=error.remedy))
