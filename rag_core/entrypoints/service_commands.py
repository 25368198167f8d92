"""The commands of the service and of who may use it: their options. What one needs is imported when it runs, and not before."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import import_module
from pathlib import Path


def add_service(sub: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add them."""
    library = argparse.ArgumentParser(add_help=False)
    library.add_argument("--library", type=Path, metavar="FOLDER", help="folder of the library (default: $RAG_LIBRARY, or ./library)")
    serve = sub.add_parser(
        "serve", parents=[library], help="serve the page, the HTTP API and MCP in one process",
        epilog="Settings come from the environment (RAG_PRESET and others). docs/operate.md says how to put it behind a proxy.",
    )  # fmt: skip
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s, this machine alone)")
    serve.add_argument(
        "--port", type=int, choices=range(1 << 16), metavar="N", default=8501, help="port to listen on (default: %(default)s)"
    )
    serve.add_argument("--allow-host", action="append", default=[], metavar="NAME", help="one more name for callers; may be repeated")
    serve.add_argument("--behind-proxy", default="", metavar="NAME", help="a proxy on this machine serves it as NAME; needs tokens")
    serve.add_argument("--open-to-network", action="store_true", help="listen on an address that other machines reach; needs tokens")
    serve.add_argument(
        "--visitors", action="store_true", help="a shared demo: nobody signs in, each visitor's documents are theirs alone and are deleted"
    )
    serve.add_argument(
        "--visit-minutes", type=count, default=60, metavar="N", help="a visit ends so long after the page was closed (default: %(default)s)"
    )
    serve.add_argument("--no-page", action="store_true", help="the API and MCP alone")
    serve.add_argument("--rate", type=count, default=120, metavar="N", help="calls a minute of each caller (default: %(default)s)")
    serve.set_defaults(run=later("serve", "serve"))

    mcp = sub.add_parser("mcp", parents=[library], help="serve MCP over standard input and output, for an assistant that starts it")
    mcp.add_argument("--scope", action="append", metavar="SCOPE", help="ask, index, label, watch or admin (default: all); may be repeated")
    mcp.add_argument("--collection", action="append", metavar="NAME", help="that it may enter (default: all); may be repeated")
    mcp.set_defaults(run=later("mcp", "mcp"))

    _add_tokens(sub, library)
    _add_acts(sub, library)


def _add_tokens(sub: argparse._SubParsersAction[argparse.ArgumentParser], library: argparse.ArgumentParser) -> None:
    token = sub.add_parser("token", help="make, list and revoke the tokens by which programs call the service")
    what = token.add_subparsers(dest="action", required=True, metavar="ACTION")
    create = what.add_parser("create", parents=[library], help="make a token and print it, this once")
    create.add_argument("name", metavar="NAME", help="whose it is, for the list")
    create.add_argument(
        "--scope", action="append", required=True, metavar="SCOPE", help="ask, index, label, watch or admin; may be repeated"
    )
    create.add_argument("--collection", action="append", required=True, metavar="NAME", help="to enter, or '*' for all; may be repeated")
    create.add_argument("--days", type=count, metavar="N", help="until it expires (default: never)")
    create.set_defaults(run=later("token", "create"))
    listed = what.add_parser("list", parents=[library], help="list all tokens, without their secrets")
    listed.add_argument("--json", action="store_true", help="as JSON lines")
    listed.set_defaults(run=later("token", "listed"))
    revoke = what.add_parser("revoke", parents=[library], help="close a token for good")
    revoke.add_argument("id", metavar="ID", help="as `token list` has it")
    revoke.set_defaults(run=later("token", "revoke"))


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
    shown.set_defaults(run=later("acts", "show"))
    prune = how.add_parser(
        "prune", parents=[library], help="remove old lines; those that are left are verified as before",
        epilog="That lines were removed is a line of the log itself. The hash of a removed line is not found again: keep the "
        "printed one instead.",
    )  # fmt: skip
    prune.add_argument("--days", type=count, required=True, metavar="N", help="keep the lines of the last N days")
    prune.add_argument("--to", type=Path, metavar="FILE", help="a new file for what goes (default: none, it is gone)")
    prune.set_defaults(run=later("acts", "prune"))
    verify = how.add_parser(
        "verify", parents=[library], help="say whether the log is what was written, and print its newest hash",
        epilog="Keep the printed hash elsewhere and name it the next time: without it nobody can tell that the log's end was cut off, "
        "that its last line was changed, or that all of it was written anew.",
    )  # fmt: skip
    verify.add_argument("--file", type=Path, metavar="FILE", help="what `audit prune --to` wrote, instead of the library's log")
    verify.add_argument("--head", action="append", default=[], metavar="HASH", help="a hash that was printed before; may be repeated")
    verify.set_defaults(run=later("acts", "verify"))


def later(module: str, name: str) -> Callable[[argparse.Namespace], int]:
    """A command whose module is imported when it runs: the packages of the service take a second that no other command should."""

    def run(args: argparse.Namespace) -> int:
        return int(getattr(import_module(f"rag_core.entrypoints.commands.{module}"), name)(args))

    return run


def count(text: str) -> int:
    """A whole number from 1 on, for argparse."""
    number = int(text)
    if number < 1:
        raise ValueError(f"{number} is below 1")
    return number
