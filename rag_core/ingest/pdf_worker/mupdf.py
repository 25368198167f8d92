"""Imports PyMuPDF alone, in the child that reads a file and in the one that reads pictures."""

from __future__ import annotations

import sys
from typing import Any

# layout: a neural model; 0.3 s of start and 100 MB together with what it runs on
UNWANTED = ("pymupdf.layout", "pymupdf4llm", "onnxruntime", "networkx", "tabulate")


def import_pymupdf() -> Any:
    """PyMuPDF without the packages that it imports where they are installed: none of them reads a page for us.

    `onnxruntime` opens its maker's telemetry database when it is imported, and looks up the collector's address.
    """
    for unwanted in UNWANTED:
        sys.modules[unwanted] = None  # type: ignore[assignment]  # an import of it raises ImportError, which PyMuPDF expects
    import pymupdf  # here, because it is slow, and limits come first

    # pymupdf4llm set this when it was imported, and with it the boxes of all words were measured
    tools: Any = pymupdf.TOOLS
    tools.unset_quad_corrections(True)
    return pymupdf
