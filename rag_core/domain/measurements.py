"""Everything that was measured for one question, frozen. Checks read it; replay judges it again under other settings.

Settings ride in the measurements. They hold no model, index or file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rag_core.domain.bounds import require_between
from rag_core.domain.claims import Conflict, Evidence
from rag_core.domain.documents import DateSource
from rag_core.domain.drafts import Draft
from rag_core.domain.passages import Hit
from rag_core.settings import Settings

if TYPE_CHECKING:
    from rag_core.domain.llm_trace import LlmTrace

# in the metadata of a question about all documents: how many files were added and are not indexed yet
UNREAD = "unread"
AS_OF = "as_of"  # in `Measurements.metadata`: the ISO day on which the searched versions of documents were in force
OTHER_VERSIONS = "other_versions"  # there too: how many other versions were not searched
BESIDE = "beside"  # in `Measurements.metadata`: what stands beside the extract's sentences stands in it
TYPED = "typed"  # in the metadata of a rewritten question: as it was typed
REWRITTEN_BY = "rewritten_by"  # there too: rules, model, reader or this
SPELLING = "spelling"
CLAUSE = "clause"  # there too: "missing" or "long", of the clause that a question names by its number
SUGGESTION = "suggestion"  # there too: a question that may be meant by a follow-up that nobody could place


@dataclass(frozen=True, slots=True)
class Understanding:
    """A question before retrieval: `keywords` have over three letters, `entities` are names and numbers."""

    language: str = "und"
    intent: str = "factual"
    keywords: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KeywordMatch:
    """The keywords that stand in the retrieved passages, and those that do not."""

    matched: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    abstain: str = ""


@dataclass(frozen=True, slots=True)
class LibraryFacts:
    """The facts about the searched documents that a refusal needs. `names` maps document ids to the names to show.

    `dates` are ISO as far as known, and `date_sources` say whose each of them is. `chosen`: whether only documents that
    somebody chose were searched, by name or by what they are.
    """

    documents: int = 0
    passages: int = 0
    pages: int = 0
    unreadable: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: MappingProxyType({}))
    partly: tuple[str, ...] = ()  # documents of which a part was not read
    languages: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    headings: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # on first pages, set large
    page_counts: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))  # pages of a document
    written_in: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # the language of a document
    titles: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    dates: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    date_sources: Mapping[str, DateSource] = field(default_factory=lambda: MappingProxyType({}))
    authors: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    authority: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    version: int = 0
    model: str = ""
    unknown_languages: tuple[str, ...] = ()  # languages of searched documents that the embedding model does not know
    chosen: bool = False

    def date_of(self, document: str) -> tuple[str, DateSource]:
        return self.dates.get(document, ""), self.date_sources.get(document, DateSource.NONE)

    def conflict(
        self,
        first: Evidence,
        second: Evidence,
        values: tuple[str, str],
        claims: tuple[int, int],
        *,
        added: bool = False,
        statements: tuple[str, str] = ("", ""),
    ) -> Conflict:
        """The conflict of two claims that rest on these places, with the value that each states."""
        (one, whose_one), (other, whose_other) = self.date_of(first.document), self.date_of(second.document)
        return Conflict(
            *claims,
            values,
            (first.document, second.document),
            (first.spans[0].page, second.spans[0].page),
            (one, other),
            added,
            statements,
            (whose_one, whose_other),
        )

    def by_file(self, document: str) -> bool:
        """Whether all that is known of a document's date is what its file states."""
        return self.date_sources.get(document) is DateSource.FILE


@dataclass(frozen=True, slots=True)
class Measurements:
    """One question with all its measurements.

    `relevance` is the mean cosine of the question to the beginnings of the top passages; None when nothing was
    retrieved. `missing_entities` are those of the question's entities that stand in none of the searched documents;
    `nowhere` are those of which a refusal may say so: no other form of them stands anywhere either. `correctness` is
    the probability that the extract is a right answer, `answerability` that the documents answer the question at all;
    None when no calibration fits the library. `timings` are milliseconds by stage. `llm_trace` is what a language model
    was asked; None where the settings ask none. `other` are those of the less likely half of a question that asks two
    things, by itself; then all else here is of the likelier one.
    """

    question: str
    settings: Settings
    understanding: Understanding = Understanding()
    library: LibraryFacts = LibraryFacts()
    hits: tuple[Hit, ...] = ()
    features: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    correctness: float | None = None
    answerability: float | None = None
    relevance: float | None = None
    keywords: KeywordMatch = KeywordMatch()
    missing_entities: tuple[str, ...] = ()
    nowhere: tuple[str, ...] = ()
    # the extract, or the passages as they are; a model's drafts are in `llm_trace`
    draft: Draft = field(default_factory=Draft)
    conflicts: tuple[Conflict, ...] = ()  # between claims of the draft
    answer: str = ""  # for questions answered without retrieval
    failure: str = ""  # a failure of ours, in one sentence
    timings: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    metadata: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    llm_trace: LlmTrace | None = None
    other: Measurements | None = None

    def __post_init__(self) -> None:
        require_between("Measurements.correctness", self.correctness, 0.0, 1.0)
        require_between("Measurements.answerability", self.answerability, 0.0, 1.0)
        require_between("Measurements.relevance", self.relevance, -1.0, 1.0)
        wrong = {name: value for name, value in self.features.items() if not math.isfinite(value)}
        if wrong:
            raise ValueError(f"Measurements.features must be finite, got {wrong}")
