"""The command line: index, ask, decide, judge, evaluate, calibrate, documents, delete, model, doctor, serve, mcp and so
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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import FrameType

from rag_core.domain.acts import acting
from rag_core.entrypoints.commands import calibrate as calibrate_command
from rag_core.entrypoints.commands import decide as decide_command
from rag_core.entrypoints.commands import doctor as doctor_command
from rag_core.entrypoints.commands import evaluate as evaluate_command
from rag_core.entrypoints.commands import library as commands
from rag_core.entrypoints.commands import model as model_command
from rag_core.entrypoints.terminal.show import printable
from rag_core.errors import Cancelled, InvalidSetting, RagError
from rag_core.library.stored.sources import LISTED
from rag_core.settings import DEFAULT_PRESET
from rag_core.settings.logs import start_logs
from rag_core.wiring import VECTOR_STORES

# the second as pyproject.toml names it, where the wheel is installed
MODULE, COMMAND = (
    "python -m rag_core",
    "plumbline",
)
EXAMPLES = """examples:
  python -m rag_core index contracts/ handbook.pdf --meta class=10 --meta subject=law
  python -m rag_core ask "What is the notice period?"
  python -m rag_core ask --documents report.pdf --questions questions.jsonl --out decisions.jsonl
  python -m rag_core ask "What is the notice period?" --preset compliance --set min_top_cosine=0.65
  python -m rag_core decide "What is the notice period?" --passages retrieved.jsonl --json
  python -m rag_core judge --input claims.jsonl --out verdicts.jsonl
  python -m rag_core evaluate --questions labelled.csv --documents report.pdf --out report.json
  python -m rag_core calibrate fit --questions labelled.csv --library library
  python -m rag_core calibrate show
  python -m rag_core ask "What does the contract say of liability?" --domain auto
  python -m rag_core profiles
  python -m rag_core documents
  python -m rag_core migrate pgvector --collection contracts
  python -m rag_core model
  python -m rag_core doctor
  python -m rag_core serve
  python -m rag_core mcp --scope ask
  python -m rag_core token create reports --scope ask --collection default
  python -m rag_core audit verify
  python -m rag_core settings --preset scoping
