"""The ports: what the core needs from the outside, as Protocols of one to four methods. Adapters fit by shape."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rag_core.domain.documents import Document, WordBox
from rag_core.domain.given import Given
from rag_core.domain.llm_trace import Completion, Limits, Prompt
from rag_core.domain.passages import Passage, Place, ReadPlace

Vectors = NDArray[np.float32]
TextKind = Literal["query", "passage"]
Side = Literal["before", "after", "heading"]  # where a text stands, seen from a sentence
# for each text beside a sentence the probability that it takes that back, limits or frames it
Undoing = Callable[[Sequence[tuple[Side, str]]], Sequence[float]]
Progress = Callable[[str, int, int], None]  # (what, done, total); `what` may be a `Step`
# (document id, 1-based page) -> the page's raw text; "" where there is no such page
PageText = Callable[[str, int], str]
Cancel = Callable[[], bool]  # True when the user wants to stop; read between batches


def never(beside: Sequence[tuple[Side, str]]) -> Sequence[float]:
    """An `Undoing` without a model: no text undoes."""
    return [0.0] * len(beside)


class Step(str):
    """A step on one file, in words ("report.pdf: cutting"), with the id that its `document` has or will have.

    Several files may be in work at once, and have one name.
    """

    document: str

    def __new__(cls, what: str, document: str) -> Step:
        made = super().__new__(cls, what)
        made.document = document
        return made


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def name(self) -> str:
        """Model and precision, as stored in a library: `multilingual-e5-small@bfloat16`."""

    @property
    def max_tokens(self) -> int:
        """Tokens the model reads, special tokens included; more would be cut off silently."""

    @property
    def tokenizer(self) -> str:
        """12 hex digits of the tokenizer's vocabulary: another vocabulary cuts texts and counts tokens differently."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text in the model's own tokenizer, special tokens included."""

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Vectors:
        """Unit vectors of shape (len(texts), dim), float32; a question may be read otherwise."""


class VectorIndex(Protocol):
    """Finds the passages nearest to a vector."""

    def search(self, vector: Vectors, k: int, allowed: Sequence[int] | None) -> list[tuple[int, float]]:
        """At most k (row, cosine) for a vector of shape (dim,), best first, ties by row, of `allowed` if given."""

    def vectors(self, rows: Sequence[int]) -> Vectors:
        """The stored vectors of these rows, shape (len(rows), dim)."""


class LexicalIndex(Protocol):
    """Finds the passages that share words with a question."""

    def search(self, terms: Sequence[str], k: int, allowed: Sequence[int] | None) -> list[tuple[int, float]]:
        """At most k (row, BM25 score > 0), best first, ties by row; only rows in `allowed` when given."""

    def scores(self, terms: Sequence[str], rows: Sequence[int]) -> list[float]:
        """The BM25 score of each of these rows, >= 0."""

    def vocabulary(self) -> Collection[str]:
        """The terms that any passage of the whole collection holds, each once."""


class Reranker(Protocol):
    """Scores passages against a question with a cross-encoder."""

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """One score in [0, 1] per text."""


class AnswerabilityModel(Protocol):
    """Reads a question together with places in documents: which sentence answers it there?"""

    @property
    def version(self) -> str:
        """A hash of the network: another one, another calibration."""

    def read(self, question: str, places: Sequence[Place]) -> list[ReadPlace]:
        """The log odds of each place and of each of its units, in their order."""


class EntailmentModel(Protocol):
    """Says how likely a text supports a claim."""

    @property
    def version(self) -> str:
        """Its weights: a hash, or the model's name where it is not ours."""

    @property
    def languages(self) -> frozenset[str]:
        """ISO 639-1 codes that it reads; in any other language only facts and words are compared."""

    def supports(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each (evidence, claim) the log of the odds that the evidence supports the claim, in [-10, 10]; 0.0 is
        undecided.
        """


class LanguageModel(Protocol):
    """Writes a text by instructions. What it writes is untrusted."""

    @property
    def name(self) -> str:
        """The model, as it is asked for."""

    @property
    def endpoints(self) -> tuple[str, ...]:
        """Host and port of each server, in the order in which they are asked."""

    def complete(self, prompt: Prompt, limits: Limits) -> Completion:
        """The answer to a prompt.

        Raises:
            ModelUnavailable: there is none within the limits; the problem names endpoint and cause, never the key.
            Cancelled: the user stopped it.
        """


class VectorStore(Protocol):
    """Builds a vector index."""

    @property
    def name(self) -> str:
        """As the setting `vector_store` and a library say it: `faiss-flat`."""

    def build(self, vectors: Vectors) -> VectorIndex:
        """An index over unit vectors of shape (n, dim); n may be 0."""

    def spliced(self, index: VectorIndex, pieces: Sequence[range | Vectors]) -> VectorIndex | None:
        """The index over these pieces in their order, at least one: rows of `index`, each at most once, or new vectors.

        Equal to what `build` makes. None where this store has to build from all vectors.
        """


@runtime_checkable
class VectorsInDatabase(VectorStore, Protocol):
    """A `VectorStore` whose vectors are in a database; what finds them again stands in the collection's folder."""

    def send(self, index: VectorIndex, folder: Path) -> None:
        """Store the vectors of an index that the database lacks, before it is asked for the first time."""

    def require(self, index: VectorIndex, folder: Path) -> None:
        """Raise LibraryDamaged unless all vectors of an index are there, before it is asked for the first time."""

    def keep(self, indexes: Iterable[VectorIndex], folder: Path) -> None:
        """Delete all vectors of the collection that none of these indexes has."""


class Corpus(Protocol):
    """The documents that a question is asked of: one immutable version of a library, or ready passages."""

    @property
    def given(self) -> Given | None:
        """How ready passages came about, where only those are known; None for a library, of which everything is."""

    @property
    def reading(self) -> Mapping[str, int]:
        """All pages of each document that is still being read, by its id; `documents` has those that were read."""

    @property
    def version(self) -> int:
        """Counts up with every change."""

    @property
    def documents(self) -> Sequence[Document]:
        """The documents, in the order they were added."""

    @property
    def passages(self) -> Sequence[Passage]:
        """All passages, in the row order of the indexes."""

    @property
    def vectors(self) -> VectorIndex: ...

    @property
    def lexical(self) -> LexicalIndex: ...

    def rows(self, documents: Collection[str] | None, filters: Mapping[str, str]) -> list[int] | None:
        """The rows of these documents (by id or name) that match the metadata filters; None for all."""

    def page_text(self, document: str, page: int) -> str:
        """The raw text of a page, by document id and 1-based page."""

    def words(self, document: str, page: int) -> Sequence[WordBox]:
        """The word boxes of a page; empty for a text document."""
