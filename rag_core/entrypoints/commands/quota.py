"""`quota`: how much a collection has, and the most that it may have."""

from __future__ import annotations

import argparse

from rag_core.entrypoints.terminal.common import library_folder
from rag_core.errors import InvalidInput
from rag_core.library.quota import Quota
from rag_core.library.stored.named import is_name
from rag_core.wiring import quota_of, records, room_taken


def quota(args: argparse.Namespace) -> int:
    """Set what is named, and print what holds now."""
    folder, name = library_folder(args), args.collection
    if not is_name(name):
        raise InvalidInput(f"{name!r} cannot name a collection.", remedy="Use 1 to 64 of the characters a-z, 0-9, hyphen and underscore.")
    if args.documents is not None or args.bytes is not None:
        now = quota_of(folder, name)
        documents = now.documents if args.documents is None else args.documents or None
        size = now.bytes if args.bytes is None else args.bytes or None
        records(folder, name).set_quota(Quota(documents, size))
    most, (count, held) = quota_of(folder, name), room_taken(folder, name)
    for has, may, what in ((count, most.documents, "documents"), (held, most.bytes, "bytes of files")):
        print(f"{has:,} {what}; at most {may:,}" if may is not None else f"{has:,} {what}; no limit")
    return 0
