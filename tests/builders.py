"""What tests of the core share: measurements built by hand, and a small real corpus in memory (exact FAISS and BM25
over given texts).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from hash_embedder import DIM as DIM
from hash_embedder import HashEmbedder as HashEmbedder

from rag_core.adapters.index.flat import FaissIndex, FaissStore
from rag_core.decision.tools import Tools
from rag_core.domain.answer import evidence_key
from rag_core.domain.claims import Citation, Claim, Conflict, Evidence
from rag_core.domain.decision import Decision
from rag_core.domain.documents import DateSource, Document, Metadata, Span, WordBox
from rag_core.domain.drafts import ClaimMeasurement, Draft, taken_of
from rag_core.domain.measurements import KeywordMatch, LibraryFacts, Measurements, Understanding
from rag_core.domain.passages import Hit, Passage
from rag_core.domain.ports import Embedder
from rag_core.errors import InvalidInput
from rag_core.gating.features import FEATURES
from rag_core.gating.scores import Calibration, Identity
from rag_core.ingest.normalise import normalise
from rag_core.language import terms
from rag_core.retrieval.bm25 import Bm25Index
from rag_core.settings import Mode, Settings
from rag_core.work.jobs import Job
from rag_core.work.runner import Runner

BY_PEOPLE = (DateSource.GIVEN, DateSource.GIVEN)
SENTENCE = "The notice period is 30 days."

# Every gate and audit that has a switch, and the switches; what the four citation audits and availability judge has
# none.
GATE_MODES = {
    "correctness": "correctness_mode",
    "answerability": "answerability_mode",
    "top_cosine": "top_cosine_mode",
    "mean_confidence": "mean_confidence_mode",
    "relevance": "relevance_mode",
    "distance": "distance_mode",
    "min_documents": "min_documents_mode",
    "keywords": "keywords_mode",
    "required_entities": "required_entities_mode",
}
AUDIT_MODES = {
    "indicators": "indicators_mode",
    "length_ratio": "length_ratio_mode",
    "sentence_length": "sentence_length_mode",
    "overlap": "overlap_mode",
    "facts": "facts_mode",
    "similarity": "similarity_mode",
    "support": "support_mode",
}
# what only a question that a language model drafts has
MODEL_AUDIT_MODES = {
    "answer_language": "answer_language_mode",
    "answer_length": "answer_length_mode",
    "added_words": "added_words_mode",
    "verification": "verification_mode",
}
MODEL_MODES = {"sufficiency": "sufficiency_mode", **MODEL_AUDIT_MODES}
MODES = {**GATE_MODES, **AUDIT_MODES, "contradictions": "contradictions_mode"}
ALL_OFF = dict.fromkeys((*MODES.values(), *MODEL_MODES.values()), Mode.OFF)


def settings(**values: object) -> Settings:
    """Every switchable check off, then these values on top: a test names the one check it is about."""
    return Settings.load(values={**ALL_OFF, **values})


def passage(
    number: int = 1, text: str = SENTENCE, document: str = "d1", language: str = "en", **fields: object
) -> Passage:
    return Passage(
        f"{document}#{number}", document, text, (Span(1, 0, max(1, len(text))),), language=language, **fields
    )  # type: ignore[arg-type]


def hit(
    cosine: float = 0.9, number: int = 1, *, lexical: float = 1.0, of: Passage | None = None, **fields: object
) -> Hit:
    return Hit(of or passage(number), score=1.0 / number, cosine=cosine, lexical=lexical, **fields)  # type: ignore[arg-type]


def hits(*cosines: float) -> tuple[Hit, ...]:
    return tuple(hit(cosine, number) for number, cosine in enumerate(cosines, 1))


def claim(of: Passage, text: str = SENTENCE) -> Claim:
    evidence = Evidence(of.id, of.document, of.text, of.spans)
    return Claim(text, (evidence,), (of.id,), relevance=0.8)


def citation(evidence: Evidence, title: str = "Contract") -> Citation:
    span = evidence.spans[0]
    name = {"d2": "policy.pdf"}.get(evidence.document, "contract.pdf")
    return Citation(0, name, evidence.document, title, span.page, evidence.passage, evidence.quote, evidence.spans)


def measured(**fields: Any) -> ClaimMeasurement:
    """What was measured on a claim, clean unless told otherwise."""
    return ClaimMeasurement(
        **{
            "quotes_missing": (),
            "fabricated": (),
            "indicators": (),
            "changed_facts": (),
            "read": True,
            "words": 6,
            **fields,
        }
    )


GOOD_AUDIT = measured(overlap=1.0, similarity=1.0, support=1.0, word_for_word=True)


def draft(
    claims: Sequence[Claim], audits: Sequence[ClaimMeasurement] | None = None, context_chars: int = 1000
) -> Draft:
    measured = tuple(audits) if audits is not None else (GOOD_AUDIT,) * len(claims)
    citations = {evidence_key(evidence): citation(evidence) for one in claims for evidence in one.evidence}
    return measured_again(
        Draft("extract" if claims else "none", tuple(claims), measured, citations, context_chars=context_chars)
    )


def measured_again(drafted: Draft, claims: Sequence[Claim] | None = None) -> Draft:
    """The draft with these claims, or its own, as if its measurements had been taken of them."""
    claims = drafted.claims if claims is None else tuple(claims)
    return replace(drafted, claims=claims, measured=tuple(map(taken_of, claims, drafted.measured)))


def measurements(*cosines: float, of: Settings | None = None, **fields: object) -> Measurements:
    """Measurements with one hit for each cosine and a good draft resting on the first, unless told otherwise."""
    found = hits(*cosines)
    drafted = draft([claim(found[0].passage)]) if found else Draft()
    facts = LibraryFacts(
        documents=1, passages=len(found), pages=10, names={"d1": "contract.pdf"}, titles={"d1": "Contract"}
    )
    given: dict[str, object] = {
        "question": "What is the notice period?",
        "settings": of or settings(),
        "understanding": Understanding("en"),
        "library": facts,
        "hits": found,
        "draft": drafted,
        "metadata": {"asked_on": "2026-11-20"},
    }
    return Measurements(**{**given, **fields})  # type: ignore[arg-type]


def contradicted(
    of: Settings | None = None, cosines: tuple[float, float] = (0.9, 0.9), **fields: object
) -> Measurements:
    """Measurements whose draft has a sentence of the contract, the one of a newer policy that contradicts it, and a
    third of the first.
    """
    first, other, last = (
        passage(1),
        passage(2, "The notice period is 60 days.", document="d2"),
        passage(3, "Notice is given in writing."),
    )
    found = (hit(cosines[0], of=first), hit(cosines[1], 2, of=other), hit(0.9, 3, of=last))
    given: dict[str, object] = {
        "hits": found,
        "draft": draft([claim(one, one.text) for one in (first, other, last)]),
        "library": LibraryFacts(documents=2, passages=3, pages=2, names={"d1": "contract.pdf", "d2": "policy.pdf"}),
        "conflicts": (
            Conflict(
                0, 1, ("30 days", "60 days"), ("d1", "d2"), (1, 1), ("2024-03-01", "2026-03-01"), date_sources=BY_PEOPLE
            ),
        ),
    }
    return measurements(of=of, **{**given, **fields})


def matched(count: int, missing: int = 0) -> KeywordMatch:
    return KeywordMatch(tuple(f"held{n}" for n in range(count)), tuple(f"lost{n}" for n in range(missing)))


def identity(model: str = "hash") -> Identity:
    """What measures with a model that cuts texts into words."""
    return Identity.of(HashEmbedder(name=f"{model}@float32"))


def calibration(model: str = "hash", weight: float = 8.0, middle: float = 0.5) -> Calibration:
    """Scores that rise with `draft_cosine`, 0.5 at `middle`: enough to gate on without the fitted file.

    Both say the same.
    """
    coefficients = tuple(weight if name == "draft_cosine" else 0.0 for name in FEATURES)
    means = tuple(middle if name == "draft_cosine" else 0.0 for name in FEATURES)
    made = Calibration(identity(model), FEATURES, means, (1.0,) * len(FEATURES), coefficients, 0.0, {})
    return replace(made, correctness=made, provenance={"fitted_on": "nothing: made for a test"})


@dataclass(frozen=True)
class Text:
    """One document of a corpus; every line is a passage."""

    id: str
    body: str
    language: str = "en"
    metadata: Metadata = field(default_factory=Metadata)
    unreadable: tuple[int, ...] = ()


class MemoryCorpus:
    """A `Corpus` in memory over exact FAISS and BM25: one page a document, one passage a line."""

    given = None
    reading: Mapping[str, int] = MappingProxyType({})

    def __init__(self, texts: Sequence[Text], embedder: Embedder, version: int = 1) -> None:
        self.version = version
        self.documents = [
            Document(t.id, f"{t.id}.txt", t.language, 1 + len(t.unreadable), t.metadata, unreadable_pages=t.unreadable)
            for t in texts
        ]
        self.pages = {t.id: t.body for t in texts}
        self.passages: list[Passage] = []
        for t in texts:
            at = 0
            for number, line in enumerate(t.body.split("\n"), 1):
                if line.strip():
                    span = Span(1, at, at + len(line))
                    self.passages.append(Passage(f"{t.id}#{number}", t.id, normalise(line).text, (span,), t.language))
                at += len(line) + 1
        vectors = embedder.embed([p.text for p in self.passages])
        self.vectors: FaissIndex = FaissStore(vectors.shape[1]).build(vectors)
        self.lexical: Bm25Index = Bm25Index.of([terms(p.text, p.language) for p in self.passages])

    def rows(self, documents: Collection[str] | None, filters: Mapping[str, str]) -> list[int] | None:
        if documents is None and not filters:
            return None
        chosen = []
        known = {name for d in self.documents for name in (d.id, d.name)}
        for name in documents or ():
            if name not in known:
                raise InvalidInput(f"There is no document {name!r}.", remedy="Name one that is there.")
        for d in self.documents:
            named = documents is None or {d.id, d.name} & set(documents)
            if named and all(d.metadata.values.get(key) == value for key, value in filters.items()):
                chosen.append(d.id)
        return [row for row, p in enumerate(self.passages) if p.document in chosen]

    def page_text(self, document: str, page: int) -> str:
        return self.pages[document] if page == 1 else ""

    def words(self, document: str, page: int) -> tuple[WordBox, ...]:
        return ()


# what the regression over the embedded model says of these: a hashing embedder knows none
TALK = {
    "Hello": "greeting",
    "Hello!": "greeting",
    "What documents do you have?": "library",
    "Which documents do you have?": "library",
}


def tools(embedder: Embedder | None = None, **fields: object) -> Tools:
    """Tools with a clock that stands still, so that equal questions give equal measurements."""
    model = embedder or HashEmbedder()
    given: dict[str, object] = {
        "embedder": model,
        "calibration": calibration(),
        "clock": lambda: 0.0,
        "talk": lambda text: TALK.get(text, ""),
    }
    return Tools(**{**given, **fields})  # type: ignore[arg-type]


def with_outcome(decision: Decision, **fields: Any) -> Decision:
    """The decision with other fields of its answer or refusal; its claims are measured as they were."""
    if "claims" in fields:
        fields["measured"] = tuple(map(taken_of, fields["claims"], decision.measured))
    return replace(decision, outcome=replace(decision.outcome, **fields))


@contextmanager
def a_job_of_another(runner: Runner) -> Iterator[None]:
    """Another's job has the turn: those that come meanwhile wait."""
    job = Job("another", by="another")
    assert runner._turns.take(job)
    yield
    runner._turns.give_back(job)
