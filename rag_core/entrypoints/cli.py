"""The command line: index, ask, decide, judge, evaluate, calibrate, documents, delete, doctor, serve, mcp and so
on.

Exit codes: 0 all went well, 1 some input could not be used (the rest was done, the problems are on standard error), 2
wrong usage or a setting out of range, 130 interrupted, 143 ended by SIGTERM (nothing that was finished is lost).
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

from rag_core.domain.acts import acting
from rag_core.entrypoints.commands import calibrate as calibrate_command
from rag_core.entrypoints.commands import doctor as doctor_command
from rag_core.entrypoints.commands import evaluate as evaluate_command
from rag_core.entrypoints.commands import library as commands
from rag_core.entrypoints.commands.check import check
from rag_core.entrypoints.commands.terminal import tell
from rag_core.errors import Cancelled, InvalidSetting, RagError
from rag_core.library.stored.sources import LISTED
from rag_core.settings import DEFAULT_PRESET
from rag_core.settings.logs import start_logs

# the second as pyproject.toml names it, where the wheel is installed
MODULE, COMMAND = ("python -m rag_core", "plumbline")
EXAMPLES = """examples:
  python -m rag_core index contracts/ handbook.pdf --meta class=10 --meta subject=law
  python -m rag_core ask "What is the notice period?"
  python -m rag_core ask --documents report.pdf --questions questions.jsonl --out decisions.jsonl
  python -m rag_core check --pinned decisions.jsonl --documents new/
  python -m rag_core ask "What is the notice period?" --preset compliance --set min_top_cosine=0.65
  python -m rag_core decide "What is the notice period?" --passages retrieved.jsonl --json
  python -m rag_core judge --input claims.jsonl --out verdicts.jsonl
  python -m rag_core evaluate --questions labelled.csv --documents report.pdf --out report.json
  python -m rag_core calibrate fit --questions labelled.csv --library library
  python -m rag_core doctor
  python -m rag_core serve
  python -m rag_core token create reports --scope ask --collection default
  python -m rag_core settings --preset scoping
