"""Labelled questions as files that `read_labelled` reads back, equal. CSV cells that a spreadsheet would run are made harmless."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable

from rag_core.labelled.question import LabelledQuestion

FIELDS = ("id", "question", "answerable", "answers", "documents", "places", "language", "kind")
FORMULA = re.compile(r"'*[=+\-@\t\r]")  # what a spreadsheet takes for a formula, behind any quotes that keep it from it


def to_jsonl(questions: Iterable[LabelledQuestion]) -> bytes:
    """One JSON object a line, UTF-8."""
    return "".join(json.dumps(one.to_json(), ensure_ascii=False) + "\n" for one in questions).encode("utf-8")


def to_csv(questions: Iterable[LabelledQuestion]) -> bytes:
    """Comma-separated with a header, UTF-8 with the mark that spreadsheets look for."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(FIELDS)
    for one in questions:
        places = json.dumps([{"document": p.document, "page": p.page} for p in one.places], ensure_ascii=False) if one.places else ""
        row = [one.id, one.question, "yes" if one.answerable else "no", _listed(one.answers), _listed(one.documents), places]
        writer.writerow([csv_cell(value) for value in (*row, one.language, one.kind)])
    return out.getvalue().encode("utf-8-sig")


def csv_cell(text: str) -> str:
    """The text with a quote before it where a spreadsheet would take it for a formula."""
    return f"'{text}" if FORMULA.match(text) else text


def _listed(values: tuple[str, ...]) -> str:
    """One plain text as it is; anything else as a JSON list."""
    plain = len(values) == 1 and "|" not in values[0] and not values[0].startswith("[")
    return values[0] if plain else json.dumps(values, ensure_ascii=False) if values else ""
