"""`migrate`: move a library into another vector store, and compare all vectors and words with what was there."""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields

from rag_core.entrypoints.terminal.common import chosen_settings, library_folder
from rag_core.errors import InvalidInput
from rag_core.library.compared import Checksums
from rag_core.wiring import as_built, contents_of, move_library

SHOWN = 16  # digits of a checksum; they are compared as a whole


def migrate(args: argparse.Namespace) -> int:
    """Move, then read everything back from where it is now."""
    folder, collection = library_folder(args), args.collection
    if contents_of(folder, collection) is None:
        raise InvalidInput(
            f"The collection {collection!r} has no documents.", remedy="Check --library and --collection."
        )
    built = as_built(folder, collection, chosen_settings(args))
    before, now = move_library(folder, collection, built, args.store)
    print(in_words(built.vector_store, before, args.store, now))
    if not (differing := before.differing(now)):
        return 0
    print(f"Not the same: {', '.join(differing)}. To move it back: migrate {built.vector_store}.", file=sys.stderr)
    return 1


def in_words(store: str, before: Checksums, new: str, now: Checksums) -> str:
    """A line for each figure: as it was, and as it is."""
    rows = [("store", store, new, "")]
    for one in fields(Checksums):
        was, is_now = str(getattr(before, one.name)), str(getattr(now, one.name))
        rows.append((one.name, was[:SHOWN], is_now[:SHOWN], "the same" if was == is_now else "DIFFERENT"))
    return "\n".join(f"{name:<11}{was:<18}{is_now:<18}{same}".rstrip() for name, was, is_now, same in rows)
