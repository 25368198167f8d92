"""Every setting once: bounds, step, scale, unit, help, and what changing it costs.

The same declaration validates a value, draws its slider and writes its row in the documentation. Presets are named sets
of values, in `data/presets.yaml`. This module knows nothing about documents or models.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any, Literal, get_args

from pydantic import ConfigDict, Field, ValidationError

from rag_core.errors import InvalidSetting
from rag_core.settings.knobs import STRICT, VALIDATION, Cost, Knob, Mode, Stage, at_least, at_most, choice, mode, number
from rag_core.settings.llm import ModelSettings
from rag_core.settings.presets import DEFAULT_PRESET, presets
from rag_core.settings.scales import Scale, Unit

_R, _A, _I = Cost.REPLAY, Cost.ASK, Cost.INGEST


class Settings(ModelSettings):
    """All settings of one run. Frozen, so that a trace can quote the exact values used; unknown names are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)

    preset: str = Field(DEFAULT_PRESET, json_schema_extra={"scale": "label"})
    """Name of the preset the values came from."""

    # retrieve
    top_k: int = number(10, Stage.RETRIEVE, _A, Unit.PASSAGES, 1, 50)
    """How many passages are retrieved for a question."""
    semantic_weight: float = number(0.5, Stage.RETRIEVE, _A, Scale.SHARE, step=0.05)
    """Weight of the dense ranking when rankings are fused; the lexical one gets the rest."""
    reranker: str = choice("", Stage.RETRIEVE, _A)
    """Name or folder of a cross-encoder that reorders the passages; empty for none."""
    authority_weight: float = number(0.0, Stage.RETRIEVE, _A, Scale.SHARE, step=0.05)
    """How much a document's stated authority raises its passages; 0 does nothing."""
    recency_weight: float = number(0.0, Stage.RETRIEVE, _A, Scale.SHARE, step=0.05)
    """How much a newer date raises a passage, for time-sensitive questions only."""
    recency_half_life_days: int = number(365, Stage.RETRIEVE, _A, Unit.DAYS, 1, 3650)
    """Age at which a document counts half in recency."""

    # gates
    min_correctness: float = at_least(0.5, Stage.GATE, Scale.CORRECTNESS)
    """Refuse when the calibrated probability that the answer is right is below this."""
    correctness_mode: Mode = mode(Mode.ENFORCE, Stage.GATE, "correctness", switch=STRICT)
    min_place: float = at_least(0.1, Stage.GATE, Scale.CORRECTNESS)
    """A refusal shows the best place as one that may be the answer from this probability on; 1 shows none."""
    min_answerability: float = at_least(0.56, Stage.GATE, Scale.ANSWERABILITY)
    """Refuse when the calibrated probability that the documents answer the question is below this."""
    answerability_mode: Mode = mode(Mode.OBSERVE, Stage.GATE, "answerability", switch=STRICT)
    min_top_cosine: float = at_least(0.72, Stage.GATE, Scale.COSINE)
    """Refuse when the closest passage is less similar than this."""
    top_cosine_mode: Mode = mode(Mode.OBSERVE, Stage.GATE, "top cosine", switch=STRICT)
    min_mean_cosine: float = at_least(0.6, Stage.GATE, Scale.COSINE)
    """Refuse when the retrieved passages are less similar than this on average."""
    mean_confidence_mode: Mode = mode(Mode.OBSERVE, Stage.GATE, "mean confidence", switch=STRICT)
    min_relevance: float = at_least(0.4, Stage.GATE, Scale.COSINE)
    """Refuse when the beginnings of the top passages are less similar to the question than this on average."""
    relevance_mode: Mode = mode(Mode.OBSERVE, Stage.GATE, "relevance", switch=STRICT)
    max_distance: float = at_most(0.8, Stage.GATE, Scale.DISTANCE)
    """Passages further than this (1 - cosine) are cut; claims that rest on a cut passage are dropped."""
    distance_mode: Mode = mode(Mode.OBSERVE, Stage.GATE, "distance", switch=STRICT)
    min_documents: int = at_least(1, Stage.GATE, Unit.PASSAGES, 1, 20)
    """Refuse when fewer passages than this pass the distance cut; where fewer are searched, all of them have to."""
    min_documents_mode: Mode = mode(Mode.OBSERVE, Stage.GATE, "minimum documents", switch=STRICT)
    min_keywords: int = at_least(2, Stage.GATE, Unit.WORDS, 0, 10)
    """How many content words of the question must stand in the passages; lower to loosen."""
    keywords_mode: Mode = mode(Mode.OBSERVE, Stage.GATE, "keyword", switch=STRICT)
    keyword_synonyms: str = choice("", Stage.GATE, _A)
    """Your own synonyms for the keyword check, 'price=cost,fee; leave=vacation'; the built-in list is kept."""
    keyword_semantic: float = number(1.0, Stage.GATE, _A, Scale.COSINE, 0.3, 1.0, stricter="higher")
    """A word of this similarity counts as a match too; 1 switches it off."""
    max_missing_entities: int = at_most(0, Stage.GATE, Unit.NAMES, 0, 10)
    """Refuse when more names, codes, years or numbers of the question are missing than this."""
    required_entities_mode: Mode = mode(Mode.OBSERVE, Stage.GATE, "required entities", switch=STRICT)

    # levels: which score the confidence level cuts, and where
    main_gate: Literal["correctness", "answerability", "cosine"] = choice("correctness", Stage.OUTPUT, _R)
    """The score that the confidence level cuts: one of the two calibrated ones, or the distance of the closest passage.
    """
    levels: bool = choice(True, Stage.OUTPUT, _R, switch=STRICT)
    """Whether the confidence level is shown, words the language model's prompt, and refuses where it is insufficient.
    """
    high_answerability: float = number(0.9, Stage.OUTPUT, _R, Scale.ANSWERABILITY)
    """From here on the confidence level is high."""
    medium_answerability: float = number(0.7, Stage.OUTPUT, _R, Scale.ANSWERABILITY)
    """From here on the confidence level is at least medium."""
    high_distance: float = number(0.5, Stage.OUTPUT, _R, Scale.DISTANCE)
    """Up to here the confidence level is high."""
    medium_distance: float = number(0.8, Stage.OUTPUT, _R, Scale.DISTANCE)
    """Up to here it is at least medium."""
    low_distance: float = number(1.2, Stage.OUTPUT, _R, Scale.DISTANCE)
    """Up to here it is at least low."""

    # draft
    drafter: Literal["extract", "raw", "model"] = choice("extract", Stage.DRAFT, _A)
    """How the answer is drafted: the sentences that bear on the question, the passages as they are, or what a language
    model makes of them.
    """
    return_short_context: bool = choice(False, Stage.DRAFT, _A)
    """Return the retrieved passages unchanged when together they are short enough."""
    short_context_words: int = number(150, Stage.DRAFT, _A, Unit.WORDS, 10, 1000, step=10)
    """Passages of at most so many words together are short for the switch above."""
    max_sentences: int = number(3, Stage.DRAFT, _A, Unit.SENTENCES, 1, 10)
    """At most this many sentences are extracted."""
    strict_summary: bool = choice(False, Stage.DRAFT, _A)
    """Cut passages returned as they are to max_sentences sentences; short ones stay whole with return_short_context."""
    extra_sentence_ratio: float = number(0.6, Stage.DRAFT, _A, Scale.SHARE)
    """A further sentence is added when its relevance is at least this share of the best one's."""

    # grounding checks; citations present, complete, valid and verbatim have no switch
    indicators_mode: Mode = mode(Mode.ENFORCE, Stage.GROUNDING, "indicator phrases", switch=VALIDATION)
    max_length_ratio: float = at_most(2.0, Stage.GROUNDING, Scale.RATIO, 0.1, 10.0, step=0.1)
    """Reject an answer longer than this many times its passages."""
    length_ratio_mode: Mode = mode(Mode.ENFORCE, Stage.GROUNDING, "length ratio", switch=VALIDATION)
    max_sentence_words: int = at_most(60, Stage.GROUNDING, Unit.WORDS, 20, 400, step=5)
    """Most words of one sentence in an answer; a longer one is shown as a place to look. Rows of tables and code do not
    count.
    """
    sentence_length_mode: Mode = mode(Mode.ENFORCE, Stage.GROUNDING, "sentence length", switch=VALIDATION)
    min_sentence_overlap: float = at_least(0.5, Stage.GROUNDING, Scale.SHARE)
    """Share of a sentence's words that its evidence must hold."""
    min_grounded: float = at_least(0.7, Stage.GROUNDING, Scale.SHARE)
    """Share of sentences that must be grounded by overlap."""
    overlap_mode: Mode = mode(Mode.ENFORCE, Stage.GROUNDING, "word overlap", switch=VALIDATION)
    facts_mode: Mode = mode(Mode.ENFORCE, Stage.GROUNDING, "facts", switch=VALIDATION)
    min_similarity: float = at_least(0.5, Stage.GROUNDING, Scale.COSINE)
    """Least similarity between a claim and its evidence."""
    similarity_mode: Mode = mode(Mode.ENFORCE, Stage.GROUNDING, "similarity", switch=VALIDATION)
    contradictions_mode: Mode = mode(Mode.OBSERVE, Stage.GROUNDING, switch=VALIDATION)
    """What happens when sources contradict each other: refuse (enforce), answer with both sides at a low level and half
    the confidence (observe), or answer as if they did not (off).
    """
    min_support: float = at_least(0.5, Stage.GROUNDING, Scale.SUPPORT)
    """Least estimated probability that its evidence supports a claim; `judge` calls a claim supported from here on."""
    support_mode: Mode = mode(Mode.ENFORCE, Stage.GROUNDING, "support", switch=VALIDATION)

    # output
    confidence: Literal["weighted", "mean", "top", "correctness", "answerability"] = choice(
        "correctness", Stage.OUTPUT, _R
    )
    """Which number is reported as an answer's confidence."""
    citation_style: Literal["inline", "end", "none"] = choice("inline", Stage.OUTPUT, _R)
    """Where citations are shown in the answer's text: after each claim, at its end, or only in the list."""
    citation_format: Literal["[{id}]", "[Source {id}]", "[source:{chunk_id}]"] = choice("[{id}]", Stage.OUTPUT, _R)
    """How a citation is written."""
    refusal_text: str = choice("", Stage.OUTPUT, _R)
    """Your own refusal sentence; empty uses the one of the question's language."""

    # ingest
    strategy: Literal["auto", "technical", "code", "legal", "research"] = choice("auto", Stage.INGEST, _I)
    """How documents are cut into passages; auto looks at each document."""
    passage_tokens: int = number(256, Stage.INGEST, _I, Unit.TOKENS, 32, 512, step=8)
    """Largest passage; never more than its kind of document has, or than the embedding model reads."""
    overlap_tokens: int = number(50, Stage.INGEST, _I, Unit.TOKENS, 0, 200, step=5)
    """Text that neighbouring passages share."""
    ocr: bool = choice(True, Stage.INGEST, _I)
    """Read pages without a text layer by OCR where Tesseract or RapidOCR is installed."""
    ocr_engine: Literal["tesseract", "rapidocr"] = choice("tesseract", Stage.INGEST, _I)
    """What reads such pages. RapidOCR, an extra, reads Latin script better; Tesseract still reads what RapidOCR cannot.
    """
    embedding_model: str = choice("multilingual-e5-small", Stage.INGEST, _I)
    """The embedding model: the embedded one, or any by name or folder."""
    embedding_precision: Literal["auto", "float32", "bfloat16"] = choice("auto", Stage.INGEST, _I)
    """Arithmetic of the embedding model; auto takes bfloat16 where the processor has it."""
    vector_store: str = choice("faiss-flat", Stage.INGEST, _I)
    """Where a new library keeps its vectors: faiss-flat compares all of them, faiss-sketch the likely ones; pgvector
    and milvus are databases. A library stays in its store until it is rebuilt.
    """
    workers: str = choice("here", Stage.INGEST, _I)
    """Which processes read and embed several PDFs: here is this one, ray starts one a core, or uses a cluster."""

    @classmethod
    def knobs(cls) -> tuple[Knob, ...]:
        """All settings that can be changed, by stage in order; those of a language model last."""
        own = [name for name in cls.model_fields if name not in ModelSettings.model_fields and name != "preset"]
        return tuple(_knob(name) for name in (*own, *ModelSettings.model_fields))

    @classmethod
    def knob(cls, name: str) -> Knob:
        """One of `knobs`; KeyError where there is none of that name."""
        return _knob(name)

    @classmethod
    def load(cls, preset: str = DEFAULT_PRESET, values: Mapping[str, Any] | None = None) -> Settings:
        """The preset's values with `values` on top; raises InvalidSetting for an unknown name or value."""
        if preset not in presets():
            raise InvalidSetting(f"There is no preset named {preset!r}.", remedy=f"Use one of: {', '.join(presets())}.")
        try:
            return cls(**{**presets()[preset].values, **(values or {}), "preset": preset})
        except ValidationError as error:
            raise _explain(error) from error

    def changed(self, **values: Any) -> Settings:
        """A copy with these values, validated."""
        try:
            return type(self)(**{**self.model_dump(), **values})
        except ValidationError as error:
            raise _explain(error) from error

    def hash(self) -> str:
        """The first 16 hex digits of SHA-256 over all values; equal values, equal hash."""
        return _hash(self)


