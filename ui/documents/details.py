"""Shows what reading found in a document, and what people state about it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import streamlit as st

from rag_core.domain.documents import Document, Metadata
from rag_core.engine import Engine
from rag_core.errors import InvalidInput, RagError
from rag_core.ingest.reading.pdf_findings import page_list
from rag_core.library.stored.sources import described
from rag_core.service.people import Right
from ui.app.jobs.progress import writing
from ui.app.naming import shown_date, told_date
from ui.app.people import visitor
from ui.app.texts import say, show_error, spoken, tell
from ui.documents.catalogue import language_name, strategy_name
from ui.documents.keeping import write
from ui.documents.page_by_page import go_to

MAX_PAGES = 12  # that are offered to be looked at
# what a problem's sentence says, and the key of its remedy; the sentences are those of the PDF reader
REMEDIES: Mapping[str, str] = MappingProxyType(
    {
        "its text may be missing or wrong": "page_damaged",
        "was repaired while reading": "repaired",
        "is damaged and could not be read": "page_damaged",
        "reading pictures is switched off": "ocr_off",
        "RapidOCR cannot read it": "ocr_script",
        "no language data of Tesseract": "ocr_missing",
        "the library of Tesseract": "ocr_missing",
        "without the language data": "ocr_missing",
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
        "attached file": "attached",
    }
)


def remedy_key(problem: str) -> str:
    """The key of what to do about a problem of a document."""
    return next((key for words, key in REMEDIES.items() if words in problem), "other")


def size_in_words(size: int) -> str:
    """Bytes with their unit, as the table shows them: 1.2 MB."""
    value = float(size)
    for unit in ("B", "KB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def show_findings(engine: Engine, document: Document) -> None:
    """Facts, then problems with their remedies, then the pages that want to be looked at."""
    st.subheader(say("documents.facts"), anchor=False)
    st.text("\n".join(facts(engine, document)))
    if not engine.tools.knows(document.language):
        _show_problem(tell("documents.unknown_language"), tell("documents.unknown_language_remedy"))
    for problem in document.problems:
        _show_problem(problem, tell(f"documents.remedy_{remedy_key(problem)}"))
    _show_pages(document)


def facts(engine: Engine, document: Document) -> list[str]:
    """Sentences on what was found; document text may be in them."""
    snapshot = engine.library.snapshot
    found = [
        *([tell("documents.is_title", title=document.title)] if document.title != document.name else []),
        tell("documents.is_named", name=document.name),
        tell(
            "documents.pages_language",
            pages=f"{document.page_count:,}",
            language=language_name(document.language),
            passages=f"{len(snapshot.rows_of(document.id)):,}",
        ),
        tell("documents.cut_as", strategy=strategy_name(document.strategy), evidence=document.strategy_evidence)
        + " "
        + tell(f"documents.{document.strategy}_means"),
        told_date(document.date, document.date_source),
        tell(
            "documents.size_fact",
            size=size_in_words(snapshot.size_bytes(document.id)),
            file=size_in_words(document.size_bytes),
        ),
    ]
    if document.ocr_pages:
        found.append(tell("documents.read_by_ocr", pages=page_list(document.ocr_pages)))
    if document.rapidocr_pages:
        found.append(tell("documents.read_by_rapidocr", pages=page_list(document.rapidocr_pages)))
    if document.unreadable_pages:
        found.append(tell("documents.could_not_read", pages=page_list(document.unreadable_pages)))
    if document.hidden_chars:
        found.append(tell("documents.hidden_chars", n=f"{document.hidden_chars:,}"))
    if not (document.unreadable_pages or document.hidden_chars or document.problems):
        found.append(tell("documents.all_well"))
    return found


def _show_problem(problem: str, remedy: str) -> None:
    with st.container(border=True):
        st.badge(say("problems.badge"), icon=":material/error:", color="orange")
        st.text(spoken(problem))
        st.text(remedy)


def _show_pages(document: Document) -> None:
    """Pages that could not be read, and those read by OCR, each with a button that shows it."""
    pages = sorted({*document.unreadable_pages, *document.ocr_pages})
    if not pages:
        return
    st.caption(say("documents.look"))
    with st.container(horizontal=True, gap="small"):
        for page in pages[:MAX_PAGES]:
            st.button(
                say("documents.look_page", n=page),
                key=f"look_{document.id}_{page}",
                icon=":material/visibility:",
                on_click=go_to,
                args=(document.id, page),
                help=say("documents.look_help"),
            )
    if len(pages) > MAX_PAGES:
        st.caption(say("documents.look_more", n=len(pages) - MAX_PAGES))


OWN = ("title", "date", "authority", "verified")


def edit(engine: Engine, document: Document) -> None:
    """Title, date, authority, verified, and free keys; saved as a whole."""
    if not visitor.may(Right.UPLOAD):
        return
    known, busy = document.metadata, writing()
    st.subheader(say("metadata.heading"), anchor=False)
    with st.form(key=f"metadata_{document.id}"):
        title = st.text_input(
            say("metadata.title"), known.title, key=f"title_{document.id}", help=say("metadata.title_help")
        )
        left, right = st.columns(2)
        with left:
            date = st.text_input(
                say("metadata.date"),
                known.date,
                key=f"date_{document.id}",
                help=say("metadata.date_help"),
                placeholder=shown_date(document.date, document.date_source) or tell("metadata.date_example"),
            )
        with right:
            authority = st.text_input(
                say("metadata.authority"),
                "" if known.authority is None else f"{known.authority:g}",
                key=f"authority_{document.id}",
                help=say("metadata.authority_help"),
            )
        verified = st.checkbox(
            say("metadata.verified"), known.verified, key=f"verified_{document.id}", help=say("metadata.verified_help")
        )
        free = st.text_area(
            say("metadata.free"),
            "\n".join(f"{key}={value}" for key, value in known.values.items()),
            key=f"free_{document.id}",
            help=say("metadata.free_help"),
        )
        saved = st.form_submit_button(say("metadata.save"), disabled=busy, help=say("documents.busy") if busy else None)
    if not saved:
        return
    try:
        values = {"title": title or "", "date": date or "", "authority": authority or "", "verified": str(verified)}
        wanted = described(Metadata(), values | free_values(free or ""))
    except RagError as error:
        show_error(error)
    else:
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
            raise InvalidInput(
                f"{line!r} is not key=value.", remedy="Write one key=value in each line, such as class=10."
            )
        if key in OWN:
            raise InvalidInput(f"{key!r} has its own field.", remedy="Fill that field, or use another key.")
        values[key] = value
    return values