"""
LABELLED = (
    "labelled questions: CSV, JSON, JSON lines or RAGAS; or files that belong "
    "together, such as questions and gold labels"
)


def parser() -> argparse.ArgumentParser:
    """All commands with their options."""
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

    place = argparse.ArgumentParser(add_help=False)
    place.add_argument(
        "--library", type=Path, metavar="FOLDER", help="folder of the library (default: $RAG_LIBRARY, or ./library)"
    )
    place.add_argument(
        "--collection", "--namespace", default="default", help="collection inside the library (default: %(default)s)"
    )
    tune = argparse.ArgumentParser(add_help=False)
    tune.add_argument("--preset", default=None, help=f"named set of settings (default: {DEFAULT_PRESET})")
    tune.add_argument("--config", type=Path, metavar="FILE", help="YAML file of settings")
    tune.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="one setting; may be repeated")

    add = sub.add_parser("index", parents=[place, tune], help="add documents to the library")
    add.add_argument(
        "paths",
        nargs="*",
        type=Path,
        metavar="PATH",
        help=f"files ({LISTED}), folders of them, or .jsonl of texts",
    )
    add.add_argument(
        "--meta",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="title, date, authority, verified, or a key of yours",
    )
    add.add_argument("--password-file", type=Path, metavar="FILE", help="file whose first line opens encrypted PDFs")
    add.add_argument(
        "--domain",
        metavar="NAME",
        help="cut them as this domain's profile says, such as legal (default: as each looks)",
    )
    add.add_argument("--resume", action="store_true", help="finish the files that an interrupted run had accepted")
    add.add_argument(
        "--rebuild", action="store_true", help="index all documents again from their stored files (new model, damage)"
    )
    add.set_defaults(run=commands.index)

    migrate = sub.add_parser(
        "migrate", parents=[place, tune], help="move a library into another vector store, and compare their checksums"
    )
    migrate.add_argument("store", choices=sorted(VECTOR_STORES), help="docs/scale.md says what each needs")
    migrate.set_defaults(run=_later("migrate", "migrate"))

    ask = sub.add_parser("ask", parents=[place, tune], help="answer questions, or refuse and say why")
    ask.add_argument("question", nargs="?", help="one question, answered in words; --questions for many")
    ask.add_argument(
        "--documents", nargs="+", type=Path, metavar="PATH", help="answer from these only, without keeping a library"
    )
    ask.add_argument("--questions", type=Path, metavar="FILE", help="JSON lines of {id, lang, question, documents?}")
    ask.add_argument("--out", type=Path, metavar="FILE", help="where the decisions go (default: standard output)")
    ask.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="COLLECTION",
        help="search this collection too, ranked together; may be repeated",
    )
    ask.add_argument(
        "--filter", action="append", default=[], metavar="KEY=VALUE", help="search only documents with this metadata"
    )
    ask.add_argument(
        "--domain", metavar="NAME", help="take this domain's profile, such as legal; auto detects it (default: none)"
    )
    ask.add_argument("--json", action="store_true", help="print one question's decision as JSON")
    ask.add_argument("--password-file", type=Path, metavar="FILE", help="file whose first line opens encrypted PDFs")
    ask.set_defaults(run=commands.ask)

    over = sub.add_parser(
        "decide",
        parents=[tune],
        help="answer from passages that something else retrieved, or refuse and say why",
        epilog="A passage is {text, document, page, section, id, score, language, metadata}, "
        "best first; all but text may be left out.",
    )
    over.add_argument("question", nargs="?", help="one question, answered in words; --input for many")
    over.add_argument("--passages", type=Path, metavar="FILE", help="JSON lines of passages, for one question")
    over.add_argument("--input", type=Path, metavar="FILE", help="JSON lines of {id, question, passages}")
    over.add_argument("--out", type=Path, metavar="FILE", help="where the decisions go (default: standard output)")
    over.add_argument("--json", action="store_true", help="print one question's decision as JSON")
    over.set_defaults(run=decide_command.decide)

    judge = sub.add_parser("judge", parents=[tune], help="check given answers against given contexts")
    judge.add_argument(
        "--input", type=Path, required=True, metavar="FILE", help="JSON lines of {id, lang, question, context, answer}"
    )
    judge.add_argument("--out", type=Path, metavar="FILE", help="where the verdicts go (default: standard output)")
    judge.set_defaults(run=commands.judge)

    evaluate = sub.add_parser(
        "evaluate", parents=[place, tune], help="count the errors on labelled questions, with exact intervals"
    )
    evaluate.add_argument("--questions", nargs="+", type=Path, required=True, metavar="FILE", help=LABELLED)
    evaluate.add_argument(
        "--documents", nargs="+", type=Path, metavar="PATH", help="search these; without --library for this call only"
    )
    evaluate.add_argument("--name", help="name of the run in the library, where the lab shows it (default: the file's)")
    evaluate.add_argument("--out", type=Path, metavar="FILE", help="where the report goes, as JSON")
    evaluate.add_argument(
        "--failing", type=Path, metavar="FILE", help="where the questions go that ended against their labels"
    )
    evaluate.add_argument(
        "--password-file", type=Path, metavar="FILE", help="file whose first line opens encrypted PDFs"
    )
    evaluate.add_argument(
        "--budget-tokens", type=count, metavar="N", help="stop when a language model has taken so many tokens"
    )
    evaluate.set_defaults(run=evaluate_command.evaluate)

    calibration = sub.add_parser(
        "calibrate", help="fit the probabilities to your questions, or show which ones are in force"
    )
    either = calibration.add_subparsers(dest="action", required=True, metavar="ACTION")
    fit = either.add_parser(
        "fit",
        parents=[place, tune],
        help="fit the score on labelled questions and write it with its provenance",
        epilog="Without --out the calibration goes into the library's folder and is in force from its next opening on.",
    )
    fit.add_argument("--questions", nargs="+", type=Path, required=True, metavar="FILE", help=LABELLED)
    fit.add_argument(
        "--documents", nargs="+", type=Path, metavar="PATH", help="search these; without --library for this call only"
    )
    fit.add_argument(
        "--out", type=Path, metavar="FILE", help="where the calibration goes (default: the library's calibration.json)"
    )
    fit.add_argument("--embedding", metavar="MODEL", help="embedding model to fit for (default: the library's)")
    fit.add_argument(
        "--adjust",
        action="store_true",
        help="start from the score in force and change what the questions say otherwise: "
        "20 of either kind are enough then, not 50",
    )
    fit.add_argument("--password-file", type=Path, metavar="FILE", help="file whose first line opens encrypted PDFs")
    fit.set_defaults(run=calibrate_command.fit)
    look = either.add_parser(
        "show", parents=[place, tune], help="say which calibration a library is judged by, and why"
    )
    look.add_argument("--json", action="store_true", help="as JSON")
    look.set_defaults(run=calibrate_command.show)

    documents = sub.add_parser("documents", parents=[place, tune], help="list what is indexed")
    documents.add_argument("--json", action="store_true", help="as JSON lines")
    documents.set_defaults(run=commands.documents)

    delete = sub.add_parser("delete", parents=[place, tune], help="remove documents from the library")
    delete.add_argument("names", nargs="+", metavar="DOCUMENT", help="ids or names, as `documents` lists them")
    delete.add_argument(
        "--everywhere",
        action="store_true",
        help="also from kept questions, labels and feedback; an id deleted before, too",
    )
    delete.set_defaults(run=commands.delete)

    model = sub.add_parser(
        "model", parents=[tune], help="say which language models are configured, and what works with each"
    )
    model.set_defaults(run=model_command.model)

    doctor = sub.add_parser(
        "doctor", parents=[place, tune], help="try what this machine gives: packages, reader, model, library"
    )
    doctor.add_argument("--json", action="store_true", help="as JSON")
    doctor.set_defaults(run=doctor_command.doctor)

    profiles = sub.add_parser(
        "profiles", parents=[place], help="list the settings of each domain, and the work recorded under them"
    )
    profiles.add_argument("--json", action="store_true", help="as JSON lines")
    profiles.set_defaults(run=_later("profiles", "listed"))

    _add_service(sub)

    settings = sub.add_parser(
        "settings", parents=[tune], help="show every setting with its range and what changing it costs"
    )
    settings.add_argument("--json", action="store_true", help="as JSON")
    settings.set_defaults(run=commands.settings)
    return root


def _add_service(sub: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands of the service and of who may use it."""
    library = argparse.ArgumentParser(add_help=False)
    library.add_argument(
        "--library", type=Path, metavar="FOLDER", help="folder of the library (default: $RAG_LIBRARY, or ./library)"
    )
    serve = sub.add_parser(
        "serve",
        parents=[library],
        help="serve the page, the HTTP API and MCP in one process",
        epilog="Settings come from the environment (RAG_PRESET and others). "
        "docs/operate.md says how to put it behind a proxy.",
    )
    serve.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (default: %(default)s, this machine alone)"
    )
    serve.add_argument(
        "--port",
        type=int,
        choices=range(1 << 16),
        metavar="N",
        default=8501,
        help="port to listen on (default: %(default)s)",
    )
    serve.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME", help="one more name for callers; may be repeated"
    )
    serve.add_argument(
        "--behind-proxy", default="", metavar="NAME", help="a proxy on this machine serves it as NAME; needs tokens"
    )
    serve.add_argument(
        "--open-to-network", action="store_true", help="listen on an address that other machines reach; needs tokens"
    )
    serve.add_argument(
        "--visitors",
        action="store_true",
        help="a shared demo: nobody signs in, each visitor's documents are theirs alone and are deleted",
    )
    serve.add_argument(
        "--visit-minutes",
        type=count,
        default=60,
        metavar="N",
        help="a visit ends so long after the page was closed (default: %(default)s)",
    )
    serve.add_argument("--no-page", action="store_true", help="the API and MCP alone")
    serve.add_argument(
        "--rate", type=count, default=120, metavar="N", help="calls a minute of each caller (default: %(default)s)"
    )
    serve.set_defaults(run=_later("serve", "serve"))

    mcp = sub.add_parser(
        "mcp", parents=[library], help="serve MCP over standard input and output, for an assistant that starts it"
    )
    mcp.add_argument(
        "--scope",
        action="append",
        metavar="SCOPE",
        help="ask, index, label, watch or admin (default: all); may be repeated",
    )
    mcp.add_argument(
        "--collection", action="append", metavar="NAME", help="that it may enter (default: all); may be repeated"
    )
    mcp.set_defaults(run=_later("mcp", "mcp"))

    _add_tokens(sub, library)
    _add_acts(sub, library)


