"""One decision, or all questions of a session, as a file to send: Markdown, PDF, or a table for a spreadsheet.

What comes from documents and users is text in it and nothing else: Markdown's signs are escaped, and the PDF is set
from plain text.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from rag_core.domain.claims import Citation
from rag_core.engine import Engine
from rag_core.errors import RagError
from rag_core.ingest.reading.pdf import compose_sheet, render_page
from rag_core.ingest.reading.pdf_facts import form_of
from rag_core.service.markdown import escaped
from ui.app import tables
from ui.app.asked import Asked
from ui.app.people.collections import shown_name
from ui.app.texts import LANGUAGE, say, speaking, tell
from ui.ask.checks import measured, required, state_in_words
from ui.ask.evidence import as_read
from ui.ask.how_sure import limit_of, line, percents
from ui.ask.refusal import why_refused

MAX_PICTURES = 6  # pages that are drawn: more than answers cite
DPI = 100.0  # dots an inch of a page: small print can be read, and a page has about 150 kB
ALL = "questions-and-answers"  # the name of the file with all of them, before its ending
NAME_CHARS = 40  # the question's part of a file's name
Block = Mapping[str, Any]


def offer(engine: Engine, asked: Asked) -> None:
    """Two buttons; the files are made when they are clicked."""
    name = file_name(asked)
    with st.container(horizontal=True):
        st.download_button(
            say("export.pdf"),
            lambda: compose_sheet(blocks(engine, asked)),
            f"{name}.pdf",
            "application/pdf",
            key="export_pdf",
            icon=":material/picture_as_pdf:",
            on_click="ignore",
        )
        st.download_button(
            say("export.markdown"),
            lambda: to_markdown(blocks(engine, asked)),
            f"{name}.md",
            "text/markdown",
            key="export_markdown",
            icon=":material/description:",
            on_click="ignore",
        )


def file_name(asked: Asked) -> str:
    """The outcome and the question in letters and digits, such as "answer-how-often-is-it-calibrated"."""
    words = "-".join(re.findall(r"\w+", asked.question.casefold()))[:NAME_CHARS].strip("-_")
    return "-".join(part for part in ("answer" if asked.decision.answered else "refusal", words) if part)


@speaking(LANGUAGE)
def blocks(engine: Engine, asked: Asked) -> list[Block]:
    """All that is told of a decision, top to bottom, in the form of `rag_core.ingest.reading.pdf.compose_sheet`."""
    decision, now = asked.decision, datetime.now(UTC).isoformat(" ", "minutes")[:16]
    return [
        block("title", say("export.title")),
        block("small", tell("export.about", collection=shown_name(asked.collection), date=now)),
        block("head", say("answer.question")),
        block("lead", asked.question),
        block("head", say("answer.answered") if decision.answered else say("refusal.badge")),
        *([] if decision.answered else [block("lead", why_refused(decision))]),
        *(
            [block("lead" if decision.answered else "text", decision.answer)]
            if decision.answer and decision.may_be is None
            else []
        ),
        *(
            block("text", line)
            for line in (how_sure(asked), *(tell("answer.note", note=note) for note in decision.notes))
            if line
        ),
        *_sources(engine, decision.citations or decision.places, answered=decision.answered),
        block("head", say("export.checks")),
        {"kind": "rows", "rows": _checks(asked)},
        block("head", say("export.settings")),
        block("small", _settings(asked)),
    ]


def to_markdown(of: Sequence[Block]) -> str:
    """The blocks as Markdown in one file; its pictures stand at the end, in base64."""
    lines, pictures = [], []
    for one in of:
        if one["kind"] == "picture":
            pictures.append(one["png"])
            lines.append(f"![{escaped(one['text'])}][page-{len(pictures)}]")
        elif one["kind"] == "rows":
            head, *rows = (
                "| " + " | ".join(escaped(cell).replace("\n", " ") for cell in row) + " |" for row in one["rows"]
            )
            lines.append("\n".join([head, "|" + " --- |" * len(one["rows"][0]), *rows]))
        else:
            text, heading = escaped(one["text"]), {"title": "# ", "head": "## "}.get(one["kind"])
            quoted = "\n".join(f"> {line}" for line in text.split("\n"))
            lines.append(heading + text if heading else quoted if one["kind"] in ("lead", "quote") else text)
    return (
        "\n\n".join(
            [*lines, *(f"[page-{number}]: data:image/png;base64,{png}" for number, png in enumerate(pictures, 1))]
        )
        + "\n"
    )


def block(kind: str, text: str) -> Block:
    """One block of text, of a kind that `rag_core.ingest.reading.pdf.compose_sheet` knows."""
    return {"kind": kind, "text": text}


def how_sure(asked: Asked) -> str:
    """The line of the page on its probability and its limit, without the emphasis."""
    value = asked.measurements.correctness
    # without a passage there is no best sentence
    if value is None or (not asked.decision.answered and not asked.measurements.hits):
        return say("how_sure.none") if asked.decision.answered else ""
    return " ".join(line(asked, value)).replace("**", "")


def _sources(engine: Engine, citations: Sequence[Citation], *, answered: bool) -> Iterator[Block]:
    """Each source with its words, and the pages that they stand on, each once with all of its marks."""
    if citations:
        yield block("head", say("evidence.title") if answered else say("evidence.places"))
    for one in citations:
        yield block("text", tell("evidence.where", id=one.id, title=one.title or one.document, page=one.page_in_words))
        yield from (block("small", text) for text in (one.heading, one.before.text) if text)
        yield block("quote", one.excerpt)
        if one.after.text:
            yield block("small", one.after.text)
        if one.ocr:
            yield block("small", as_read(one))
    pages = list(dict.fromkeys((one.document_id, one.page, one.document) for one in citations))[:MAX_PICTURES]
    for id, page, name in pages:
        marks = [box for one in citations if one.document_id == id for number, box in one.boxes if number == page]
        try:
            if not engine.library.view.page(id, page).width:
                continue  # a text file has no picture
            doubted = [
                box for one in citations if one.document_id == id for number, box in one.doubted if number == page
            ]
            drawn = render_page(engine.library.source(id), page, marks, doubted=doubted, dpi=DPI, form=form_of(name))
        except RagError as error:  # deleted meanwhile, or locked by a password
            yield block("small", f"{name}: {error.problem}")
            continue
        said = tell("export.page", name=name, page=page)
        yield block("small", said)
        yield {"kind": "picture", "text": said, "png": base64.b64encode(drawn).decode()}


def _checks(asked: Asked) -> list[list[str]]:
    head = [say(f"checks.column_{name}") for name in ("check", "state", "measured", "required")]
    rows = [
        [say(f"checks.title_{one.stage}"), state_in_words(one), measured(one), required(one)]
        for one in asked.decision.trace.checks
    ]
    return [head, *rows]


def _settings(asked: Asked) -> str:
    library = asked.measurements.library.version
    return tell(
        "export.fingerprint",
        preset=asked.settings.preset,
        hash=asked.decision.metadata.get("settings_hash", ""),
        library=library,
    )


def offer_all(asked: Sequence[Asked]) -> None:
    """Three buttons for these questions, oldest first; the files are made when they are clicked."""
    with st.container(horizontal=True, vertical_alignment="center", key="all_asked"):
        st.caption(say("all_asked.about"), width="content")
        for label, ending, mime, make in (
            ("all_asked.csv", "csv", "text/csv", lambda: tables.to_csv(rows_of_all(asked))),
            ("export.pdf", "pdf", "application/pdf", lambda: compose_sheet(blocks_of_all(asked))),
            ("export.markdown", "md", "text/markdown", lambda: to_markdown(blocks_of_all(asked))),
        ):
            st.download_button(
                say(label),
                make,
                f"{ALL}.{ending}",
                mime,
                key=f"all_asked_{ending}",
                icon=":material/download:",
                on_click="ignore",
                type="tertiary",
            )


@speaking(LANGUAGE)
def rows_of_all(asked: Sequence[Asked]) -> tables.Rows:
    """One row a question, by the names of the columns."""
    found = []
    for number, one in enumerate(asked, 1):
        decision, value, limit = one.decision, one.measurements.correctness, limit_of(one)
        sure, least = (
            percents(value, limit.threshold if limit is not None else None) if value is not None else ("", None)
        )
        cells = {
            "number": number,
            "question": one.question,
            "outcome": tell("all_asked.answered" if decision.answered else "all_asked.refused"),
            "answer": decision.answer if decision.answered else "",
            "sure": sure if decision.citations or not decision.answered else "",
            "limit": "" if least is None else least,
            "why": "" if decision.answered else why_refused(decision),
            "sources": "\n".join(_where(one) for one in decision.citations),
            "quotes": "\n".join(one.excerpt for one in decision.citations),
        }
        found.append({tell(f"all_asked.column_{name}"): cell for name, cell in cells.items()})
    return found


@speaking(LANGUAGE)
def blocks_of_all(asked: Sequence[Asked]) -> list[Block]:
    """The questions one below the other, each with its answer and where it stands, or why there is none."""
    now = datetime.now(UTC).isoformat(" ", "minutes")[:16]
    answered = sum(one.decision.answered for one in asked)
    made = [
        block("title", say("all_asked.title")),
        block("small", tell("export.about", collection=shown_name(asked[-1].collection), date=now)),
        block("text", tell("all_asked.counts", n=len(asked), answered=answered, refused=len(asked) - answered)),
    ]
    for number, one in enumerate(asked, 1):
        decision = one.decision
        made += [
            block("head", f"{number}. {one.question}"),
            block("lead", decision.answer if decision.answered else tell("turns.refused", why=why_refused(decision))),
        ]
        if said := how_sure(one):
            made.append(block("small", said))
        for citation in decision.citations:
            made += [block("text", _where(citation)), block("quote", citation.excerpt)]
    return made


def _where(one: Citation) -> str:
    return tell("evidence.where", id=one.id, title=one.title or one.document, page=one.page_in_words)
