"""The terminal as all commands use it: arguments, JSON lines, output; decisions, documents and settings in words.

Untrusted text loses its control characters.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, TextIO

import regex

from rag_core.domain.claims import Citation
from rag_core.domain.decision import Decision
from rag_core.domain.documents import Document, Metadata
from rag_core.domain.ports import Progress
from rag_core.domain.status import Reason
from rag_core.domain.trace import CheckResult, several
from rag_core.engine import Engine
from rag_core.errors import InvalidInput, RagError
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.evaluation.labelled_files import read_labelled_files
from rag_core.grounding.citations import heading_line, source_line, sources_list
from rag_core.library.indexing.documents import document_json
from rag_core.library.library import AddReport
from rag_core.library.stored.bounds import require_metadata
from rag_core.library.stored.sources import Source, described, sources_from
from rag_core.settings import Settings
from rag_core.settings.configuration import load_settings, parse_value
from rag_core.settings.endpoints import model_environment

# Zero-width joiners shape the letters of Arabic and of the scripts of India: between two of them, or after the sign
# that takes a letter's vowel (virama), with which a half letter may end a word (RFC 5892, A.1 and A.2).
_SHAPED = "Arab Syrc Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Mymr Khmr Mong"
_SCRIPTS = "".join(f"\\p{{{script}}}" for script in _SHAPED.split())
_JOINER = regex.compile(rf"(?<=[{_SCRIPTS}])[\u200c\u200d](?=[{_SCRIPTS}])|(?<=\p{{ccc=9}})[\u200c\u200d]")
# Controls (C1 and DEL; JSON escapes C0 itself), what turns the reading order or cannot be seen, halves of a character,
# breaks of lines and paragraphs. The two joiners stay: they steer nothing.
_STEERING = regex.compile(r"[\x7f\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}--[\n\u200c\u200d]]", regex.V1)


def show_decision(decision: Decision, values: Mapping[str, Mapping[str, str]] = MappingProxyType({})) -> str:
    """An answer with its sources, or a refusal with its reason; then the trace. `values` is metadata by document id."""
    lines = [printable(decision.answer), ""]
    if decision.answered and decision.citations:
        lines += [f"Value: {printable(decision.value['text'])}", ""] if decision.value else []
        lines += ["In its place:", *map(_in_its_place, decision.citations), ""]
        lines += ["Sources:", *(f"  {printable(row)}" for row in sources_list(decision.citations, values)), ""]
        level = f", level {decision.confidence_level}" if decision.metadata.get("levels", True) else ""
        lines.append(f"Confidence {decision.confidence:.2f} ({decision.confidence_basis}){level}.")
    elif not decision.answered:
        if decision.may_be is not None:
            place = decision.places[0]
            lines += [
                f"Not sure enough ({decision.may_be:.0%}). This may be it:",
                _in_its_place(place),
                f"  {printable(source_line(place))}",
                "",
            ]
        if decision.reason is Reason.SUMMARY:
            lines = [f"  - {printable(heading_line(one))}" for one in decision.places]
        lines += [printable(decision.explanation), *(f"  - {printable(row)}" for row in decision.suggestions)]
    lines += [printable(note) for note in decision.notes]
    lines += _drafted(decision)
    lines += ["", *map(_check, decision.trace.checks)] if decision.trace.checks else []
    return "\n".join(lines)


def _in_its_place(citation: Citation) -> str:
    """A quote between angle quotes, with what stands around it."""
    around = (citation.before.text, f"»{' '.join(citation.excerpt.split())}«", citation.after.text)
    return f"  {printable(' '.join(filter(None, around)))}"


def _drafted(decision: Decision) -> list[str]:
    """Who drafted, why not the model, and what became of each draft; no word of a draft."""
    about = decision.metadata
    if "model" not in about:
        return []
    lines = []
    told = any(note.startswith(about["drafter_note"]) for note in decision.notes)
    if about["drafter_note"] and not told:
        lines.append(f"Not drafted by a language model: {about['drafter_note']}")
    elif about["drafter"] == "model" and decision.answered:
        lines.append(f"Drafted by {about['model']} at {about['endpoint']}.")
    lines += [f"Asked before it: {sentence}" for sentence in about["tried"]]
    if about["calls"]:
        lines.append(
            f"Calls of the model: {about['calls']}, {about['total_tokens']} tokens, {about['generation_time_ms']:.0f} "
            f"ms."
        )
    for one in decision.attempts:
        blocked = ", ".join(check.stage.replace("_", " ") for check in one.checks if check.blocks)
        lines.append(f"  draft {one.number:<14} {one.outcome}{f': {blocked}' if blocked else ''}")
    return [printable(line) for line in lines]


def _check(check: CheckResult) -> str:
    return f"  {check.stage:20} {check.state:12} {check.mode:8} {printable(check.found or check.note)}"


def show_documents(documents: Sequence[Document], *, as_json: bool) -> str:
    if as_json:
        return "\n".join(json_text(document_json(d)) for d in documents)
    if not documents:
        return "No documents. Add some: python -m rag_core index FILE.pdf"
    return "\n".join(
        f"{d.id[:19]}  {several(d.page_count, 'page'):>11}  {d.language:3}  {d.strategy:9}  "
        f"{printable(d.name)}{_flags(d)}"
        for d in documents
    )


def _flags(document: Document) -> str:
    flags = []
    if document.ocr_pages:
        by_rapidocr = f", {len(document.rapidocr_pages)} of them by RapidOCR" if document.rapidocr_pages else ""
        flags.append(f"{several(len(document.ocr_pages), 'page')} by OCR{by_rapidocr}")
    if document.unreadable_pages:
        flags.append(f"{several(len(document.unreadable_pages), 'page')} unreadable")
    if document.hidden_chars:
        flags.append(f"{document.hidden_chars} hidden characters")
    return f"  ({', '.join(flags)})" if flags else ""


def show_settings(settings: Settings, *, as_json: bool) -> str:
    """Every setting with its value, range, scale, cost and help."""
    if as_json:
        return json_text(settings.model_dump(mode="json"), indent=2)
    lines = [f"preset {settings.preset}, settings hash {settings.hash()}"]
    stage = ""
    for knob in Settings.knobs():
        if knob.stage != stage:
            stage = knob.stage
            lines += ["", f"{stage}:"]
        limits = (
            f"{knob.low:g} to {knob.high:g} {knob.scale}"
            if knob.low is not None
            else " | ".join(knob.options) or "text or switch"
        )
        lines.append(f"  {knob.name} = {getattr(settings, knob.name)!s}  ({limits}; changing it costs: {knob.cost})")
        lines.append(f"      {knob.help}")
    return "\n".join(lines)


def printable(text: str) -> str:
    """Text for a terminal: control characters of untrusted text cannot move the cursor, colour or turn the text.

    The joiners of Hindi, Persian and their like stay where they shape letters; other invisible characters become
    U+FFFD.
    """
    if text.isprintable():
        return text
    joiners = {match.start() for match in _JOINER.finditer(text)}
    return "".join(c if c.isprintable() or c in "\t\n" or at in joiners else "\ufffd" for at, c in enumerate(text))


def tell(text: str) -> None:
    """Print a text about the work on standard error, so that a pipe takes the results alone."""
    print(printable(text), file=sys.stderr)


def json_text(value: object, indent: int | None = None) -> str:
    """JSON for a terminal, equal to `value` when it is read: what could steer the screen is written in ASCII."""
    body: str = json.dumps(value, ensure_ascii=False, indent=indent)
    return body if body.isprintable() else _STEERING.sub(lambda match: json.dumps(match[0])[1:-1], body)


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
        tell(
            f"The library stays in the vector store {kept}, where it was built. To change it, run: python -m rag_core "
            f"index --rebuild --set vector_store={wanted}"
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
                tell(f"{found.problem} {found.remedy}")
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
        tell(str(problem))
    if len(problems) > MAX_PROBLEMS:
        tell(f"and {len(problems) - MAX_PROBLEMS} more rows.")
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
        tell(f"{name}: {error.problem} {error.remedy}")
    return len(report.problems)


def key_values(values: Iterable[str]) -> dict[str, str]:
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
    """Answer each {id, question} of a file as a JSON line; how many could not be, each of which is told."""
    rows, problems, progress = read_rows(path, ("id", "question")), 0, progress_line()
    with output(out) as lines:
        for done, row in enumerate(rows, 1):
            if isinstance(row, Bad):
                tell(str(row))
                problems += 1
                continue
            try:
                decision = answer(row)
            except RagError as error:
                decision = Decision.failed(row["question"], str(error))
                tell(f"question {row['id']!r}: {error}")
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