def _add_tokens(sub: argparse._SubParsersAction[argparse.ArgumentParser], library: argparse.ArgumentParser) -> None:
    token = sub.add_parser("token", help="make, list and revoke the tokens by which programs call the service")
    what = token.add_subparsers(dest="action", required=True, metavar="ACTION")
    create = what.add_parser("create", parents=[library], help="make a token and print it, this once")
    create.add_argument("name", metavar="NAME", help="whose it is, for the list")
    create.add_argument(
        "--scope",
        action="append",
        required=True,
        metavar="SCOPE",
        help="ask, index, label, watch or admin; may be repeated",
    )
    create.add_argument(
        "--collection", action="append", required=True, metavar="NAME", help="to enter, or '*' for all; may be repeated"
    )
    create.add_argument("--days", type=count, metavar="N", help="until it expires (default: never)")
    create.set_defaults(run=_later("token", "create"))
    listed = what.add_parser("list", parents=[library], help="list all tokens, without their secrets")
    listed.add_argument("--json", action="store_true", help="as JSON lines")
    listed.set_defaults(run=_later("token", "listed"))
    revoke = what.add_parser("revoke", parents=[library], help="close a token for good")
    revoke.add_argument("id", metavar="ID", help="as `token list` has it")
    revoke.set_defaults(run=_later("token", "revoke"))