@lru_cache(maxsize=256)  # every decision names it
def _hash(settings: Settings) -> str:
    body = json.dumps(settings.model_dump(mode="json", exclude={"preset"}), sort_keys=True)
    return hashlib.sha256(body.encode()).hexdigest()[:16]


@cache
def _schema() -> Mapping[str, Any]:
    found: Mapping[str, Any] = Settings.model_json_schema()["properties"]
    return found


@cache
def _knob(name: str) -> Knob:
    field, schema = Settings.model_fields[name], _schema()[name]
    extra: Any = field.json_schema_extra
    options: tuple[str, ...] = tuple(Mode) if field.annotation is Mode else get_args(field.annotation)
    help, ends = " ".join((field.description or "").split()), (schema.get("minimum"), schema.get("maximum"))
    return Knob(name, field.default, *ends, options, help, **extra)


def _explain(error: ValidationError) -> InvalidSetting:
    first = error.errors()[0]
    name = str(first["loc"][0]) if first["loc"] else "settings"
    if first["type"] == "extra_forbidden":
        return InvalidSetting(
            f"There is no setting named {name!r}.", remedy="Run `python -m rag_core settings` to see them all."
        )
    knob = _knob(name) if name in Settings.model_fields and name != "preset" else None
    allowed = "a valid value"
    if knob is not None and knob.low is not None:
        allowed = f"a value from {knob.low:g} to {knob.high:g}"
    elif knob is not None and knob.options:
        allowed = "one of: " + ", ".join(knob.options)
    return InvalidSetting(
        f"Setting {name!r} cannot be {first['input']!r}: {first['msg']}.", remedy=f"Give {name} {allowed}."
    )
