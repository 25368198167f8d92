"""Labelled questions: whether the documents answer a question, and with what answer.

Read from files of several forms, and written.
"""

from rag_core.evaluation.labelled.question import LabelledQuestion, Place, given_id, holds_answer
from rag_core.evaluation.labelled.read import RowProblem, read_labelled, read_labelled_files, read_rows
from rag_core.evaluation.labelled.write import csv_cell, to_csv, to_jsonl, to_row

__all__ = [
    "LabelledQuestion",
    "Place",
    "RowProblem",
    "csv_cell",
    "given_id",
    "holds_answer",
    "read_labelled",
    "read_labelled_files",
    "read_rows",
    "to_csv",
    "to_jsonl",
    "to_row",
]