def _add_acts(sub: argparse._SubParsersAction[argparse.ArgumentParser], library: argparse.ArgumentParser) -> None:
    acts = sub.add_parser("audit", help="show and check the log of who did what in a library")
    how = acts.add_subparsers(dest="action", required=True, metavar="ACTION")
    shown = how.add_parser("show", parents=[library], help="list what was done, newest last")
    shown.add_argument("--last", type=count, default=50, metavar="N", help="so many lines (default: %(default)s)")
    shown.add_argument("--who", metavar="NAME", help="what this one did, as the list names them")
    shown.add_argument("--do", metavar="ACTION", help="this act alone, such as delete")
    shown.add_argument("--collection", metavar="NAME", help="in this collection alone")
    shown.add_argument("--object", metavar="ID", help="to this document, decision or token alone")
    shown.add_argument("--json", action="store_true", help="as JSON lines")
    shown.set_defaults(run=_later("acts", "show"))
    prune = how.add_parser(
        "prune",
        parents=[library],
        help="remove old lines; those that are left are verified as before",
        epilog="That lines were removed is a line of the log itself. The hash of a "
        "removed line is not found again: keep the "
        "printed one instead.",
    )
    prune.add_argument("--days", type=count, required=True, metavar="N", help="keep the lines of the last N days")
    prune.add_argument("--to", type=Path, metavar="FILE", help="a new file for what goes (default: none, it is gone)")
    prune.set_defaults(run=_later("acts", "prune"))
    verify = how.add_parser(
        "verify",
        parents=[library],
        help="say whether the log is what was written, and print its newest hash",
        epilog="Keep the printed hash elsewhere and name it the next time: without it nobody "
        "can tell that the log's end was cut off, "
        "that its last line was changed, or that all of it was written anew.",
    )
    verify.add_argument(
        "--file", type=Path, metavar="FILE", help="what `audit prune --to` wrote, instead of the library's log"
    )
    verify.add_argument(
        "--head", action="append", default=[], metavar="HASH", help="a hash that was printed before; may be repeated"
    )
    verify.set_defaults(run=_later("acts", "verify"))


def _later(module: str, name: str) -> Callable[[argparse.Namespace], int]:
    """A command whose module is imported when it runs: the packages of the service take a second that no other command
    should.
    """

    def run(args: argparse.Namespace) -> int:
        return int(getattr(import_module(f"rag_core.entrypoints.commands.{module}"), name)(args))

    return run


def count(text: str) -> int:
    """A whole number from 1 on, for argparse."""
    number = int(text)
    if number < 1:
        raise ValueError(f"{number} is below 1")
    return number


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
        print("Stopped by the system. What was finished is kept.", file=sys.stderr)
        return 143
    except (KeyboardInterrupt, Cancelled):
        print("Stopped. What was finished is kept.", file=sys.stderr)
        return 130
    except InvalidSetting as error:
        print(printable(f"{error.problem} {error.remedy}"), file=sys.stderr)
        return 2
    except RagError as error:
        print(printable(f"{error.problem} {error.remedy}"), file=sys.stderr)
        return 1
    except BrokenPipeError:
        sys.stderr.close()  # the reader went away; nothing to say
        return 0
    except OSError as error:  # a disk that is full, a folder that is not ours
        where = f" ({error.filename})" if error.filename else ""
        print(
            printable(
                f"The system refused to read or write: {error.strerror or error}{where}. Free disk space, or name "
                f"another place."
            ),
            file=sys.stderr,
        )
        return 1


def _user() -> str:
    """Whoever runs the command, for the audit log: by name where the environment tells one, without asking a name
    service.
    """
    named = (os.environ.get(name) for name in ("LOGNAME", "USER", "USERNAME"))
    return next(filter(None, named), None) or (f"uid {os.getuid()}" if hasattr(os, "getuid") else "unknown")


class Terminated(KeyboardInterrupt):
    """SIGTERM: everything is left as by Ctrl+C.

    What a command holds is given up first: temporary folders, child processes, the lock.
    """


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Within the block SIGTERM raises `Terminated`.

    Only in the main thread: elsewhere signals cannot be handled, and nothing is done.
    """
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
