"""`migrate`: move a library into another vector store, and compare its vectors with what was there."""

from __future__ import annotations

import argparse
import sys

from rag_core.entrypoints.terminal.common import chosen_settings, library_folder
from rag_core.errors import InvalidInput
from rag_core.wiring import as_built, contents_of, move_library

SHOWN = 16  # digits of a checksum; they are compared as a whole


def migrate(args: argparse.Namespace) -> int:
    """Move, then read all vectors back from where they are now."""
    folder, collection = library_folder(args), args.collection
    if contents_of(folder, collection) is None:
        raise InvalidInput(
            f"The collection {collection!r} has no documents.", remedy="Check --library and --collection."
        )
    built = as_built(folder, collection, chosen_settings(args))
    before, now = move_library(folder, collection, built, args.store)
    print(f"vectors in {built.vector_store}: {before[:SHOWN]}\nvectors in {args.store}: {now[:SHOWN]}")
    if before == now:
        return 0
    print(f"They are not the same. To move it back: migrate {built.vector_store}.", file=sys.stderr)
    return 1
