"""All questions of a session with their answers as one file to send: a table for a spreadsheet, or a text to read.

What comes from documents and users is text in it and nothing else, as in `ui.ask.export`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import streamlit as st

from rag_core.domain.claims import Citation
from rag_core.ingest.reading.sheet import compose_sheet
from ui.app import tables
from ui.app.asked import Asked
from ui.app.people.collections import shown_name
from ui.app.texts import say, tell
from ui.ask.export import Block, block, how_sure, to_markdown
from ui.ask.how_sure import limit_of, percents
from ui.ask.refusal import why_refused


def offer(asked: Sequence[Asked]) -> None:
    """Three buttons for these questions, oldest first; the files are made when they are clicked."""
    name = say("all_asked.file")
    with st.container(horizontal=True, vertical_alignment="center", key="all_asked"):
        st.caption(say("all_asked.about"), width="content")
        for label, ending, mime, make in (
            ("all_asked.csv", "csv", "text/csv", lambda: tables.to_csv(rows(asked))),
            ("export.pdf", "pdf", "application/pdf", lambda: compose_sheet(blocks(asked))),
            ("export.markdown", "md", "text/markdown", lambda: to_markdown(blocks(asked))),
        ):
            st.download_button(
                say(label), make, f"{name}.{ending}", mime, key=f"all_asked_{ending}", icon=":material/download:", on_click="ignore",
                type="tertiary",
            )  # fmt: skip


def rows(asked: Sequence[Asked]) -> tables.Rows:
    """One row a question, by the names of the columns."""
    found = []
    for number, one in enumerate(asked, 1):
        decision, value, limit = one.decision, one.measurements.correctness, limit_of(one)
        sure, least = percents(value, limit.threshold if limit is not None else None) if value is not None else ("", None)
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


def blocks(asked: Sequence[Asked]) -> list[Block]:
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
