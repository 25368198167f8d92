"""What the library's tests share: a small deterministic embedder, which really embeds, and ways to open a library with
it.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf

from rag_core.adapters.index.flat import FaissStore
from rag_core.domain.ports import TextKind, Vectors
from rag_core.language import terms, words
from rag_core.library.library import AddReport, Library
from rag_core.library.stored.sources import Source, text_source
from rag_core.settings import Settings

DIM = 16
SETTINGS = Settings.load()


class HashEmbedder:
    """Unit vectors that depend on the words of a text alone; a text without words points along the first axis."""

    max_tokens = 256
    tokenizer = "words"

    def __init__(self, name: str = "hash@float32") -> None:
        self.name = name
        self.embedded = 0

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(words(text)) + 2 for text in texts]

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Vectors:
        self.embedded += len(texts)
        rows = np.zeros((len(texts), DIM), dtype=np.float32)
        rows[:, 0] = 1e-3
        for row, text in zip(rows, texts, strict=True):
            for word in words(text):
                digest = hashlib.sha256(word.text.casefold().encode()).digest()[:DIM]
                row += np.frombuffer(digest, dtype=np.uint8).astype(np.float32) - 127.5
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def library(folder: Path, collection: str = "default", embedder: HashEmbedder | None = None) -> Library:
    return Library.open(folder, collection, embedder=embedder or HashEmbedder(), vectors=FaissStore(DIM))


def text(id: str, body: str, **fields: object) -> Source:
    return text_source(id, body, id=id, **fields)


def pdf(*pages: str, password: str = "", **stated: str) -> bytes:
    """A PDF of these pages; `stated` is what it says of itself."""
    with pymupdf.open() as made:
        for body in pages:
            made.new_page().insert_text((72, 72), body)
        made.set_metadata(stated)
        if not password:
            return bytes(made.tobytes(no_new_id=True))
        return bytes(made.tobytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw=password, owner_pw="owner"))


def rebuilt(
    folder: Path, embedder: str | HashEmbedder = "hash@float32", settings: Settings = SETTINGS, **more: Any
) -> tuple[Library, AddReport]:
    model = HashEmbedder(embedder) if isinstance(embedder, str) else embedder
    return Library.rebuild(folder, "default", settings, embedder=model, vectors=FaissStore(DIM), **more)


def found(library: Library, question: str) -> list[str]:
    """The ids of the documents whose passages share words with the question, best first."""
    snapshot = library.snapshot
    rows = snapshot.lexical.search(terms(question, "en"), 10, None)
    return list(dict.fromkeys(snapshot.passages[row].document for row, _ in rows))


def check_whole(library: Library) -> None:
    """Every published document is complete: its files, its passages on its pages, its vectors and its words."""
    library.verify()
    snapshot, embedder = library.snapshot, HashEmbedder()
    assert {passage.document for passage in snapshot.passages} == {document.id for document in snapshot.documents}
    for row, passage in enumerate(snapshot.passages):
        for span in passage.spans:
            assert snapshot.page_text(passage.document, span.page)[span.start : span.end]
        assert np.isclose(np.linalg.norm(snapshot.vectors.vectors([row])), 1.0, atol=1e-5)
        own = terms(passage.text, passage.language)
        assert row in {hit for hit, _ in snapshot.lexical.search(own, len(snapshot.passages), None)}
    assert embedder.max_tokens >= max((passage.tokens for passage in snapshot.passages), default=0)


def unpacked(data: bytes) -> Iterator[bytes]:
    """The bytes, and what is packed in them, wherever it begins."""
    yield data
    at = data.find(b"\x78\x5e")
    while at >= 0:
        try:
            yield zlib.decompressobj().decompress(data[at:])
        except zlib.error:
            pass
        at = data.find(b"\x78\x5e", at + 1)


def traces(folder: Path, *words: bytes) -> list[str]:
    """The files that hold one of these, or are named by it."""
    hits = []
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        texts = [name.encode(), *(unpacked(path.read_bytes()) if path.is_file() else ())]
        hits += [name for one in texts if any(word.lower() in one.lower() for word in words)]
    return hits
