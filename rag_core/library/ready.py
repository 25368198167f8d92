"""A corpus in memory of passages that something else retrieved; the text of a page is that of its given passages.

A passage that the embedding model can read as a whole stays one; a longer one, or one with headings, is parted as a
document is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rag_core.domain.documents import Document, Metadata, Page, Span, WordBox
from rag_core.domain.given import Given, ReadyPassage, ready_passage
from rag_core.domain.passages import Passage, Piece
from rag_core.domain.ports import Cancel, Embedder, VectorIndex, VectorStore
from rag_core.errors import Conflict, InvalidInput
from rag_core.ingest.passages.chunk import MIN_TOKENS, chunk
from rag_core.ingest.passages.context import SECTION_MARK, context, section_path
from rag_core.ingest.passages.strategies import STRATEGIES
from rag_core.language import certain_language, detect
from rag_core.language.detection import script
from rag_core.library.indexing.documents import LANGUAGE_CHARS
from rag_core.library.indexing.embedding import terms_of, vectors_of
from rag_core.library.stored.bounds import require_metadata
from rag_core.library.stored.sources import clean, described
from rag_core.retrieval.bm25 import Bm25Index

MAX_PASSAGES = 200  # for one question, four times what a search here may find; each takes about 0.03 s to embed; chosen
MAX_CHARS = 1_000_000  # in all of them together, about 500 pages; chosen
STRATEGY = STRATEGIES["technical"]  # fills passages up to what the model reads: they were cut already
_BETWEEN = "\n\n"  # two given passages of one page


@dataclass(frozen=True, eq=False)
class ReadyCorpus:
    """A `Corpus` of one question; `given` says how its rows follow from what was given. `pages` are by id and page."""

    given: Given
    documents: tuple[Document, ...]
    passages: tuple[Passage, ...]
    vectors: VectorIndex
    lexical: Bm25Index
    pages: Mapping[tuple[str, int], str] = field(repr=False)
    version: int = 0

    @property
    def reading(self) -> Mapping[str, int]:
        """Nothing: all is there before it is asked."""
        return {}

    def rows(self, documents: Collection[str] | None, filters: Mapping[str, str]) -> None:
        """All of them: whoever gave the passages has chosen."""

    def page_text(self, document: str, page: int) -> str:
        """The given passages of a page in their order, parted by an empty line; "" where none was given."""
        return self.pages.get((document, page), "")

    def words(self, document: str, page: int) -> Sequence[WordBox]:
        """None: where words stand on the page is not known."""
        return ()


def read_passages(passages: Iterable[object]) -> tuple[ReadyPassage, ...]:
    """The ready passages of a question, each with an id of its own; an InvalidInput names the first unusable one."""
    if isinstance(passages, (str, bytes, Mapping)) or not isinstance(passages, Iterable):
        raise InvalidInput(
            f"Passages are a list, got {type(passages).__name__}.", remedy="Put the passages into a list, best first."
        )
    found: dict[str, ReadyPassage] = {}
    chars = 0
    for number, value in enumerate(passages, 1):
        try:
            one = ready_passage(value)
        except InvalidInput as error:
            raise InvalidInput(f"Passage {number}: {error.problem}", remedy=error.remedy) from error
        one = replace(
            one,
            id=clean(one.id) or str(number),
            text=clean(one.text),
            document=clean(one.document),
            section=clean(one.section),
        )
        if one.id in found:
            raise Conflict(
                f"Passage {number}: the id {one.id!r} is that of an earlier one.",
                remedy="Give each passage an id of its own.",
            )
        found[one.id] = one
        chars += len(one.text)
        if number > MAX_PASSAGES or chars > MAX_CHARS:
            raise InvalidInput(
                f"There are more than {MAX_PASSAGES} passages, or more than {MAX_CHARS:,} characters in all (at "
                f"passage {number}).",
                remedy="Give the best ones that your retrieval found.",
            )
    return tuple(found.values())


def ready_corpus(
    passages: Iterable[object],
    embedder: Embedder,
    vectors: VectorStore,
    cancelled: Cancel | None = None,
) -> ReadyCorpus:
    """The corpus of these passages, in their order; the weights of words come from them alone.

    Raises:
        InvalidInput: as `read_passages`; metadata that cannot be used.
        Cancelled: it was stopped.
        ModelUnavailable, LimitExceeded: the embedding model failed, or took too long.
    """
    ready = read_passages(passages)
    of = _documents_of(ready)
    told = _languages_told(ready)
    documents = {id: _document(id, theirs, told) for id, theirs in _by_document(ready).items()}
    pages: dict[tuple[str, int], str] = {}
    found: list[Passage] = []
    places: list[int] = []
    for place, (one, id) in enumerate(zip(ready, of, strict=True)):
        key = (id, one.page or 1)
        before = pages[key] + _BETWEEN if key in pages else ""
        pages[key] = before + one.text
        parts = list(_parts(one, documents[id], embedder, len(before), cancelled))
        found += parts
        places += [place] * len(parts)
    if len({passage.id for passage in found}) < len(found):
        raise Conflict(
            "An id of a passage is that of a part of another.", remedy="Give ids without #1, #2 and so on at their end."
        )
    titled = [(_title(documents[passage.document]), passage) for passage in found]
    index = vectors.build(vectors_of(embedder, titled, "passages", None, cancelled))
    terms = [row for title, passage in titled for row in terms_of("the question's passages", title, [passage])]
    given = Given(tuple(places), tuple(one.score for one in ready), sum(one.page is None for one in ready))
    return ReadyCorpus(given, tuple(documents.values()), tuple(found), index, Bm25Index.of(terms), pages)


def document_values(passages: Iterable[object]) -> dict[str, Mapping[str, str]]:
    """The free metadata of the passages' documents by id, to name a source by; raises as `ready_corpus`."""
    return {id: _metadata(theirs).values for id, theirs in _by_document(read_passages(passages)).items()}


