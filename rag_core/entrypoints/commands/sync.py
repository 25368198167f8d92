"""`sync`: takes over, once, what has changed in the folders that collections follow."""

from __future__ import annotations

import argparse
import os

from rag_core.domain.trace import several
from rag_core.entrypoints.commands.terminal import library_folder, tell
from rag_core.errors import InvalidInput, RagError
from rag_core.service.people import People, access_file
from rag_core.settings.configuration import load_settings
from rag_core.settings.endpoints import model_environment
from rag_core.wiring import folder_at
from rag_core.work import pins
from rag_core.work.runner import Runner
from rag_core.work.syncing import Follower, State, Synced


def sync(args: argparse.Namespace) -> int:
    """Follow each folder once; what could not be read is listed, also from earlier times."""
    library, base, runner = library_folder(args), load_settings(environment=model_environment(os.environ)), Runner()
    folders = People(access_file(library)).folders()
    names = args.collections or sorted(folders)
    if not names or (unknown := [name for name in names if name not in folders]):
        problem = f"The collection {unknown[0]!r} follows no folder." if names else "No collection follows a folder."
        raise InvalidInput(problem, remedy="Name one in access.yaml, as docs/operate.md shows.")
    pins.begin(library, (), base, runner)  # watched answers, as after an upload
    problems = 0
    for name in names:
        address, polling = folders[name]
        folder = folder_at(address, polling=polling)
        follower = Follower(library, name, folder, base, runner, delete_most=args.delete_most)
        try:
            found = follower.catch_up()
            lines = State.read(follower.path).problems()
        except RagError as error:
            found, lines = Synced(), [str(error)]
        lines += [f"{several(found.left, 'file')} changed all the time, and stayed out."] if found.left else []
        done = f"{several(found.added, 'file')} added or replaced, {several(found.deleted, 'document')} deleted."
        for line in (done, *lines):
            tell(f"{name}: {line}")
        problems += len(lines)
    for job in runner.unfinished():
        while not job.wait(1):
            pass
    return 1 if problems else 0
