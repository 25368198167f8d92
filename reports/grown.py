"""Libraries of any size to measure with, of texts of their own.

They are indexed as any text is: sentences of words drawn as words are in life (a few often, most seldom, each page
about a subject), names and numbers. A real embedding model would take hours, so a text's vector is the sum of a vector
of each of its words: near for texts that share words, spread for the others.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from zlib import crc32

import numpy as np
import regex

from rag_core import Settings
from rag_core.adapters.index.bm25 import Bm25Store
from rag_core.adapters.index.choose import vector_store
from rag_core.adapters.index.flat import DIM
from rag_core.domain.ports import TextKind, Vectors
from rag_core.library.library import Library
from rag_core.library.stored.sources import Source, text_source

STORE = "faiss-flat"
VOCABULARY = 50_000  # words, about as many as large English collections use more than once; chosen
SUBJECTS, SHARED = 64, 200  # subjects of pages, and how many of the most frequent words belong to all; chosen
SENTENCES = 480  # a document: about fifty passages, thirty pages
PAGE_SENTENCES = 16  # a page; chosen
COMMON = "the of and to in for on with by from is are was were shall may not under section".split()
SYLLABLES = "ba ke lo mi nu ra ve ti so du fa gre pla ster con tor mel vin hol der".split()
TABLE = 1 << 14  # vectors of words; two words share one now and then, as words of a language mean the same
HEAD = 6  # letters of a word that its vector goes by: its index term has them too
_WORD = regex.compile(r"[a-z]+|\d+", regex.IGNORECASE)


class SummedWords:
    """An `Embedder` whose vector of a text is the sum of a vector of each of its words, at length 1. Shape (n, 384)."""

    name, tokenizer, max_tokens = "summed-words@float32", "words", 256

    @cached_property
    def table(self) -> Vectors:
        """The vectors; common words weigh a tenth."""
        drawn = np.random.default_rng(0).standard_normal((TABLE, DIM), dtype=np.float32)
        drawn[[_number(word) for word in COMMON]] *= np.float32(0.1)
        return drawn

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Words and two more, as a model marks both ends of a text."""
        return [len(text.split()) + 2 for text in texts]

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Vectors:
        """Unit vectors of shape (len(texts), 384)."""
        return self.summed([_WORD.findall(text.casefold()) for text in texts])

    def summed(self, rows: Sequence[Sequence[str]]) -> Vectors:
        """The same of the words of each text."""
        made = np.zeros((len(rows), DIM), dtype=np.float32)
        for at, row in enumerate(rows):
            made[at] = self.table[[_number(word) for word in row] or [0]].sum(axis=0)
        unit: Vectors = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
        return unit


@lru_cache(maxsize=1 << 18)
def _number(word: str) -> int:
    return crc32(word[:HEAD].encode()) % TABLE


@dataclass(frozen=True, slots=True)
class Texts:
    """Makes texts; the same seed makes the same ones."""

    seed: int

    def sentences(self, count: int) -> Iterator[str]:
        """Sentences of 8 to 24 words; a word of rank r comes with a frequency of about 1/r."""
        chance = random.Random(self.seed)
        for number in range(count):
            if number % PAGE_SENTENCES == 0:
                subject = chance.randrange(SUBJECTS)
            drawn = [
                chance.choice(COMMON)
                if chance.random() < 0.5
                else _word(_of(int(VOCABULARY ** chance.random()), subject))
                for _ in range(chance.randint(8, 24))
            ]
            if chance.random() < 0.4:
                drawn.insert(3, str(chance.randint(2, 90_000)))
            yield " ".join(drawn).capitalize() + "."

    def source(self, sentences: int = SENTENCES) -> Source:
        """A text document with a heading before every page's worth of sentences."""
        found = list(self.sentences(sentences))
        pages = [found[at : at + PAGE_SENTENCES] for at in range(0, len(found), PAGE_SENTENCES)]
        body = "\n\n".join(f"Section {number}\n\n" + " ".join(page) for number, page in enumerate(pages, 1))
        return text_source(f"document {self.seed}", body, id=f"document-{self.seed}", language="en")


def _of(rank: int, subject: int) -> int:
    return rank if rank < SHARED else rank - rank % SUBJECTS + subject


@lru_cache(maxsize=VOCABULARY)
def _word(rank: int) -> str:
    chance = random.Random(rank)
    return "".join(chance.choice(SYLLABLES) for _ in range(2 + rank % 3))


def opened(folder: Path, store: str = STORE) -> Library:
    """The library of one size."""
    return Library.open(folder, "growth", embedder=SummedWords(), vectors=vector_store(store), lexical=Bm25Store())


def built(folder: Path, passages: int) -> float:
    """Build a library of at least so many passages; the seconds that indexing took a passage."""
    library, settings, seed, took = opened(folder), Settings.load(), 0, 0.0
    while (missing := passages - len(library.snapshot.passages)) > 0:
        sources = [Texts(seed + number).source() for number in range(max(1, min(missing // 60, 100)))]
        seed += len(sources)
        begun = time.perf_counter()
        library.add(sources, settings)
        took += time.perf_counter() - begun
    return took / len(library.snapshot.passages)
