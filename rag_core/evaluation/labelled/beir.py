"""The shape of the BEIR benchmark: queries in one table, in another which documents are relevant to each, with a score."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.evaluation.labelled.rows import lowered
from rag_core.evaluation.labelled.table import Table

_JUDGED = {"query_id", "corpus_id", "score"}


def is_qrels(table: Table) -> bool:
    """Whether a table holds judgements of documents."""
    return bool(table.rows) and set(lowered(table.rows[0])) >= _JUDGED


def joined(queries: Sequence[Table], qrels: Sequence[Table]) -> list[Table]:
    """The queries that were judged, each answerable when a document is relevant to it; that document is the place of its answer.

    A query without a judgement is of another split of the benchmark, not unanswerable: such are counted in one problem.
    """
    relevant: dict[str, list[str]] = {}
    for table in qrels:
        for row in map(lowered, table.rows):
            if _JUDGED <= set(row):
                documents = relevant.setdefault(str(row["query_id"]), [])
                if _is_positive(str(row["score"])):
                    documents.append(str(row["corpus_id"]))
    found = []
    for table in queries:
        rows, numbers, left_out = [], [], 0
        for number, row in zip(table.numbers, map(lowered, table.rows), strict=True):
            key = str(row.get("_id", row.get("id", "")))
            if key not in relevant:
                left_out += 1
                continue
            places = [{"document": name} for name in dict.fromkeys(relevant[key])]
            rows.append({"id": key, "question": row.get("text", row.get("question")), "answerable": bool(places), "places": places})
            numbers.append(number)
        note = [(0, f"{left_out:,} queries have no judgement and were left out")] if left_out else []
        found.append(Table(table.name, tuple(rows), tuple(numbers), (*table.problems, *note)))
    return found


def _is_positive(score: str) -> bool:
    try:
        return float(score) > 0
    except ValueError:
        return False
