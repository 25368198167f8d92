"""The part of `doctor` about the service: where it listens and for whom, as which user, its limits and quotas, and each token."""

from __future__ import annotations

import os
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rag_core.entrypoints.commands import serving
from rag_core.entrypoints.http.origin import is_loopback
from rag_core.library.quota import Quota
from rag_core.library.stored.named import collections
from rag_core.service.callers.rate import PER_MINUTE
from rag_core.service.queues.jobs import MAX_EACH, MAX_JOBS
from rag_core.wiring import quota_of

if TYPE_CHECKING:
    from rag_core.service.callers.tokens import Token

Row = tuple[str, bool, str, str]  # about, ok, found, remedy
OTHERS_READ, ROOT = 0o007, 0  # rights that a umask takes from others; a user who may do anything


def running(folder: Path, *, login: bool) -> list[Row]:
    """Where a service over this library listens, as which user and under which limits; of this command where none runs."""
    found = serving.read(folder)
    if found is None:
        where: Row = "listening", True, "No `serve` runs over this library now. It listens on 127.0.0.1 unless it is told otherwise.", ""
    elif not is_loopback(found.host):
        where = "listening", True, f"On {found.host}, port {found.port}, which other machines reach: callers need a token, and no page.", ""
    else:
        to = f"this machine, and whoever a proxy lets in as {found.proxy}" if found.proxy else "this machine alone"
        open_page = found.page and bool(found.proxy) and not login and not found.visit_minutes
        where = (
            "listening", not open_page, f"On {found.host}, port {found.port}: open to {to}.",
            "Nobody signs in on the page: have people sign in, or the proxy ask for a login (docs/operate.md)." * open_page,
        )  # fmt: skip
    visitors = [_visitors(found.visit_minutes)] if found and found.visit_minutes else []
    return [where, *visitors, _process(found), _limits(found)]


def _visitors(minutes: int) -> Row:
    return (
        "visitors", True,
        f"Anybody who reaches the page has a collection of their own, deleted {minutes} minutes after they leave, and may ask the samples.",
        "",
    )  # fmt: skip


def quotas(folder: Path) -> Row:
    """How much the collections may have."""
    limited = {name: quota for name in collections(folder) if (quota := quota_of(folder, name)) != Quota()}
    if not limited:
        return "quotas", True, "No collection has a quota: each may fill the disk. `quota` or RAG_QUOTA_BYTES sets one.", ""
    told = [
        f"{name} {'any number of' if one.documents is None else f'{one.documents:,}'} documents, "
        f"{'any number of' if one.bytes is None else f'{one.bytes:,}'} bytes"
        for name, one in limited.items()
    ]
    return "quotas", True, f"{'; '.join(told)}; {len(collections(folder)) - len(limited)} other collections without one.", ""


def tokens(known: tuple[Token, ...], now: datetime) -> list[Row]:
    """A row for each token that opens something."""
    rows: list[Row] = []
    for token in known:
        if token.is_valid(now):
            where = "all collections" if "*" in token.collections else ", ".join(token.collections)
            until = f"until {token.expires[:10]}" if token.expires else "without an end"
            rows.append(("token", True, f"{token.id} ({token.name}): {', '.join(token.scopes)} in {where}, {until}.", ""))
    return rows


def _process(found: serving.Serving | None) -> Row:
    process = serving.process(found.pid if found else os.getpid())
    if process is None:
        return "its user", True, f"Nothing is told of processes on {sys.platform}.", ""
    who = "The service runs" if found else "This command runs, as a service started so would,"
    umask = "an unknown umask" if process.umask is None else f"umask {process.umask:04o}"
    memory = "no limit on memory" if process.memory is None else f"at most {process.memory >> 20:,} MiB of memory"
    said = f"{who} as {_name(process.uid)} with {umask} and {memory}."
    wide = process.umask is not None and process.umask & OTHERS_READ != OTHERS_READ
    lacks = [
        *(["a user of its own"] if process.uid == ROOT else []), *(["umask 0077"] if wide else []),
        *(["a limit on memory"] if process.memory is None else []),
    ]  # fmt: skip
    bad = bool(found and found.proxy and lacks)  # for others than this machine; a service for oneself may run as one does
    return "its user", not bad, said, f"Give it {' and '.join(lacks)}: deploy/plumbline.service does." * bad


def _limits(found: serving.Serving | None) -> Row:
    rate = found.rate if found else PER_MINUTE
    return (
        "its limits", True,
        f"Each caller: {rate} calls a minute, two thirds of the places, {MAX_EACH} of {MAX_JOBS} jobs (docs/operate.md, Limits).",
        "",
    )  # fmt: skip


def _name(uid: int) -> str:
    try:
        import pwd  # which Windows lacks

        return pwd.getpwuid(uid).pw_name
    except (ImportError, KeyError):
        return f"user {uid}"
