"""Documents on the screen: their names and dates; and the scope of a search: some of them, or values of metadata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import streamlit as st

from rag_core.domain.documents import DateSource, Document
from ui.app.elements import select
from ui.app.texts import say, tell

ID_DIGITS = slice(len("sha256:"), len("sha256:") + 8)  # eight hex digits tell the documents of a library apart
MAX_LINE_CHARS = 48  # a file's name within a line that says more; chosen: half of such a line on a small laptop
FIRST_KEYS = ("language", "date", "verified")  # before the user's own keys


@dataclass(frozen=True, slots=True)
class Scope:
    """Documents by id, none for all; and metadata that a document must have, by key."""

    documents: tuple[str, ...] = ()
    filters: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


def choose_scope(documents: Iterable[Document]) -> Scope:
    """The fields, and what was chosen; a document deleted meanwhile stays chosen: else all would be searched."""
    known = tuple(documents)
    names = unique_names(known)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen = st.multiselect(
            say("scope.documents"),
            list(names),
            format_func=lambda id: names.get(id, say("scope.deleted")),
            key="documents",
            placeholder=say("scope.all"),
            persist_state="session",
        )
        return Scope(tuple(chosen), _filters(known))


def _filters(documents: tuple[Document, ...]) -> Mapping[str, str]:
    """One field for each key that tells documents apart."""
    choices = {
        key: values for key, values in values_by_key(documents).items() if len(values) > 1 or key not in FIRST_KEYS
    }
    if not choices:
        return {}
    with st.popover(say("scope.filter"), icon=":material/filter_alt:"):
        st.caption(say("scope.filter_help"))
        chosen: dict[str, str] = {}
        for number, (key, values) in enumerate(choices.items()):
            # the key may be the user's own word, which a label would interpret
            st.text(key)
            value = st.selectbox(
                say("scope.value", n=number + 1),
                ["", *values],
                key=f"filter_{key}",
                label_visibility="collapsed",
                format_func=lambda value: value or tell("scope.any"),
                persist_state="session",
            )
            if value:
                chosen[key] = value
        return chosen


def values_by_key(documents: Iterable[Document]) -> dict[str, list[str]]:
    """The metadata values that occur, sorted, by key: language, year, verified, then the user's own keys."""
    found: dict[str, set[str]] = {key: set() for key in FIRST_KEYS}
    for document in documents:
        found["language"].add(document.language)
        found["verified"].add(str(document.metadata.verified).lower())
        if document.date:
            found["date"].add(document.date[:4])
        for key, value in document.metadata.values.items():
            found.setdefault(key, set()).add(value)
    return {key: sorted(values) for key, values in found.items() if values}


def choose_page(documents: Iterable[Document], key: str, chosen: str = "", page: int = 0) -> tuple[str, int]:
    """The fields for where an answer stands: a document's id, "" for none, and its page, 0 where that is not known.

    They begin at the ones that somebody named; that document stays an option where it was deleted.
    """
    known = tuple(documents)
    names, pages = unique_names(known), {one.id: one.page_count for one in known}
    options = ["", *names, *([chosen] if chosen and chosen not in names else [])]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = {"": say("scope.not_said")} | names
        shown, at = lambda id: words.get(id, say("scope.deleted")), options.index(chosen)
        document = select("scope.holds", options, f"{key}_document", shown, at)
        if not document:
            return "", 0
        last, first = max(pages.get(document, 0), page, 1), page if document == chosen else 0
        about: dict[str, Any] = {"key": f"{key}_page_{document}", "help": say("scope.page_help"), "width": 160}
        return document, int(st.number_input(say("scope.page", n=last), 0, last, first, 1, **about))


def shortened(name: str) -> str:
    """A name for a line that says more: of a long one the beginning and the end, where people tell files apart."""
    if len(name) <= MAX_LINE_CHARS:
        return name
    end = MAX_LINE_CHARS // 2
    return f"{name[: MAX_LINE_CHARS - end - 1].rstrip()}…{name[-end:].lstrip()}"


def unique_names(documents: Iterable[Document]) -> dict[str, str]:
    """Labels by document id, no two alike: the file name, with digits of the id where several documents share it."""
    named = {document.id: document.name or "(no name)" for document in documents}
    shared = Counter(named.values())
    labels = {id: f"{name} ({id[ID_DIGITS]})" if shared[name] > 1 else name for id, name in named.items()}
    taken = Counter(labels.values())
    return {id: label if taken[label] == 1 else f"{label} {id}" for id, label in labels.items()}


def shown_date(date: str, source: DateSource) -> str:
    """A date, ISO, with the word that it is only the file's where it is; for text that is not interpreted."""
    return tell("dates.file", date=date) if date and source is DateSource.FILE else date


def told_date(date: str, source: DateSource) -> str:
    """A sentence with a document's date and whose it is, or that none is known. For text that is not interpreted."""
    return tell(f"dates.told_{source or 'none'}", date=date)
