"""`token` and `audit`: who may call the service, and who did what in a library."""

from __future__ import annotations

import argparse
from collections import deque
from dataclasses import asdict
from datetime import UTC, datetime

from rag_core.entrypoints.commands.terminal import json_text, library_folder, printable, tell
from rag_core.errors import InvalidInput
from rag_core.library.disk.files import storage_problems
from rag_core.service.tokens import Token, Tokens
from rag_core.wiring import ActLog, act_log


def create(args: argparse.Namespace) -> int:
    """Make a token, and print it: it is shown this once."""
    token, text = Tokens(library_folder(args)).create(args.name, args.scope, args.collection, args.days, args.people)
    print(text)
    where = "all collections" if "*" in token.collections else ", ".join(token.collections)
    tell(f"Token {token.id}: {', '.join(token.scopes)} in {where}. It is not shown again.")
    return 0


def listed(args: argparse.Namespace) -> int:
    """List all tokens that were ever made, without their secrets."""
    now, tokens = datetime.now(UTC), Tokens(library_folder(args))
    known = tokens.all()
    for token in known:
        row = {**_row(token, now), "used": tokens.last_used(token.id)}
        print(json_text(row) if args.json else printable(_line(token, now)))
    if not known and not args.json:
        tell("No token was made: the API answers this machine only.")
    return 0


def revoke(args: argparse.Namespace) -> int:
    """Close a token; a running service refuses it from its next call on."""
    token = Tokens(library_folder(args)).revoke(args.id)
    tell(f"Token {token.id} ({token.name}) is revoked.")
    return 0


def _row(token: Token, now: datetime) -> dict[str, object]:
    names = ("id", "name", "scopes", "collections", "created", "expires", "revoked", "people")
    return {**{name: getattr(token, name) for name in names}, "valid": token.is_valid(now)}


def _line(token: Token, now: datetime) -> str:
    return (
        f"{token.id}  {token.state(now):8} {','.join(token.scopes):22} "
        f"{','.join(token.collections):22} {token.created}  {token.name}"
    )


UNKNOWN = (
    "A chain cannot tell whether its end was cut off, its last line changed, or all of it written anew: keep this hash "
    "elsewhere, and name it the next time (--head)."
)


def show(args: argparse.Namespace) -> int:
    """List the newest lines that were asked for, newest last; lines that cannot be read are left to `verify`."""
    wanted = {"who": args.who, "action": args.do, "collection": args.collection, "object": args.object}
    with storage_problems("reading the audit log"):
        rows = (asdict(entry) for entry in act_log(library_folder(args)).entries())
        last = deque(
            (row for row in rows if all(value is None or row[name] == value for name, value in wanted.items())),
            args.last,
        )
    for row in last:
        line = (
            f"{row['n']:>7}  {row['at']}  {row['who']:24} {row['action']:18} "
            f"{row['collection'] or '-':20} {row['object']}"
        )
        print(json_text(row) if args.json else printable(line.rstrip()))
    if not last and not args.json:
        tell("Nothing of this was noted.")
    return 0


def verify(args: argparse.Namespace) -> int:
    """Say whether every line follows the one before it, and whether the named hashes stand there."""
    with storage_problems("reading the audit log"):
        if args.file is not None and not args.file.is_file():
            raise InvalidInput(f"There is no file {args.file}.", remedy="Name a log that was moved away.")
        log = ActLog(args.file.parent, args.file.name) if args.file else act_log(library_folder(args))
        found = log.verify(args.head)
    missing = [head for head in args.head if head not in found.met]
    if found.problem:
        tell(found.problem)
    for number in found.torn:
        if number != found.line:
            tell(f"Line {number} is not whole, as a power cut leaves it; the lines after it vouch for what is left.")
    for head in missing:
        tell(f"The log never came to {head[:64]}: lines were cut off, changed or removed since, or it is another log.")
    if found.problem or missing:
        return 1
    print(f"{found.lines} lines, each follows the one before it. The newest hash is:\n{found.head}")
    tell(UNKNOWN)
    return 0
