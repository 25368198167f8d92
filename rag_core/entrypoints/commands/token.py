"""`token`: make, list and revoke the tokens by which programs call the API and MCP."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime

from rag_core.entrypoints.terminal.common import library_folder
from rag_core.entrypoints.terminal.show import json_text, printable
from rag_core.service.callers.tokens import Token, Tokens


def create(args: argparse.Namespace) -> int:
    """Make a token, and print it: it is shown this once."""
    token, text = Tokens(library_folder(args)).create(args.name, args.scope, args.collection, args.days)
    print(text)
    where = "all collections" if "*" in token.collections else ", ".join(token.collections)
    print(f"Token {token.id}: {', '.join(token.scopes)} in {where}. It is not shown again.", file=sys.stderr)
    return 0


def listed(args: argparse.Namespace) -> int:
    """List all tokens that were ever made, without their secrets."""
    now, known = datetime.now(UTC), Tokens(library_folder(args)).all()
    for token in known:
        print(json_text(_row(token, now)) if args.json else printable(_line(token, now)))
    if not known and not args.json:
        print("No token was made: the API answers this machine only.", file=sys.stderr)
    return 0


def revoke(args: argparse.Namespace) -> int:
    """Close a token; a running service refuses it from its next call on."""
    token = Tokens(library_folder(args)).revoke(args.id)
    print(printable(f"Token {token.id} ({token.name}) is revoked."), file=sys.stderr)
    return 0


def _row(token: Token, now: datetime) -> dict[str, object]:
    names = ("id", "name", "scopes", "collections", "created", "expires", "revoked")
    return {**{name: getattr(token, name) for name in names}, "valid": token.is_valid(now)}


def _line(token: Token, now: datetime) -> str:
    state = "valid" if token.is_valid(now) else "revoked" if token.revoked else "expired"
    return (
        f"{token.id}  {state:8} {','.join(token.scopes):22} "
        f"{','.join(token.collections):22} {token.created}  {token.name}"
    )