"""
LABELLED = (
    "labelled questions: CSV, JSON, JSON lines or RAGAS; or files that belong together, such as questions and gold "
    "labels"
)


def count(text: str) -> int:
    """A whole number from 1 on, for argparse."""
    number = int(text)
    if number < 1:
        raise ValueError(f"{number} is below 1")
    return number


Option = tuple[tuple[str, ...], dict[str, Any]]  # the arguments of `ArgumentParser.add_argument`
Run = Callable[[argparse.Namespace], int]


def _option(*names: str, **kind: Any) -> Option:
    return names, kind


def _later(module: str, name: str) -> Run:
    """A command whose module is imported when it runs: the packages of the service take a second."""
    return lambda args: int(getattr(import_module(f"rag_core.entrypoints.commands.{module}"), name)(args))


_file = partial(_option, type=Path, metavar="FILE")
_number = partial(_option, type=count, metavar="N")
_switch = partial(_option, action="store_true")
_repeated = partial(_option, action="append", default=[])
_paths = partial(_option, nargs="+", type=Path, metavar="PATH")

LIBRARY = _option(
    "--library", type=Path, metavar="FOLDER", help="folder of the library (default: $RAG_LIBRARY, or ./library)"
)
PLACE = (
    LIBRARY,
    _option(
        "--collection", "--namespace", default="default", help="collection inside the library (default: %(default)s)"
    ),
)
TUNE = (
    _option("--preset", default=None, help=f"named set of settings (default: {DEFAULT_PRESET})"),
    _file("--config", help="YAML file of settings"),
    _repeated("--set", metavar="KEY=VALUE", help="one setting; may be repeated"),
)
PASSWORD = _file("--password-file", help="file whose first line opens encrypted PDFs")
SEARCHED = _paths("--documents", help="search these; without --library for this call only")
QUESTIONS = _option("--questions", nargs="+", type=Path, required=True, metavar="FILE", help=LABELLED)
DECISIONS = _file("--out", help="where the decisions go (default: standard output)")
JSON, JSON_LINES = _switch("--json", help="as JSON"), _switch("--json", help="as JSON lines")
ONE_AS_JSON = _switch("--json", help="print one question's decision as JSON")
SCOPES = "ask, index, label, watch or admin"

# what has actions of its own
GROUPS = {
    "calibrate": "fit the probabilities to your questions, or show which ones are in force",
    "token": "make, list and revoke the tokens by which programs call the service",
    "audit": "show and check the log of who did what in a library",
}
# a command's name, what it does, and the function that does it; and its arguments
COMMANDS: Mapping[tuple[str, str, Run], tuple[Option, ...]] = {
    ("index", "add documents to the library", commands.index): (
        *PLACE,
        *TUNE,
        _option(
            "paths", nargs="*", type=Path, metavar="PATH", help=f"files ({LISTED}), folders of them, or .jsonl of texts"
        ),
        _repeated("--meta", metavar="KEY=VALUE", help="title, date, authority, verified, or a key of yours"),
        PASSWORD,
        _option(
            "--domain",
            metavar="NAME",
            help="cut them as this domain's profile says, such as legal (default: as each looks)",
        ),
        _switch("--resume", help="finish the files that an interrupted run had accepted"),
        _switch("--rebuild", help="index all documents again from their stored files (new model, damage)"),
    ),
    ("ask", "answer questions, or refuse and say why", commands.ask): (
        *PLACE,
        *TUNE,
        _option("question", nargs="?", help="one question, answered in words; --questions for many"),
        _paths("--documents", help="answer from these only, without keeping a library"),
        _file("--questions", help="JSON lines of {id, lang, question, documents?}"),
        DECISIONS,
        _repeated("--also", metavar="COLLECTION", help="search this collection too, ranked together; may be repeated"),
        _repeated("--filter", metavar="KEY=VALUE", help="search only documents with this metadata"),
        _option(
            "--domain",
            metavar="NAME",
            help="take this domain's profile, such as legal (default: none)",
        ),
        ONE_AS_JSON,
        PASSWORD,
    ),
    ("check", "ask kept decisions again over other documents, and fail where an answer was lost or changed", check): (
        *PLACE,
        *TUNE,
        _file("--pinned", required=True, help="decisions as `ask --out` wrote them"),
        _paths("--documents", help="answer from these only, without keeping a library"),
        _file("--out", help="where the new decisions go, for the next --pinned"),
        PASSWORD,
    ),
    ("decide", "answer from passages that something else retrieved, or refuse and say why", commands.decide): (
        *TUNE,
        _option("question", nargs="?", help="one question, answered in words; --input for many"),
        _file("--passages", help="JSON lines of passages, for one question"),
        _file("--input", help="JSON lines of {id, question, passages}"),
        DECISIONS,
        ONE_AS_JSON,
    ),
    ("judge", "check given answers against given contexts", commands.judge): (
        *TUNE,
        _file("--input", required=True, help="JSON lines of {id, lang, question, context, answer}"),
        _file("--out", help="where the verdicts go (default: standard output)"),
    ),
    ("evaluate", "count the errors on labelled questions, with exact intervals", evaluate_command.evaluate): (
        *PLACE,
        *TUNE,
        QUESTIONS,
        SEARCHED,
        _option("--name", help="name of the run in the library, where the lab shows it (default: the file's)"),
        _file("--out", help="where the report goes, as JSON"),
        _file("--failing", help="where the questions go that ended against their labels"),
        PASSWORD,
        _number("--budget-tokens", help="stop when a language model has taken so many tokens"),
    ),
    ("calibrate fit", "fit the score on labelled questions and write it with its provenance", calibrate_command.fit): (
        *PLACE,
        *TUNE,
        QUESTIONS,
        SEARCHED,
        _file("--out", help="where the calibration goes (default: the library's calibration.json)"),
        PASSWORD,
    ),
    ("calibrate show", "say which calibration a library is judged by, and why", calibrate_command.show): (
        *PLACE,
        *TUNE,
        JSON,
    ),
    ("documents", "list what is indexed", commands.documents): (*PLACE, *TUNE, JSON_LINES),
    (
        "sync",
        "add, replace and delete what has changed in the folders that collections follow",
        _later("sync", "sync"),
    ): (
        LIBRARY,
        _option("collections", nargs="*", metavar="COLLECTION", help="these alone (default: all that follow a folder)"),
        _switch("--delete-most", help="delete documents even where more than half of them have no file any more"),
    ),
    ("delete", "remove documents from the library", commands.delete): (
        *PLACE,
        *TUNE,
        _option("names", nargs="+", metavar="DOCUMENT", help="ids or names, as `documents` lists them"),
        _switch("--everywhere", help="also from kept questions, labels and feedback; an id deleted before, too"),
    ),
    ("doctor", "try what this machine gives: packages, reader, models, library", doctor_command.doctor): (
        *PLACE,
        *TUNE,
        JSON,
    ),
    ("profiles", "list the settings of each domain, and the work recorded under them", commands.listed_profiles): (
        *PLACE,
        JSON_LINES,
    ),
    ("serve", "serve the page, the HTTP API and MCP in one process", _later("serve", "serve")): (
        LIBRARY,
        _option("--host", default="127.0.0.1", help="address to listen on (default: %(default)s, this machine alone)"),
        _option(
            "--port",
            type=int,
            choices=range(1 << 16),
            metavar="N",
            default=8501,
            help="port to listen on (default: %(default)s)",
        ),
        _repeated("--allow-host", metavar="NAME", help="one more name for callers; may be repeated"),
        _option("--behind-proxy", metavar="NAME", default="", help="a proxy serves it as NAME; needs tokens"),
        _repeated(
            "--proxy-address",
            metavar="ADDRESS",
            help="where the proxy connects from, if not this machine, as address or network; may be repeated",
        ),
        _switch("--open-to-network", help="listen on an address that other machines reach; needs tokens"),
        _switch("--no-page", help="the API and MCP alone"),
        _number("--rate", default=120, help="calls a minute of each caller (default: %(default)s)"),
    ),
    ("mcp", "serve MCP over standard input and output, for an assistant that starts it", _later("serve", "mcp")): (
        LIBRARY,
        _option("--scope", action="append", metavar="SCOPE", help=f"{SCOPES} (default: all); may be repeated"),
        _option(
            "--collection", action="append", metavar="NAME", help="that it may enter (default: all); may be repeated"
        ),
    ),
    ("token create", "make a token and print it, this once", _later("admin", "create")): (
        LIBRARY,
        _option("name", metavar="NAME", help="whose it is, for the list"),
        _option("--scope", action="append", required=True, metavar="SCOPE", help=f"{SCOPES}; may be repeated"),
        _option(
            "--collection",
            action="append",
            required=True,
            metavar="NAME",
            help="to enter, or '*' for all; may be repeated",
        ),
        _number("--days", help="until it expires (default: never)"),
        _number("--people", default=1, help="that use it: the limits hold for each of them (default: %(default)s)"),
    ),
    ("token list", "list all tokens, without their secrets", _later("admin", "listed")): (LIBRARY, JSON_LINES),
    ("token revoke", "close a token for good", _later("admin", "revoke")): (
        LIBRARY,
        _option("id", metavar="ID", help="as `token list` has it"),
    ),
    ("audit show", "list what was done, newest last", _later("admin", "show")): (
        LIBRARY,
        _number("--last", default=50, help="so many lines (default: %(default)s)"),
        _option("--who", metavar="NAME", help="what this one did, as the list names them"),
        _option("--do", metavar="ACTION", help="this act alone, such as delete"),
        _option("--collection", metavar="NAME", help="in this collection alone"),
        _option("--object", metavar="ID", help="to this document, decision or token alone"),
        JSON_LINES,
    ),
    ("audit verify", "say whether the log is what was written, and print its newest hash", _later("admin", "verify")): (
        LIBRARY,
        _file("--file", help="a log that was moved away, instead of the library's"),
        _repeated("--head", metavar="HASH", help="a hash that was printed before; may be repeated"),
    ),
    ("settings", "show every setting with its range and what changing it costs", commands.settings): (*TUNE, JSON),
}
# what stands below the help of a command
NOTES = {
    "decide": "A passage is {text, document, page, section, id, score, language, metadata}, best first; all but "
    "text may be left out.",
    "calibrate fit": "Without --out the calibration goes into the library's folder and is in force from its next "
    "opening on.",
    "serve": "Settings come from the environment (RAG_PRESET and others). docs/operate.md says how to put it behind a "
    "proxy.",
    "audit verify": "Keep the printed hash elsewhere and name it the next time: without it nobody can tell that the "
    "log's end was cut off, that its last line was changed, or that all of it was written anew.",
}


def parser() -> argparse.ArgumentParser:
    program = COMMAND if Path(sys.argv[0]).name == COMMAND else MODULE
    root = argparse.ArgumentParser(
        prog=program,
        description="Answers questions from documents with page-accurate citations, or refuses and says why.",
        epilog=EXAMPLES.replace(MODULE, program),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    root.add_argument(
        "--verbose",
        action="store_true",
        help="log events and scores on standard error, no text (or set RAG_LOG=text|json)",
    )
    sub = root.add_subparsers(dest="command", required=True, metavar="COMMAND")
    groups = {"": sub}
    for (name, help, run), options in COMMANDS.items():
        group, _, own = name.rpartition(" ")
        if group not in groups:
            grouped = sub.add_parser(group, help=GROUPS[group])
            groups[group] = grouped.add_subparsers(dest="action", required=True, metavar="ACTION")
        made = groups[group].add_parser(own, help=help, epilog=NOTES.get(name))
        made.set_defaults(run=run)
        for names, kind in options:
            made.add_argument(*names, **kind)
    return root


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    args = parser().parse_args(argv)
    try:
        start_logs(os.environ, verbose=args.verbose)
        with _ended_by_signals(), acting(f"command:{_user()}"):
            code = int(args.run(args))
            sys.stdout.flush()  # a full disk behind a redirection shows here, not at the end of the process
            return code
    except Terminated:
        tell("Stopped by the system. What was finished is kept.")
        return 143
    except (KeyboardInterrupt, Cancelled):
        tell("Stopped. What was finished is kept.")
        return 130
    except InvalidSetting as error:
        tell(f"{error.problem} {error.remedy}")
        return 2
    except RagError as error:
        tell(f"{error.problem} {error.remedy}")
        return 1
    except BrokenPipeError:
        sys.stderr.close()  # the reader went away; nothing to say
        return 0
    except OSError as error:  # a disk that is full, a folder that is not ours
        where = f" ({error.filename})" if error.filename else ""
        tell(
            f"The system refused to read or write: {error.strerror or error}{where}. Free disk space, or name "
            f"another place."
        )
        return 1


def _user() -> str:
    """Whoever runs the command, for the audit log: by name where the environment has one."""
    named = (os.environ.get(name) for name in ("LOGNAME", "USER", "USERNAME"))
    return next(filter(None, named), None) or (f"uid {os.getuid()}" if hasattr(os, "getuid") else "unknown")


class Terminated(KeyboardInterrupt):
    """SIGTERM: everything is left as by Ctrl+C, and what a command holds is given up first."""


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Within the block SIGTERM raises `Terminated`, in the main thread: elsewhere signals cannot be handled."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _end(number: int, frame: FrameType | None) -> None:
    raise Terminated
