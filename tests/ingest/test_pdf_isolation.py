"""What the process that reads PDFs loads, and what it may not do: no telemetry."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

from rag_core.ingest import pdf_process

ROOT = Path(__file__).resolve().parents[2]


def in_child(program: str) -> Any:
    """What `program` prints as JSON, run in an environment like the child's."""
    environment = pdf_process.ENVIRONMENT | {"PYTHONPATH": str(ROOT)}
    said = subprocess.run([sys.executable, "-B", "-c", textwrap.dedent(program)], env=environment, capture_output=True, check=True)
    return json.loads(said.stdout)


def test_given_the_reader_when_it_imports_its_pdf_library_then_no_telemetry_comes_with_it_and_boxes_are_measured_as_ever() -> None:
    said = in_child(
        """
        import json, sys
        from rag_core.ingest.pdf_worker.child import import_pymupdf
        pymupdf = import_pymupdf()
        from rag_core.ingest.pdf_worker import glyphs, hidden, marks, ocr, pages, rows
        unwanted = ("onnxruntime", "networkx", "tabulate", "pymupdf4llm", "numpy", "pymupdf.layout")
        print(json.dumps({
            "modules": [name for name in unwanted if sys.modules.get(name)],
            "mapped": [line for line in open("/proc/self/maps") if "onnx" in line] if sys.platform == "linux" else [],
            "boxes": bool(pymupdf.TOOLS.unset_quad_corrections()),
        }))
        """
    )

    assert said == {"modules": [], "mapped": [], "boxes": True}
    assert pdf_process.ENVIRONMENT["ORT_DISABLE_TELEMETRY"] == "1"
