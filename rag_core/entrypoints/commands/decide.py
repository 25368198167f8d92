"""The command `decide`: questions over passages that something else retrieved. It keeps and opens no library."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rag_core.domain.decision import Decision
from rag_core.entrypoints.terminal.common import answer_rows, chosen_settings, output
from rag_core.entrypoints.terminal.jsonl import Bad, read_rows
from rag_core.entrypoints.terminal.show import json_text, show_decision
from rag_core.errors import InvalidInput
from rag_core.library.ready import document_values
from rag_core.over import decide_over


def decide(args: argparse.Namespace) -> int:
    """Decide one question over a file of passages, in words or as JSON; or each row of a file, as JSON lines."""
    settings = chosen_settings(args)
    one = args.question is not None and args.passages is not None and args.input is None
    many = args.question is None and args.passages is None and args.input is not None
    if one:
        passages = _passages(args.passages)
        decision = decide_over(args.question, passages, settings)
        text = (
            json_text(decision.to_json(), indent=2) if args.json else show_decision(decision, document_values(passages))
        )
        with output(args.out) as out:
            print(text, file=out)
        return 0
    if not many:
        raise InvalidInput(
            "Give either a question and --passages FILE, or --input FILE.",
            remedy='Try: python -m rag_core decide "What is …?" --passages retrieved.jsonl',
        )

    def decided(row: dict[str, Any]) -> Decision:
        passages: Any = row.get("passages")  # a row that lacks them is an error, one with none is refused
        return decide_over(row["question"], passages, settings)

    return 1 if answer_rows(args.input, decided, args.out) else 0


def _passages(path: Path) -> list[dict[str, Any]]:
    """The passages of a file; one that cannot be read ends the command, as an answer from the others would not be what
    was asked.
    """
    rows: list[dict[str, Any]] = []
    for row in read_rows(path, ("text",)):
        if isinstance(row, Bad):
            raise InvalidInput(
                f"{row}.", remedy='Write one passage a line, such as {"text": …, "document": …, "page": …}.'
            )
        rows.append(row)
    return rows
