"""The terminal as all commands use it: settings and library from the arguments, JSON lines, output, progress."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from rag_core.domain.decision import Decision
from rag_core.domain.documents import Metadata
from rag_core.domain.ports import Progress
from rag_core.engine import Engine
from rag_core.entrypoints.show import json_text, printable
from rag_core.errors import InvalidInput, RagError
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.evaluation.labelled_files import read_labelled_files
from rag_core.library.library import AddReport
from rag_core.library.stored.bounds import require_metadata
from rag_core.library.stored.sources import Source, described, sources_from
from rag_core.settings import Settings
from rag_core.settings.configuration import load_settings, parse_value
from rag_core.settings.endpoints import model_environment

MAX_PROBLEMS = 10  # rows that are named one by one


def chosen_settings(args: argparse.Namespace) -> Settings:
    """Preset, environment with the file of secrets, file and `--set`, a later one over an earlier one."""
    return load_settings(
        args.preset, args.config, dict(parse_value(pair) for pair in args.set), model_environment(os.environ)
    )


def library_folder(args: argparse.Namespace) -> Path:
    """`--library`, else $RAG_LIBRARY, else `library` here."""
    return args.library or Path(os.environ.get("RAG_LIBRARY", "library"))


@contextmanager
def library_for(args: argparse.Namespace) -> Iterator[Path]:
    """The named library; a temporary one when documents are given for this call only."""
    if args.library is None and args.documents:
        with tempfile.TemporaryDirectory(prefix="plumbline-") as folder:
            yield Path(folder)
    else:
        yield library_folder(args)


def note_other_store(engine: Engine, settings: Settings) -> None:
    """Say it where another vector store was asked for than the one that the library is in, and how to change it."""
    wanted, kept = settings.vector_store, engine.library.vector_store
    if wanted not in (kept, Settings.model_fields["vector_store"].default):
        print(
            f"The library stays in the vector store {kept}, where it was built. To change it, run: python -m rag_core "
            f"migrate {wanted}",
            file=sys.stderr,
        )


def add_documents(engine: Engine, paths: Iterable[Path], settings: Settings, args: argparse.Namespace) -> int:
    """Index these paths; returns how many problems there were."""
    word = password(args)
    meta = key_values(getattr(args, "meta", []))
    require_metadata(described(Metadata(), meta))  # what is wrong with it is said before a file is read
    refused = []

    def usable() -> Iterator[Source]:  # one file after the other, each stored before the next is read
        for found in sources_from(list(paths)):
            if isinstance(found, Source):
                yield found.described(meta, word)
            else:
                print(printable(f"{found.problem} {found.remedy}"), file=sys.stderr)
                refused.append(found)

    report = engine.library.add(usable(), settings, progress=progress_line())
    return len(refused) + report_problems(report)


def labelled_questions(paths: Sequence[Path]) -> tuple[tuple[LabelledQuestion, ...], int]:
    """The labelled questions of these files, and how many rows could not be used; those are named."""
    files = []
    for path in paths:
        try:
            files.append((path.name, path.read_bytes()))
        except OSError as error:
            raise InvalidInput(
                f"{path} cannot be read: {error.strerror}.", remedy="Give CSV, JSON or JSON lines of questions."
            ) from error
    questions, problems = read_labelled_files(files)
    for problem in problems[:MAX_PROBLEMS]:
        print(printable(str(problem)), file=sys.stderr)
    if len(problems) > MAX_PROBLEMS:
        print(f"and {len(problems) - MAX_PROBLEMS} more rows.", file=sys.stderr)
    return questions, sum(1 for problem in problems if problem.row)


def password(args: argparse.Namespace) -> str | None:
    """The first line of the password file; never an argument, which other users of the machine could read."""
    if args.password_file is None:
        return None
    try:
        return str(args.password_file.read_text(encoding="utf-8").split("\n")[0].rstrip("\r"))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{args.password_file} cannot be read: {error}.",
            remedy="Give a text file whose first line is the password.",
        ) from error


def report_problems(report: AddReport) -> int:
    """Name the files that could not be indexed; returns how many."""
    for name, error in report.problems:
        print(printable(f"{name}: {error.problem} {error.remedy}"), file=sys.stderr)
    return len(report.problems)


def key_values(values: Iterable[str]) -> dict[str, str]:
    """Arguments of the form KEY=VALUE."""
    pairs = {}
    for value in values:
        key, equals, text = value.partition("=")
        if not equals or not key.strip():
            raise InvalidInput(f"{value!r} is not KEY=VALUE.", remedy="Write it like class=10.")
        pairs[key.strip()] = text.strip()
    return pairs


@contextmanager
def output(path: Path | None) -> Iterator[TextIO]:
    """The file, with its folders made; standard output without one."""
    if path is None:
        yield sys.stdout
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8") as out:
            yield out


def progress_line() -> Progress | None:
    """A progress line on a terminal; None in a pipe."""
    if not sys.stderr.isatty():
        return None

    def line(what: str, done: int, total: int) -> None:
        end = "\n" if done == total else ""
        print(
            f"\r\x1b[K{printable(what.replace(chr(10), ' '))[:60]}  {done}/{total}",
            end=end,
            file=sys.stderr,
            flush=True,
        )

    return line


def answer_rows(path: Path, answer: Callable[[dict[str, Any]], Decision], out: Path | None) -> int:
    """Answer each {id, question} of a file as a JSON line; how many could not be.

    One that fails is told, and the others go on.
    """
    rows, problems, progress = read_rows(path, ("id", "question")), 0, progress_line()
    with output(out) as lines:
        for done, row in enumerate(rows, 1):
            if isinstance(row, Bad):
                print(printable(str(row)), file=sys.stderr)
                problems += 1
                continue
            try:
                decision = answer(row)
            except RagError as error:
                decision = Decision.failed(row["question"], str(error))
                print(printable(f"question {row['id']!r}: {error}"), file=sys.stderr)
                problems += 1
            print(json_text(decision.to_json(row["id"])), file=lines)
            if progress:
                progress("questions", done, len(rows))
    return problems


_HALF = re.compile("[\ud800-\udfff]")  # one half of a pair that JSON can write apart; no file and no model takes it


@dataclass(frozen=True, slots=True)
class Bad:
    """A line that cannot be used, and why."""

    path: str
    number: int
    problem: str

    def __str__(self) -> str:
        return f"{self.path}, line {self.number}: {self.problem}"


def read_rows(path: Path, required: Sequence[str]) -> list[dict[str, Any] | Bad]:
    """The objects of a JSON lines file in order; empty lines are skipped."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}.", remedy="Give a UTF-8 file of JSON lines.") from error
    lines = enumerate(text.split("\n"), 1)
    return [_row(path.name, number, line, required) for number, line in lines if line.strip()]


def _row(name: str, number: int, line: str, required: Sequence[str]) -> dict[str, Any] | Bad:
    try:
        row = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        return Bad(name, number, f"not JSON ({error})")
    if not isinstance(row, dict):
        return Bad(name, number, "not an object")
    missing = [field for field in required if not isinstance(row.get(field), str) or (field == "id" and not row[field])]
    if missing:
        return Bad(name, number, f"needs text in {', '.join(missing)}")
    halves = [field for field in required if _HALF.search(row[field])]
    return Bad(name, number, f"holds half a character in {', '.join(halves)}") if halves else row
