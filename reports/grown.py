"""Libraries of any size to measure with, of texts of their own.

The first ten thousand passages are indexed as any text is: sentences of words drawn as words are in life (a few often,
most seldom, each page about a subject), names and numbers. What goes beyond is these documents again with other names
and numbers, put into the library by its own writer. A real embedding model would take hours, so that a text's vector is
the sum of a vector of each of its words: near for texts that share words, spread for the others.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from sqlite3 import Connection
from typing import Any
from zlib import crc32

import numpy as np
import regex

from rag_core import Settings
from rag_core.adapters.index.bm25 import Bm25Store
from rag_core.adapters.index.choose import vector_store
from rag_core.adapters.index.flat import DIM
from rag_core.domain.ports import TextKind, Vectors
from rag_core.library.disk.private import write
from rag_core.library.library import Library
from rag_core.library.stored import stored_sources
from rag_core.library.stored.collection import COMPLETE, pack_entry, pack_terms, pack_vectors, unpack_terms
from rag_core.library.stored.entry import Entry
from rag_core.library.stored.sources import Source, text_source
from rag_core.library.stored.stored_json import pack, unpack

STORE = "faiss-flat"
INDEXED = 10_000  # passages that are indexed in earnest; a minute
BATCH = 50_000  # passages that are published at once beyond them; about a gigabyte of memory
VOCABULARY = 50_000  # words, about as many as large English collections use more than once; chosen
SUBJECTS, SHARED = 64, 200  # subjects of pages, and how many of the most frequent words belong to all; chosen
SENTENCES = 480  # a document: about fifty passages, thirty pages
PAGE_SENTENCES = 16  # a page; chosen
COMMON = "the of and to in for on with by from is are was were shall may not under section".split()
SYLLABLES = "ba ke lo mi nu ra ve ti so du fa gre pla ster con tor mel vin hol der".split()
TABLE = 1 << 14  # vectors of words; two words share one now and then, as words of a language mean the same
HEAD = 6  # letters of a word that its vector goes by: its index term has them too
CONSONANTS, VOWELS, DIGITS = "bcdfghjklmnpqrstvwxyz", "aeiou", "0123456789"
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


class Renamed:
    """The same text with other names (a word in four) and numbers, letter by letter, so that offsets stay."""

    def __init__(self, variant: int) -> None:
        self._map = str.maketrans(
            {
                old: new
                for letters, by in ((CONSONANTS, variant % 20), (VOWELS, variant // 20), (DIGITS, variant))
                for one in (letters, letters.upper())
                for old, new in zip(one, one[by % len(one) :] + one[: by % len(one)], strict=True)
            }
        )
        self._known: dict[str, str] = {}

    def word(self, word: str) -> str:
        """A word or an index term in this variant."""
        known = self._known.get(word)
        if known is None:
            lower = word.casefold()
            is_name = lower not in COMMON and (lower[:1].isdecimal() or crc32(lower[:4].encode()) % 4 == 0)
            known = self._known[word] = word.translate(self._map) if is_name else word
        return known

    def text(self, text: str) -> str:
        """A text in this variant."""
        renamed: str = _WORD.sub(lambda found: self.word(found[0]), text)
        return renamed


def opened(folder: Path, store: str = STORE) -> Library:
    """The library of one size."""
    return Library.open(folder, "growth", embedder=SummedWords(), vectors=vector_store(store), lexical=Bm25Store())


def built(folder: Path, passages: int) -> float:
    """Build a library of at least so many passages; the seconds that indexing took a passage."""
    library, settings, seed, took = opened(folder), Settings.load(), 0, 0.0
    while (missing := min(passages, INDEXED) - len(library.snapshot.passages)) > 0:
        sources = [Texts(seed + number).source() for number in range(max(1, min(missing // 60, 100)))]
        seed += len(sources)
        begun = time.perf_counter()
        library.add(sources, settings)
        took += time.perf_counter() - begun
    each = took / len(library.snapshot.passages)
    _repeat(library, passages)
    return each


def _repeat(library: Library, passages: int) -> None:
    """Add the library's documents again and again, each time with other names and numbers, up to so many passages."""
    originals, embedder, variant, file = library.snapshot.entries, SummedWords(), 0, library._collection
    there = len(library.snapshot.passages)
    while there < passages:
        forms, fresh = list[int](), 0
        with file.writing() as db:
            while there + fresh < passages and fresh < BATCH:
                at = variant % len(originals)
                number, count = _copied(
                    db, file.root, originals[at], Renamed(1 + variant // len(originals)), variant, embedder
                )
                forms.append(number)
                fresh, variant = fresh + count, variant + 1
        library._publish(forms, (), ())
        there = len(library.snapshot.passages)


def _copied(
    db: Connection, root: Path, entry: Entry, names: Renamed, number: int, embedder: SummedWords
) -> tuple[int, int]:
    """A document with other names and numbers, not in the library yet: its number, and its passages."""
    text = names.text((root / stored_sources.name_of(entry.source)).read_text())
    source = text_source(f"copy {number}", text, id=f"copy-{number}")
    row = replace(entry.source, digest=source.digest, names=(source.name,), caller_id=source.id)
    write(root / stored_sources.name_of(row), bytes(source.data))  # type: ignore[arg-type]  # a text's bytes are in memory
    copy = Entry(
        0, f"{row.digest}-{entry.key.partition('-')[2]}", replace(entry.document, id=row.id, name=row.name), row
    )
    columns = "state, place, stamp, language, bytes, size, pages, options, reading"
    own = db.execute(
        f"INSERT INTO document (digest, key, entry, {columns}) SELECT ?, ?, ?, {columns} FROM document WHERE id = ?",
        (row.digest, copy.key, pack_entry(copy), entry.row),
    ).lastrowid
    assert own is not None
    db.execute("UPDATE document SET state = ? WHERE id = ?", (COMPLETE, own))
    for at, facts, layout in db.execute(
        "SELECT number, facts, layout FROM page WHERE document = ?", (entry.row,)
    ).fetchall():
        page = unpack(facts)
        db.execute(
            "INSERT INTO page VALUES (?, ?, ?, ?)", (own, at, pack(page | {"text": names.text(page["text"])}), layout)
        )
    count, title, packed, terms = db.execute(
        "SELECT count, title, passages, terms FROM passages WHERE document = ?", (entry.row,)
    ).fetchone()
    rows: list[list[Any]] = [
        [f"{row.digest[:14]}:{at:05}", names.text(one[1]), *one[2:]] for at, one in enumerate(unpack(packed))
    ]
    renamed = pack_terms([[names.word(term) for term in one] for one in unpack_terms(terms)])
    vectors = pack_vectors(embedder.embed([one[1] for one in rows]))
    db.execute("INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?)", (own, count, title, pack(rows), renamed, vectors))
    return own, count
