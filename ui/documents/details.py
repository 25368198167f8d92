"""One document: what reading found in it, what people state about it, and its pages, each with the passages that begin
there, which is how it was cut.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from rag_core.domain.documents import Document, Metadata
from rag_core.domain.passages import PassageKind
from rag_core.engine import Engine
from rag_core.errors import InvalidInput
from rag_core.ingest.reading.pdf_findings import page_list
from rag_core.library.stored.sources import described
from rag_core.service.people import Right
from ui.app import tables
from ui.app.elements import badge, shown_error
from ui.app.jobs.progress import writing
from ui.app.people import visitor
from ui.app.scope import shown_date, told_date
from ui.app.texts import say, spoken, tell
from ui.documents import whole
from ui.documents.catalogue import language_name, size_in_words, strategy_name
from ui.documents.keeping import write

# what a problem's sentence says, and the key of its remedy; the sentences are those of the PDF reader
REMEDIES: Mapping[str, str] = {
    "its text may be missing or wrong": "page_damaged",
    "was repaired while reading": "repaired",
    "is damaged and could not be read": "page_damaged",
    "reading pictures is switched off": "ocr_off",
    "RapidOCR cannot read it": "ocr_script",
    "no language data of Tesseract": "ocr_missing",
    "the library of Tesseract": "ocr_missing",
    "Tesseract's language data for": "ocr_missing",
    "text recognition failed": "ocr_failed",
    "text recognition found nothing": "ocr_failed",
    "allowed for reading pictures": "ocr_time",
    "too large to be read": "ocr_large",
    "Reading this page took more": "page_ended",
    "made the reader crash": "page_ended",
    "This page was not read, since": "page_ended",
    "have no value in the file": "letters",
    "of this page were read": "page_long",
    "its first ones are kept": "stated_long",
    "hidden text were left out": "hidden_out",
    "crossed out or marked as void": "struck",
    "attached file": "attached",
}
NO_PROBLEMS = ("struck", "stated_long")  # there is nothing to do about them


def show_findings(engine: Engine, document: Document) -> None:
    """Facts, then problems with their remedies."""
    st.header(say("documents.facts"), anchor=False)
    st.text("\n".join(facts(engine, document)))
    if not engine.tools.knows(document.language):
        _show_problem(tell("documents.unknown_language"), tell("documents.unknown_language_remedy"))
    for problem in document.problems:
        key = next((key for words, key in REMEDIES.items() if words in problem), "other")
        _show_problem(problem, tell(f"documents.remedy_{key}"), "documents.note" if key in NO_PROBLEMS else "")


def facts(engine: Engine, document: Document) -> list[str]:
    """Sentences on what was found; document text may be in them."""
    snapshot, language = engine.library.snapshot, language_name(document.language)
    passages, size = len(snapshot.rows_of(document.id)), size_in_words(snapshot.size_bytes(document.id))
    cut = tell(
        "documents.cut_as", strategy=strategy_name(document.strategy), evidence=spoken(document.strategy_evidence)
    )
    found = [
        *([tell("documents.is_title", title=document.title)] if document.title != document.name else []),
        tell("documents.is_named", name=document.name),
        tell("documents.pages_language", pages=document.page_count, language=language, passages=passages),
        f"{cut} {tell(f'documents.{document.strategy}_means')}",
        told_date(document.date, document.date_source),
        tell("documents.size_fact", size=size, file=size_in_words(document.size_bytes)),
    ]
    for key, pages in (
        ("documents.read_by_ocr", document.ocr_pages),
        ("documents.read_by_rapidocr", document.rapidocr_pages),
        ("documents.could_not_read", document.unreadable_pages),
    ):
        if pages:
            found.append(tell(key, pages=page_list(pages)))
    if document.hidden_chars:
        found.append(tell("documents.hidden_chars", n=document.hidden_chars))
    if not (document.unreadable_pages or document.hidden_chars or document.problems):
        found.append(tell("documents.all_well"))
    return found


def _show_problem(problem: str, remedy: str, note: str = "") -> None:
    with st.container(border=True):
        badge(note or "problems.badge", *(("info", "gray") if note else ("error", "orange")))
        st.text(spoken(problem))
        st.text(remedy)


OWN = ("title", "date", "authority", "verified")


def edit(engine: Engine, document: Document) -> None:
    """Title, date, authority, verified, and free keys; saved as a whole."""
    if not visitor.may(Right.UPLOAD):
        return
    known, busy = document.metadata, writing()
    st.header(say("metadata.heading"), anchor=False)
    shown = {
        "title": known.title,
        "date": known.date,
        "authority": "" if known.authority is None else f"{known.authority:g}",
        "free": "\n".join(f"{key}={value}" for key, value in known.values.items()),
    }
    with st.form(key=f"metadata_{document.id}"):

        def ask(name: str, field: Callable[..., str | None] = st.text_input, **more: Any) -> str:
            key, help = f"{name}_{document.id}", say(f"metadata.{name}_help")
            return field(say(f"metadata.{name}"), shown[name], key=key, help=help, **more) or ""

        values = {"title": ask("title")}
        left, right = st.columns(2)
        with left:
            example = shown_date(document.date, document.date_source) or tell("metadata.date_example")
            values["date"] = ask("date", placeholder=example)
        with right:
            values["authority"] = ask("authority")
        about: dict[str, Any] = {"key": f"verified_{document.id}", "help": say("metadata.verified_help")}
        values["verified"] = str(st.checkbox(say("metadata.verified"), known.verified, **about))
        free = ask("free", st.text_area)
        saved = st.form_submit_button(say("metadata.save"), disabled=busy, help=say("documents.busy") if busy else None)
    if saved:
        with shown_error():
            wanted = described(Metadata(), values | free_values(free))
            write(lambda: engine.library.set_metadata(document.id, wanted))


def free_values(text: str) -> dict[str, str]:
    """The free values from lines of key=value.

    Raises:
        InvalidInput: a line without a key, or with a key that has its own field.
    """
    values = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        key, equals, value = (part.strip() for part in line.partition("="))
        if not equals or not key:
            remedy = "Write one key=value in each line, such as class=10."
            raise InvalidInput(f"{line!r} is not key=value.", remedy=remedy)
        if key in OWN:
            raise InvalidInput(f"{key!r} has its own field.", remedy="Fill that field, or use another key.")
        values[key] = value
    return values


KINDS = {
    PassageKind.PARAGRAPH: "paragraph",
    PassageKind.TABLE: "table_kind",
    PassageKind.CODE: "code_kind",
    PassageKind.LIST: "list",
}


def show_pages(engine: Engine, document: Document) -> None:
    """A page to choose, which opens in its document, and its passages."""
    st.header(say("documents.by_page"), anchor=False, help=say("documents.by_page_help"))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        page = st.number_input(
            say("documents.page_number", n=document.page_count),
            1,
            document.page_count,
            step=1,
            key=f"page_of_{document.id}",
            width=180,
        )
        whole.offer(engine, document.id, page)
    _show_passages(engine, document, page)


def _show_passages(engine: Engine, document: Document, page: int) -> None:
    passages = [passage for passage in engine.library.snapshot.passages_of(document.id) if passage.page == page]
    if not passages:
        st.info(say("documents.no_passages"), icon=":material/info:")
        return
    st.caption(say("documents.passages_here", n=len(passages)))
    rows = [
        {
            "text": passage.text,
            "section": passage.section,
            "kind": tell(f"documents.{KINDS[passage.kind]}"),
            "tokens": passage.tokens,
            "ends": passage.spans[-1].page,
        }
        for passage in passages
    ]
    wide = {"text": "large", "section": "medium"}
    tables.show(rows, "documents.passage_", f"passages_{document.id}", wide=wide, row_height=92)
