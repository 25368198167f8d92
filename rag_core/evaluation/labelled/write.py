"""Writes labelled questions as files that `read_labelled` reads back, equal.

CSV cells that a spreadsheet would run are made harmless.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence

from rag_core.evaluation.labelled.question import PAGED, LabelledQuestion, Place

FIELDS = ("id", "question", "answerable", "answers", "documents", "places", "language", "kind")
# what a spreadsheet takes for a formula, some in full width too, behind any quotes that keep it from it; table.py takes
# one quote off again
FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")


def to_jsonl(questions: Iterable[LabelledQuestion]) -> bytes:
    """One JSON object a line, UTF-8."""
    return "".join(json.dumps(one.to_json(), ensure_ascii=False) + "\n" for one in questions).encode("utf-8")


def to_csv(questions: Iterable[LabelledQuestion]) -> bytes:
    """Comma-separated with a header, UTF-8 with the mark that spreadsheets look for."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(FIELDS)
    for one in questions:
        row = to_row(one) | {"answerable": "yes" if one.answerable else "no"}
        writer.writerow([csv_cell(str(row[name])) for name in FIELDS])
    return out.getvalue().encode("utf-8-sig")


def csv_cell(text: str) -> str:
    """The text with a quote before it where a spreadsheet would take it for a formula."""
    return f"'{text}" if FORMULA.match(text) else text


def to_row(one: LabelledQuestion) -> dict[str, str | bool]:
    """The fields as a table shows them: lists as one text, parted by |; a place as document#page.

    `rows.labelled` reads it back.
    """
    places = _listed([_placed(place) for place in one.places])
    lists = {"answers": _listed(one.answers), "documents": _listed(one.documents), "places": places}
    return {**{name: getattr(one, name) for name in FIELDS}, **lists}


def _placed(place: Place) -> str:
    return f"{place.document}#{place.page}" if place.page or PAGED.search(place.document) else place.document


def _listed(values: Sequence[str]) -> str:
    """Parted by |; as a JSON list where that would be ambiguous."""
    plain = " | ".join(values)
    return (
        json.dumps(values, ensure_ascii=False)
        if plain.startswith("[") or any("|" in value for value in values)
        else plain
    )
