"""Finds what the acronyms of a question stand for: where a document defines them, else by a short list.

"What does the SLA say of repairs?" is then also searched by "service level agreement (SLA)". Only the lexical ranking
gets them; a question without an acronym that is known is searched as it is. The words come from documents: they are
used as index terms alone, and shown to nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import regex
import yaml

from rag_core.domain.ports import Corpus
from rag_core.language import terms
from rag_core.settings import DATA

MAX_ACRONYMS = 3  # looked up of one question; chosen
MAX_PASSAGES = 10  # read for each: the best by the acronym itself; chosen
_WORDS = 5  # more words than letters that a long form has at most: Schwartz and Hearst, PSB 2003
_ACRONYM = regex.compile(r"(?<![\p{L}\p{M}\p{N}])\p{Lu}[\p{Lu}\p{N}]{1,7}(?![\p{L}\p{M}\p{N}])")
_BRACKET = regex.compile(r"\(([^()]{2,120})\)")


def widened(question: str, language: str, corpus: Corpus, rows: Sequence[int] | None) -> tuple[str, ...]:
    """Index terms of what a question's acronyms stand for in the passages of these rows, or all; perhaps none."""
    found: list[str] = []
    for acronym in acronyms(question):
        found += terms(*next(_defined(acronym, language, corpus, rows), (listed(acronym, language), language)))
    return tuple(dict.fromkeys(found))


def acronyms(question: str) -> tuple[str, ...]:
    """The words of capitals in a question, each once; none where all of it is in capitals."""
    if question.isupper():
        return ()
    return tuple(dict.fromkeys(match[0] for match in _ACRONYM.finditer(question)))[:MAX_ACRONYMS]


def listed(acronym: str, language: str) -> str:
    """The long form of a well-known acronym in a language; empty where it is on no list."""
    return _listed().get(language, {}).get(acronym, "")


def long_form(acronym: str, text: str) -> str:
    """The definition of an acronym in a text: "service level agreement (SLA)", or the other way round; or ""."""
    for bracket in _BRACKET.finditer(text):
        if bracket[1].strip() == acronym:
            before = text[: bracket.start()].split()[-min(len(acronym) + _WORDS, 2 * len(acronym)) :]
            found = _spelled(acronym, " ".join(before))
        elif text[: bracket.start()].rstrip().endswith(acronym):
            whole = " ".join(bracket[1].split())
            found = whole if _spelled(acronym, whole) == whole else ""
        else:
            continue
        if found:
            return found
    return ""


def _defined(acronym: str, language: str, corpus: Corpus, rows: Sequence[int] | None) -> Iterator[tuple[str, str]]:
    """Long forms in the passages that hold an acronym, the best one first, each with the language of its passage."""
    for row, _ in corpus.lexical.search(terms(acronym, language), MAX_PASSAGES, rows):
        passage = corpus.passages[row]
        if found := long_form(acronym, passage.text):
            yield found, passage.language


def _spelled(acronym: str, text: str) -> str:
    """The shortest end of a text that holds an acronym's letters in order (Schwartz and Hearst, PSB 2003)."""
    at = len(text)
    for place in range(len(acronym) - 1, -1, -1):
        at -= 1
        while at >= 0 and (
            text[at].casefold() != acronym[place].casefold() or (place == 0 and at > 0 and text[at - 1].isalnum())
        ):
            at -= 1
        if at < 0:
            return ""
    found = text[at:]
    return found if " " in found and acronym not in found.split() else ""


@cache
def _listed() -> Mapping[str, Mapping[str, str]]:
    read: dict[str, Any] = yaml.safe_load((DATA / "acronyms.yaml").read_text(encoding="utf-8"))
    return {language: {str(name): str(text) for name, text in rows.items()} for language, rows in read.items()}
