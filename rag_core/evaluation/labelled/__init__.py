"""Labelled questions: whether the documents answer a question, and what the answer is; read from files of several shapes, and written."""

from rag_core.evaluation.labelled.question import LabelledQuestion, Place, holds_answer
from rag_core.evaluation.labelled.read import RowProblem, read_labelled, read_labelled_files, read_rows
from rag_core.evaluation.labelled.write import csv_cell, to_csv, to_jsonl, to_row

__all__ = [
    "LabelledQuestion", "Place", "RowProblem", "csv_cell", "holds_answer", "read_labelled", "read_labelled_files", "read_rows", "to_csv",
    "to_jsonl", "to_row",
]  # fmt: skip