def _documents_of(ready: Sequence[ReadyPassage]) -> list[str]:
    return [f"document:{one.document}" if one.document else f"passage:{number}" for number, one in enumerate(ready, 1)]


def _by_document(ready: Sequence[ReadyPassage]) -> dict[str, list[ReadyPassage]]:
    found: dict[str, list[ReadyPassage]] = {}
    for id, one in zip(_documents_of(ready), ready, strict=True):
        found.setdefault(id, []).append(one)
    return found


def _metadata(passages: Sequence[ReadyPassage]) -> Metadata:
    values = {key: _text_of(value) for one in reversed(passages) for key, value in one.metadata.items()}
    metadata = described(Metadata(), values)
    require_metadata(metadata)
    return metadata


def _document(id: str, passages: Sequence[ReadyPassage], told: Mapping[str, str]) -> Document:
    """The document of these passages; too short ones are in the language `told` by others of their script."""
    metadata = _metadata(passages)
    language = next((one.language.casefold()[:2] for one in passages if one.language), "")
    sample = "\n".join(one.text for one in passages)[:LANGUAGE_CHARS]
    name = passages[0].document or passages[0].id
    return Document(
        id,
        name,
        language or certain_language(sample) or told.get(script(sample)) or detect(sample),
        len({one.page or 1 for one in passages}),
        metadata,
    )


def _languages_told(passages: Sequence[ReadyPassage]) -> dict[str, str]:
    """For each script the language that most of the passages in it are surely written in."""
    sure = [
        (script(one.text), language) for one in passages if (language := certain_language(one.text[:LANGUAGE_CHARS]))
    ]
    return {name: language for (name, language), _ in reversed(Counter(sure).most_common())}


def _text_of(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _title(document: Document) -> str:
    """The title that is embedded: the name of a PDF says something, an id does not."""
    named = Path(document.name).stem.replace("_", " ") if document.name.lower().endswith(".pdf") else ""
    return document.metadata.title or named


def _parts(
    one: ReadyPassage, document: Document, embedder: Embedder, offset: int, cancelled: Cancel | None
) -> Iterator[Passage]:
    """The passages that are made of a given one: nearly always one, none where it holds nothing that can be read."""
    room = min(STRATEGY.max_tokens, embedder.max_tokens)
    if one.section:
        room = max(MIN_TOKENS, room - embedder.count_tokens([context("", one.section, "")])[0])
    page = Page(one.page or 1, one.text)
    made = chunk(
        one.id,
        [page],
        language=document.language,
        title=_title(document),
        strategy=STRATEGY,
        embedder=embedder,
        max_tokens=room,
        overlap_tokens=0,
        cancelled=cancelled,
    )
    for number, passage in enumerate(made, 1):
        id = one.id if len(made) == 1 else f"{one.id}#{number}"
        yield _placed(
            replace(passage, id=id, document=document.id, section=_section(one.section, passage.section)), offset
        )


def _section(given: str, found: str) -> str:
    return section_path(
        [*given.split(SECTION_MARK), *found.split(SECTION_MARK)] if given and found else [given or found]
    )


def _placed(passage: Passage, by: int) -> Passage:
    """The passage with its offsets in the text of its page."""

    def moved(spans: Iterable[Span]) -> tuple[Span, ...]:
        return tuple(Span(span.page, span.start + by, span.end + by) for span in spans)

    pieces = tuple(Piece(piece.role, moved(piece.spans), moved(piece.lead)) for piece in passage.pieces)
    return replace(passage, spans=moved(passage.spans), header=moved(passage.header), pieces=pieces)
