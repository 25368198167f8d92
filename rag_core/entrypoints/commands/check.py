"""A release gate for documents: decisions of an earlier run are asked again over other documents and compared."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from pathlib import Path
from typing import Any

from rag_core.domain.decision import Decision
from rag_core.domain.status import AnswerStatus
from rag_core.entrypoints.commands.terminal import (
    add_documents,
    answer_rows,
    chosen_settings,
    library_for,
    printable,
    tell,
)
from rag_core.errors import InvalidInput, InvalidSetting
from rag_core.records.changes import Change, seen, shown, told
from rag_core.wiring import open_engine


def check(args: argparse.Namespace) -> int:
    """Ask each pinned question again and name the answers that are not the same.

    Returns:
        1 where one was lost or changed, or could not be checked; else 0.

    Raises:
        InvalidSetting: the file is not there, or is empty.
    """
    if not args.pinned.is_file() or not args.pinned.stat().st_size:
        raise InvalidSetting(f"{args.pinned} holds no decisions.", remedy="Give a file that `ask --out` wrote.")
    settings, found = chosen_settings(args), Counter[Change]()
    with library_for(args) as folder:
        engine = open_engine(folder, args.collection, settings)
        problems = add_documents(engine, args.documents, settings, args) if args.documents else 0

        def asked(row: dict[str, Any]) -> Decision:
            try:
                before, words = seen(row), shown(row).text
            except (LookupError, TypeError, ValueError, AttributeError) as error:
                raise InvalidInput("This is no decision.", remedy="Give what `ask --out` wrote.") from error
            decision = engine.ask(row["question"], settings)
            if decision.status is AnswerStatus.ERROR:
                raise InvalidInput(decision.explanation, remedy="Check it again.")
            now = decision.to_json()
            change = before.change(seen(now))
            found[change] += 1
            if change is not Change.SAME:
                print(printable(f"{decision.question} {told(change, words, shown(now))}"))
            return decision

        problems += answer_rows(args.pinned, asked, args.out or Path(os.devnull))
    counts = ", ".join(f"{found[one]} {one}" for one in Change)
    tell(f"{counts}, {problems} could not be checked.")
    return 1 if problems or found[Change.LOST] or found[Change.CHANGED] else 0
