"""Sheets to send: blocks of text, tables and pictures, as a PDF or as Markdown.

What comes from documents and users is text in a file and nothing else: Markdown's signs are escaped, and the PDF is set
from plain text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from rag_core.ingest.reading.pdf import compose_sheet
from rag_core.service.markdown import escaped
from ui.app.downloads import download

ICONS = ("picture_as_pdf", "description")
Block = Mapping[str, Any]


def offer(make: Callable[[], Sequence[Block]], name: str, key: str, icons: Sequence[str] = ICONS, **more: Any) -> None:
    """Two buttons, for a PDF and a file of Markdown with what `make` gives, made when they are clicked."""
    pdf, markdown = icons
    download("export.pdf", lambda: compose_sheet(make()), f"{name}.pdf", f"{key}_pdf", icon=pdf, **more)
    download("export.markdown", lambda: to_markdown(make()), f"{name}.md", f"{key}_markdown", icon=markdown, **more)


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
    lines += [f"[page-{number}]: data:image/png;base64,{png}" for number, png in enumerate(pictures, 1)]
    return "\n\n".join(lines) + "\n"


def now() -> str:
    """The day and the minute, in UTC."""
    return datetime.now(UTC).isoformat(" ", "minutes")[:16]


def block(kind: str, text: str) -> Block:
    """One block of text, of a kind that `rag_core.ingest.reading.pdf.compose_sheet` knows."""
    return {"kind": kind, "text": text}
