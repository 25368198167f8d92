"""What each command does. Progress goes to a terminal's standard error only, so that pipes stay quiet."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from rag_core.configuration import load_settings, parse_value
from rag_core.decision import Decision
from rag_core.engine import Engine
from rag_core.entrypoints.jsonl import Bad, read_rows
from rag_core.entrypoints.show import printable, show_decision, show_documents, show_settings
from rag_core.errors import InvalidInput, RagError
from rag_core.ingest.library import AddReport
from rag_core.ingest.sources import Source, sources_from
from rag_core.settings import Settings
from rag_core.wiring import build_engine, rebuild_library


def index(args: argparse.Namespace) -> int:
    """Add documents; every problem is reported, the other files go on."""
    settings = _settings(args)
    problems = 0
    if args.rebuild:  # before the library is opened: it may be of another model, or damaged
        problems += _report(rebuild_library(_folder(args), args.namespace, settings, _progress()))
    engine = build_engine(_folder(args), args.namespace, settings)
    if args.resume:
        password = _password(args)
        passwords = {row.id: password for row in engine.library.unfinished()} if password else None
        problems += _report(engine.library.resume(settings, passwords=passwords, progress=_progress()))
    if args.paths:
        problems += _add(engine, args.paths, settings, args)
    elif not (args.resume or args.rebuild):
        raise InvalidInput("There is nothing to index.", remedy="Name files or folders, or use --resume or --rebuild.")
    known = len(engine.library.snapshot.documents)
    print(f"{known} documents in namespace {args.namespace!r}.", file=sys.stderr)
    return 1 if problems else 0


def ask(args: argparse.Namespace) -> int:
    """Answer one question in words, or a file of them as JSON lines."""
    settings = _settings(args)
    if (args.question is None) == (args.questions is None):
        raise InvalidInput("Give either one question or --questions FILE.", remedy='Try: python -m rag_core ask "What is …?"')
    with _library_folder(args) as folder:
        engine = build_engine(folder, args.namespace, settings)
        problems = _add(engine, args.documents, settings, args) if args.documents else 0
        filters = _pairs(args.filter)
        if args.question is not None:
            decision = engine.ask(args.question, settings, filters=filters)
            text = json.dumps(decision.to_json(), ensure_ascii=False, indent=2) if args.json else show_decision(decision)
            with _output(args.out) as out:
                print(text, file=out)
            return 1 if problems else 0
        rows = read_rows(args.questions, ("id", "question"))
        return 1 if problems + _answer_all(engine, rows, settings, filters, args.out) else 0


def _answer_all(engine: Engine, rows: list[dict[str, Any] | Bad], settings: Settings, filters: dict[str, str], path: Path | None) -> int:
    problems, progress = 0, _progress()
    with _output(path) as out:
        for done, row in enumerate(rows, 1):
            if isinstance(row, Bad):
                print(row, file=sys.stderr)
                problems += 1
                continue
            try:
                decision = engine.ask(str(row["question"]), settings, documents=row.get("documents") or None, filters=filters)
            except RagError as error:
                decision = Decision.failed(str(row["question"]), str(error))
                print(f"question {row['id']!r}: {error}", file=sys.stderr)
                problems += 1
            print(json.dumps(decision.to_json(str(row["id"])), ensure_ascii=False), file=out)
            if progress:
                progress("questions", done, len(rows))
    return problems


def judge(args: argparse.Namespace) -> int:
    """Check given answers against given contexts, one verdict a line."""
    from rag_core.audit.verdicts import judge_claim
    from rag_core.wiring import embedder

    settings = _settings(args)
    model = embedder(settings.embedding_model, settings.embedding_precision)
    problems, progress = 0, _progress()
    rows = read_rows(args.input, ("id", "context", "answer"))
    with _output(args.out) as out:
        for done, row in enumerate(rows, 1):
            if isinstance(row, Bad):
                print(row, file=sys.stderr)
                problems += 1
                continue
            print(json.dumps(judge_claim(row, settings, model), ensure_ascii=False), file=out)
            if progress:
                progress("claims", done, len(rows))
    return 1 if problems else 0


def documents(args: argparse.Namespace) -> int:
    """List what is indexed."""
    engine = build_engine(_folder(args), args.namespace, _settings(args))
    print(show_documents(engine.library.snapshot.documents, as_json=args.json))
    unfinished = engine.library.unfinished()
    if unfinished:
        print(f"{len(unfinished)} files are not finished; run: python -m rag_core index --resume", file=sys.stderr)
    return 0


def delete(args: argparse.Namespace) -> int:
    """Remove documents by id or name."""
    engine = build_engine(_folder(args), args.namespace, _settings(args))
    problems = 0
    for name in args.names:
        found = [d.id for d in engine.library.snapshot.find(name)]
        if not found:
            print(f"There is no document {name!r}. Run `python -m rag_core documents` to see them.", file=sys.stderr)
            problems += 1
        for document in found:
            engine.library.delete(document)
    return 1 if problems else 0


def settings(args: argparse.Namespace) -> int:
    """Show every setting."""
    print(show_settings(_settings(args), as_json=args.json))
    return 0


def _settings(args: argparse.Namespace) -> Settings:
    return load_settings(args.preset, args.config, dict(parse_value(pair) for pair in args.set), os.environ)


def _folder(args: argparse.Namespace) -> Path:
    return args.library or Path(os.environ.get("RAG_LIBRARY", "library"))


@contextmanager
def _library_folder(args: argparse.Namespace) -> Iterator[Path]:
    """The named library; a temporary one when documents are given for this call only."""
    if args.library is None and args.documents:
        with tempfile.TemporaryDirectory(prefix="plumbline-") as folder:
            yield Path(folder)
    else:
        yield _folder(args)


def _add(engine: Engine, paths: Iterable[Path], settings: Settings, args: argparse.Namespace) -> int:
    """Index these paths; returns how many problems there were."""
    password = _password(args)
    meta = _pairs(getattr(args, "meta", []))
    problems, sources = 0, []
    for found in sources_from(list(paths)):
        if isinstance(found, Source):
            sources.append(found.described(meta, password))
        else:
            print(printable(f"{found.problem} {found.remedy}"), file=sys.stderr)
            problems += 1
    return problems + _report(engine.library.add(sources, settings, progress=_progress()))


def _password(args: argparse.Namespace) -> str | None:
    """The first line of the password file; never an argument, which other users of the machine could read."""
    if args.password_file is None:
        return None
    try:
        return str(args.password_file.read_text(encoding="utf-8").split("\n")[0].rstrip("\r"))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{args.password_file} cannot be read: {error}.", remedy="Give a text file whose first line is the password."
        ) from error


def _report(report: AddReport) -> int:
    for name, error in report.problems:
        print(printable(f"{name}: {error.problem} {error.remedy}"), file=sys.stderr)
    return len(report.problems)


def _pairs(values: Iterable[str]) -> dict[str, str]:
    pairs = {}
    for value in values:
        key, equals, text = value.partition("=")
        if not equals or not key.strip():
            raise InvalidInput(f"{value!r} is not KEY=VALUE.", remedy="Write it like class=10.")
        pairs[key.strip()] = text.strip()
    return pairs


@contextmanager
def _output(path: Path | None) -> Iterator[TextIO]:
    if path is None:
        yield sys.stdout
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8") as out:
            yield out


def _progress() -> Any:
    """A progress line on a terminal; None in a pipe."""
    if not sys.stderr.isatty():
        return None

    def line(what: str, done: int, total: int) -> None:
        end = "\n" if done == total else ""
        print(f"\r\x1b[K{printable(what.replace(chr(10), ' '))[:60]}  {done}/{total}", end=end, file=sys.stderr, flush=True)

    return line
