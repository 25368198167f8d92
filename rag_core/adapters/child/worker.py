"""The child of `process`: loads one model, then embeds and counts as it is told over standard input.

    read   {"do": "load", "model", "precision"}             write  {"name", "max_tokens", "tokenizer", "unblocked"}
    read   {"do": "count_tokens", "texts"}                  write  {"counts"}
    read   {"do": "embed", "texts", "kind"}                 write  {"shape": [n, dim]} and n * dim float32
    read   {"do": "read", "question", "places"}             write  {"places"}; each comes as [heading, units]
    read   {"do": "supports", "precision", "pairs"}         write  {"odds"}

`unblocked` says why this process has a network, "" where
it is refused one. What cannot be done is answered by {"problem", "remedy"}. The child ends when its standard input
does: then its parent is gone.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from contextlib import suppress
from functools import cache, partial
from queue import SimpleQueue
from typing import IO

from rag_core.adapters.child import pipes
from rag_core.adapters.embedding.by_name import PREFIX, offline
from rag_core.adapters.embedding.choose import load_embedder
from rag_core.adapters.embedding.reader import MODEL_FILE, ReaderModel
from rag_core.adapters.embedding.support import SupportModel
from rag_core.domain.passages import Place
from rag_core.domain.ports import Embedder
from rag_core.errors import MissingDependency, ModelUnavailable
from rag_core.ingest.pdf_worker.isolation import block

Reply = tuple[pipes.Head, bytes]
_models: list[Embedder] = []  # the one that was loaded
_making = threading.Lock()  # two requests at once must not load a network twice


def main() -> None:
    """Serve until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in a terminal reaches every process there; the parent decides
    # an interpreter that ends aborts when somebody still reads sys.stdin
    channels = [(os.dup(sys.stdin.fileno()), pipes.own_standard_output())]
    channels += [(number, os.fdopen(os.dup(number), "wb")) for number in map(int, sys.argv[1:])]
    serving = []
    for number, replies in channels:
        requests: SimpleQueue[pipes.Head] = SimpleQueue()
        # beside the work, so that the parent's end is noticed while a model is loaded or computes
        threading.Thread(target=_listen, args=(number, requests), daemon=True, name="listening").start()
        serving.append(partial(_serve, requests, replies))
    _import_early()
    for one in serving[1:]:
        threading.Thread(target=one, daemon=True, name="serving").start()
    serving[0]()


def _serve(requests: SimpleQueue[pipes.Head], replies: IO[bytes]) -> None:
    while True:
        head = requests.get()
        try:
            reply = _reply(head)
        except (MissingDependency, ModelUnavailable) as error:
            reply = {"problem": error.problem, "remedy": error.remedy}, b""
        except Exception as error:  # the libraries raise many kinds; the parent knows one
            traceback.print_exc()
            which = "support" if head["do"] == "supports" else "embedding"
            problem = f"The {which} model failed ({type(error).__name__})."
            reply = {"problem": problem, "remedy": "Try it again. If it fails again, report it with the log."}, b""
        pipes.write(replies, *reply)
        if head["do"] == "load":
            _read_early()


def _listen(number: int, requests: SimpleQueue[pipes.Head]) -> None:
    stream = os.fdopen(number, "rb")
    try:
        while True:
            requests.put(pipes.read(stream)[0])
    finally:
        os._exit(0)  # at once, whatever the model is doing: nobody waits for it, and it holds nothing


def _import_early() -> None:
    """Import what every model needs, which takes a second, before the parent says which model it wants."""
    with suppress(Exception):  # loading fails again, and is answered
        import torch  # noqa: F401


@cache
def _reader() -> ReaderModel:
    return ReaderModel()


def _read_early() -> None:
    """The first question should not wait for the reader; where it cannot be loaded, that question is told so."""
    if MODEL_FILE.exists():
        with suppress(ModelUnavailable), _making:
            _reader()


@cache
def _support(precision: str) -> SupportModel:
    return SupportModel(precision)


@cache
def _take_network(model: str) -> str:
    """Refuse this process the network, unless its model needs one; "" where that is in force, else why it is not."""
    if model.startswith(PREFIX):
        return "The embedding model is one of a server."
    return block(files=False) if offline() else "HF_HUB_OFFLINE is switched off, so that models may be downloaded."


def _load(head: pipes.Head) -> Embedder:
    """The model; a test puts another in its place."""
    return load_embedder(head["model"], head["precision"])


def _reply(head: pipes.Head) -> Reply:
    if head["do"] == "load":
        _take_network(head["model"])
        _models.append(_load(head))
    (model,) = _models
    match head["do"]:
        case "load":
            return {
                "name": model.name,
                "max_tokens": model.max_tokens,
                "tokenizer": model.tokenizer,
                "unblocked": _take_network(head["model"]),
            }, b""
        case "count_tokens":
            return {"counts": model.count_tokens(head["texts"])}, b""
        case "read":
            places = [Place(heading, tuple(units)) for heading, units in head["places"]]
            with _making:
                reader = _reader()
            return {"places": [one.to_json() for one in reader.read(head["question"], places)]}, b""
        case "supports":
            with _making:
                support = _support(head["precision"])
            return {"odds": support.supports([(evidence, claim) for evidence, claim in head["pairs"]])}, b""
    vectors = model.embed(head["texts"], head["kind"])
    return {"shape": vectors.shape}, vectors.tobytes()


if __name__ == "__main__":
    main()
