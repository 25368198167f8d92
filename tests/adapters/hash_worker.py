"""The child of `embedding_process` with a model that is there at once, and that does to order what a real one does by
accident.

The orders are the names of models in `load`, and the texts in `embed`.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress

from hash_embedder import HashEmbedder

from rag_core.adapters.child import pipes as frames
from rag_core.adapters.child import worker as embedding_worker
from rag_core.domain.ports import Embedder, TextKind, Vectors
from rag_core.errors import ModelUnavailable


class ObedientEmbedder(HashEmbedder):
    """Embeds like its base what is no order."""

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Vectors:
        if "die" in texts:
            os.kill(os.getpid(), signal.SIGKILL)
        if "hang" in texts:
            threading.Event().wait()
        if "fail" in texts:
            raise TypeError("a fault")
        if "no numbers" in texts:
            raise ModelUnavailable("The model returned no numbers.", remedy="Use another.")
        if "connect" in texts:
            with suppress(ConnectionRefusedError):  # of a port where nobody listens
                socket.create_connection(("127.0.0.1", 9), timeout=10)
        if "print" in texts:
            sys.stdout.write("printed by a library\n")
            sys.stdout.flush()
            os.system("echo printed by a process")
        return super().embed(texts, kind)


def load(head: frames.Head) -> Embedder:
    """The model, unless its name says otherwise."""
    if head["model"] == "leave":
        sys.stderr.write("line one\nthe last words\n")
        sys.exit(3)
    if head["model"] == "hang":
        threading.Event().wait()
    if head["model"] == "missing":
        raise ModelUnavailable("There is no such model.", remedy="Name another.")
    return ObedientEmbedder()


if __name__ == "__main__":
    embedding_worker._load = load  # type: ignore[assignment]
    embedding_worker._import_early = lambda: None  # type: ignore[assignment]
    embedding_worker._read_early = lambda: None  # type: ignore[assignment]
    embedding_worker.main()
