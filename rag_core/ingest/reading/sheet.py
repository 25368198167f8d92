"""Prints a sheet of text, rows and pictures as a PDF, in the child process that also opens PDFs."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence

from rag_core.errors import IngestError
from rag_core.ingest.limits import DEFAULT_LIMITS, Limits
from rag_core.ingest.reading import pdf_process


def compose_sheet(blocks: Sequence[Mapping[str, object]], *, limits: Limits = DEFAULT_LIMITS) -> bytes:
    """A PDF of these blocks, top to bottom; `pdf_worker.sheet` lists their kinds.

    Texts are set as they are, pictures are PNGs in base64.

    Raises:
        IngestError: it takes too much time or memory, or cannot be set.
    """
    request = {
        "sheet": True,
        "memory": limits.memory_bytes,
        "cpu": limits.cpu_seconds,
        "cpu_page": 0,
        "pages": 0,
        "ocr_seconds": 0,
    }
    sheet = b""
    for event in pdf_process.events(request, json.dumps(list(blocks)).encode(), wall_seconds=limits.wall_seconds):
        try:
            sheet = base64.b64decode(event["pdf"], validate=True)
        except (KeyError, TypeError, binascii.Error):
            raise IngestError("The sheet could not be printed.", remedy="Export it as Markdown.") from None
    return sheet
