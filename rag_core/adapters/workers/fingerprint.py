"""The things that must be equal in two processes which are to make the same document, bit by bit, of the same bytes."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from rag_core.adapters.embedding.by_name import has_bfloat16
from rag_core.domain.ports import Embedder
from rag_core.ingest.reading.ocr_engines import version_of
from rag_core.ingest.reading.tessdata import find_tessdata
from rag_core.settings import DATA

CODE = Path(__file__).parents[2]  # rag_core
BFLOAT16 = "bfloat16"

Fingerprint = dict[str, str]  # each thing in words, and its value


def fingerprint(embedder: Embedder, *, ocr: str) -> Fingerprint:
    """This process's own; `ocr` is the engine that is to read pictures, "" where none is to."""
    found = {
        "program": program(),
        "embedding model": embedder.name,
        "tokenizer": embedder.tokenizer,
        "OCR languages": "+".join(find_tessdata()[0]) if ocr else "",
        "OCR weights": version_of(ocr),
    }
    if embedder.name.endswith(f"@{BFLOAT16}"):  # a processor without it adds up in another order
        found["bfloat16 in hardware"] = str(has_bfloat16())
    return found


@lru_cache(maxsize=1)
def program() -> str:
    """12 hex digits of the program's files and of its words of languages: another version may read, cut or spell otherwise."""
    digest = hashlib.sha256()
    for folder, pattern in ((CODE, "**/*.py"), (DATA / "languages", "*.toml")):
        for path in sorted(folder.glob(pattern)):
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]
