"""Well-known acronyms of a question, by a short list: "the SLA" is also searched by "service level agreement".

Only the lexical ranking gets the words; a question without an acronym of the list is searched as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import regex
import yaml

from rag_core.language import terms
from rag_core.settings import DATA

MAX_ACRONYMS = 3  # looked up of one question; chosen
_ACRONYM = regex.compile(r"(?<![\p{L}\p{M}\p{N}])\p{Lu}[\p{Lu}\p{N}]{1,7}(?![\p{L}\p{M}\p{N}])")


def widened(question: str, language: str) -> tuple[str, ...]:
    """Index terms of what a question's acronyms stand for; perhaps none, as where all of it is in capitals."""
    found = () if question.isupper() else tuple(dict.fromkeys(match[0] for match in _ACRONYM.finditer(question)))
    return tuple(dict.fromkeys(term for one in found[:MAX_ACRONYMS] for term in terms(listed(one, language), language)))


def listed(acronym: str, language: str) -> str:
    """The long form of a well-known acronym in a language; empty where it is on no list."""
    return _listed().get(language, {}).get(acronym, "")


@cache
def _listed() -> Mapping[str, Mapping[str, str]]:
    read: dict[str, Any] = yaml.safe_load((DATA / "acronyms.yaml").read_text(encoding="utf-8"))
    return {language: {str(name): str(text) for name, text in rows.items()} for language, rows in read.items()}
