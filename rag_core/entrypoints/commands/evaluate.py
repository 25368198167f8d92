"""`evaluate` runs a labelled set, prints its error rates with exact intervals, and writes the report."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence

from rag_core.decision.batch import ReplaySet, replay_many
from rag_core.domain.trace import several
from rag_core.engine import Engine
from rag_core.entrypoints.commands.terminal import (
    add_documents,
    chosen_settings,
    labelled_questions,
    library_for,
    progress_line,
    tell,
)
from rag_core.errors import InvalidInput
from rag_core.evaluation import Ran, Rate, Report, Results, answer_hits, begin, failing, marks, report, run, with_model
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.library.disk.files import storage_problems, write_atomically
from rag_core.records.stored import RunHead
from rag_core.settings import Settings
from rag_core.settings.configuration import retention
from rag_core.wiring import as_built, open_engine, records

SCHEMA_VERSION = 1


def evaluate(args: argparse.Namespace) -> int:
    """Measure what is not recorded yet, and print and write the figures; an interrupted run goes on."""
    settings = chosen_settings(args)
    questions, problems = labelled_questions(args.questions)
    with library_for(args) as folder:
        settings = as_built(folder, args.collection, settings)
        engine = open_engine(folder, args.collection, settings)
        problems += add_documents(engine, args.documents, settings, args) if args.documents else 0
        store = records(folder, args.collection)
        try:
            store.prune_rejected(retention(os.environ).rejected_days)
            head = _begun(
                engine, args.name or args.questions[0].stem, args.questions[0].stem, questions, settings, store
            )
            ran = run(engine, head, store, progress_line(), budget_tokens=args.budget_tokens)
            by_id = store.results(head.id, engine.library.snapshot.page_text)
        finally:
            store.close()
    settings, questions = head.settings, tuple(question for question in questions if question.id in by_id)
    measured = [by_id[question.id] for question in questions]
    outcomes = replay_many(ReplaySet.of(measured), settings)
    marked = marks(questions, outcomes, answer_hits(questions, measured), measured)
    found = report(questions, measured, outcomes, marked)
    print(described(found))
    about = {
        "schema_version": SCHEMA_VERSION,
        "set": head.set_name,
        "settings": settings.model_dump(mode="json"),
        "settings_hash": settings.hash(),
        "calibration": head.calibration,
        "embedding_model": head.model,
        "library_generation": head.version,
        "started": head.started,
        "model_tokens": sum(measurements.llm_trace.tokens for measurements in measured if measurements.llm_trace),
    }
    with storage_problems("keeping the report"):
        if args.out:
            write_atomically(
                args.out,
                (json.dumps({**about, **found.to_json()}, ensure_ascii=False, indent=1) + "\n").encode("utf-8"),
                private=False,
            )
        if args.failing:
            write_atomically(args.failing, failing(questions, measured, settings, marked), private=False)
    for said in _ended(ran, args.budget_tokens):
        tell(said)
    return 1 if problems + ran.failed + ran.over_budget else 0


def _ended(ran: Ran, budget: int | None) -> Iterator[str]:
    """The lines about a run that did not reach its end, or took tokens."""
    if ran.tokens:
        yield f"The language model took {ran.tokens} tokens."
    if ran.over_budget:
        done = ran.measured + ran.reused
        yield f"Stopped: the budget of {budget} tokens is spent, {done} of {ran.total} questions measured."
        yield "With --library, the same command goes on where it stopped."
    if ran.failed:
        yield f"Could not be measured: {several(ran.failed, 'question')}; --failing FILE says why."


def _begun(
    engine: Engine, name: str, set_name: str, questions: Sequence[LabelledQuestion], settings: Settings, store: Results
) -> RunHead:
    """The run of this name, questions and settings that was interrupted, or a new one."""
    if not engine.library.snapshot.documents:
        raise InvalidInput(
            "There are no documents to ask.", remedy="Name them with --documents, or a library that holds some."
        )
    for head in store.runs():
        same = (head.name, head.settings) == (name, with_model(engine, settings)) and head.done < head.total
        if same and store.run_questions(head.id) == tuple(questions):
            return head
    return begin(engine, name, set_name, questions, settings, store)


def described(found: Report) -> str:
    lines = [f"{several(found.questions, 'question')}, {found.not_measured} of them could not be measured."]
    if found.needs_model:
        lines.append(
            f"{found.needs_model} questions would need the language model again under these settings; they are in no "
            f"rate."
        )
    rows = (
        ("false refusals", found.false_refusals, "answerable questions"),
        ("wrong answers", found.wrong_answers, "unanswerable questions"),
        ("missed answers", found.missed_answers, "answers whose right text is known"),
        ("answered", found.answered, "questions"),
    )
    lines += [f"{name:15} {_share(rate)}  {rate.k} of {rate.n} {of}" for name, rate, of in rows]
    for name, parts in found.by.items():
        lines.append(f"\nby {name}: false refusals, wrong answers, missed answers")
        lines += [
            f"  {part[:40]:40} {'  '.join(f'{rate.k:4} of {rate.n:4}' for rate in rates)}"
            for part, rates in parts.items()
        ]
    lines.append("\nmilliseconds: median, 95th percentile")
    lines += [f"  {stage:15} {p50:8.1f} {p95:8.1f}" for stage, (p50, p95) in found.latency.items()]
    return "\n".join(lines)


def _share(rate: Rate) -> str:
    if rate.share is None:
        return f"{'none':21}"
    return f"{rate.share:.3f} ({rate.interval.low:.3f} to {rate.interval.high:.3f})"
