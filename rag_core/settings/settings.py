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
from rag_core.settings.knobs import STRICT, VALIDATION, Cost, Knob, Mode, Stage, choice, mode, number
from rag_core.settings.llm import ModelSettings
from rag_core.settings.presets import DEFAULT_PRESET, presets
from rag_core.settings.scales import Scale, Unit

_R, _A, _I = Cost.REPLAY, Cost.ASK, Cost.INGEST


class Settings(ModelSettings):
    """All settings of one run. Frozen, so that a trace can quote the exact values used; unknown names are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    preset: str = Field(
        DEFAULT_PRESET, description="Name of the preset the values came from.", json_schema_extra={"scale": "label"}
    )

    # retrieve
    top_k: int = number(
        10, 1, 50, 1, Stage.RETRIEVE, _A, Unit.PASSAGES, "How many passages are retrieved for a question."
    )
    over_retrieve: int = number(
        2, 1, 10, 1, Stage.RETRIEVE, _A, Unit.TIMES, "Candidates of the dense search, as a multiple of top_k."
    )
    semantic_weight: float = number(
        0.5,
        0.0,
        1.0,
        0.05,
        Stage.RETRIEVE,
        _A,
        Scale.SHARE,
        "Weight of the dense ranking when rankings are fused; the lexical one gets the rest.",
    )
    unknown_semantic_weight: float = number(
        0.0,
        0.0,
        1.0,
        0.05,
        Stage.RETRIEVE,
        _A,
        Scale.SHARE,
        "The same weight for a question in a language that the embedding model does not know.",
    )
    rrf_constant: int = number(
        60, 1, 200, 1, Stage.RETRIEVE, _A, Unit.RANKS, "Constant of reciprocal rank fusion, 1 / (rank + constant)."
    )
    reranker: str = choice(
        "", Stage.RETRIEVE, _A, "Name or folder of a cross-encoder that reorders the passages; empty for none."
    )
    authority_weight: float = number(
        0.0,
        0.0,
        1.0,
        0.05,
        Stage.RETRIEVE,
        _A,
        Scale.SHARE,
        "How much a document's stated authority raises its passages; 0 does nothing.",
    )
    recency_weight: float = number(
        0.0,
        0.0,
        1.0,
        0.05,
        Stage.RETRIEVE,
        _A,
        Scale.SHARE,
        "How much a newer date raises a passage, for time-sensitive questions only.",
    )
    recency_half_life_days: int = number(
        365, 1, 3650, 1, Stage.RETRIEVE, _A, Unit.DAYS, "Age at which a document counts half in recency."
    )

    # gates
    min_correctness: float = number(
        0.5,
        0.0,
        1.0,
        0.01,
        Stage.GATE,
        _R,
        Scale.CORRECTNESS,
        "Refuse when the calibrated probability that the answer is right is below this.",
        "higher",
    )
    correctness_mode: Mode = mode(Mode.ENFORCE, Stage.GATE, "correctness", switch=STRICT)
    correctness_extra_procedural: float = number(
        0.0,
        -1.0,
        1.0,
        0.01,
        Stage.GATE,
        _R,
        Scale.CORRECTNESS,
        "Added to min_correctness for questions on how something is done; below 0 they are answered more easily.",
        "higher",
    )
    correctness_extra_comparative: float = number(
        0.0,
        -1.0,
        1.0,
        0.01,
        Stage.GATE,
        _R,
        Scale.CORRECTNESS,
        "Added to min_correctness for questions that compare; below 0 they are answered more easily.",
        "higher",
    )
    min_place: float = number(
        0.1,
        0.0,
        1.0,
        0.01,
        Stage.GATE,
        _R,
        Scale.CORRECTNESS,
        "A refusal shows the best place as one that may be the answer from this probability on; 1 shows none.",
        "higher",
    )
    min_answerability: float = number(
        0.56,
        0.0,
        1.0,
        0.01,
        Stage.GATE,
        _R,
        Scale.ANSWERABILITY,
        "Refuse when the calibrated probability that the documents answer the question is below this.",
        "higher",
    )
    answerability_mode: Mode = mode(Mode.OBSERVE, Stage.GATE, "answerability", switch=STRICT)
    answerability_extra_procedural: float = number(
        0.0,
        -1.0,
        1.0,
        0.01,
        Stage.GATE,
        _R,
        Scale.ANSWERABILITY,
        "Added to min_answerability for questions on how something is done; below 0 they are answered more easily.",
        "higher",
    )
    answerability_extra_comparative: float = number(
        0.0,
        -1.0,
        1.0,
        0.01,
        Stage.GATE,
        _R,
        Scale.ANSWERABILITY,
        "Added to min_answerability for questions that compare; below 0 they are answered more easily.",
        "higher",
    )
    min_top_cosine: float = number(
        0.72,
        -1.0,
        1.0,
        0.01,
        Stage.GATE,
        _R,
        Scale.COSINE,
        "Refuse when the closest passage is less similar than this.",
        "higher",
    )
    top_cosine_mode: Mode = mode(Mode.OBSERVE, Stage.GATE, "top cosine", switch=STRICT)
    min_mean_cosine: float = number(
        0.6,
        -1.0,
        1.0,
        0.01,
        Stage.GATE,
        _R,
        Scale.COSINE,
        "Refuse when the retrieved passages are less similar than this on average.",
        "higher",
    )
    mean_confidence_mode: Mode = mode(Mode.OBSERVE, Stage.GATE, "mean confidence", switch=STRICT)
    min_relevance: float = number(
        0.4,
        -1.0,
        1.0,
        0.01,
        Stage.GATE,
        _R,
        Scale.COSINE,
        "Refuse when the beginnings of the top passages are less similar to the question than this on average.",
        "higher",
    )
    relevance_passages: int = number(
        3, 1, 10, 1, Stage.GATE, _A, Unit.PASSAGES, "How many top passages the relevance check reads."
    )
    relevance_chars: int = number(
        500, 100, 2000, 50, Stage.GATE, _A, Unit.CHARACTERS, "How much of each passage the relevance check reads."
    )
    relevance_mode: Mode = mode(Mode.OBSERVE, Stage.GATE, "relevance", switch=STRICT)
    max_distance: float = number(
        0.8,
        0.0,
        2.0,
        0.01,
        Stage.GATE,
        _R,
        Scale.DISTANCE,
        "Passages further than this (1 - cosine) are cut; claims that rest on a cut passage are dropped.",
        "lower",
    )
    distance_mode: Mode = mode(Mode.OBSERVE, Stage.GATE, "distance", switch=STRICT)
    min_documents: int = number(
        1,
        1,
        20,
        1,
        Stage.GATE,
        _R,
        Unit.PASSAGES,
        "Refuse when fewer passages than this pass the distance cut; where fewer are searched, all of them have to.",
        "higher",
    )
    min_documents_mode: Mode = mode(Mode.OBSERVE, Stage.GATE, "minimum documents", switch=STRICT)
    min_keywords: int = number(
        2,
        0,
        10,
        1,
        Stage.GATE,
        _R,
        Unit.WORDS,
        "How many content words of the question must stand in the passages; lower to loosen.",
        "higher",
    )
    keywords_mode: Mode = mode(Mode.OBSERVE, Stage.GATE, "keyword", switch=STRICT)
    keyword_synonyms: str = choice(
        "",
        Stage.GATE,
        _A,
        "Your own synonyms for the keyword check, 'price=cost,fee; leave=vacation'; the built-in list is kept.",
    )
    keyword_semantic: float = number(
        1.0,
        0.3,
        1.0,
        0.01,
        Stage.GATE,
        _A,
        Scale.COSINE,
        "A word of this similarity counts as a match too; 1 switches it off.",
        "higher",
    )
    max_missing_entities: int = number(
        0,
        0,
        10,
        1,
        Stage.GATE,
        _R,
        Unit.NAMES,
        "Refuse when more names, codes, years or numbers of the question are missing than this.",
        "lower",
    )
    required_entities_mode: Mode = mode(Mode.OBSERVE, Stage.GATE, "required entities", switch=STRICT)

    # levels: which score the confidence level cuts, and where
    main_gate: Literal["correctness", "answerability", "cosine"] = choice(
        "correctness",
        Stage.OUTPUT,
        _R,
        "The score that the confidence level cuts: one of the two calibrated ones, or the distance of the closest "
        "passage.",
    )
    levels: bool = choice(
        True,
        Stage.OUTPUT,
        _R,
        "Whether the confidence level is shown, words the language model's prompt, and refuses where it is "
        "insufficient.",
        switch=STRICT,
    )
    high_answerability: float = number(
        0.9, 0.0, 1.0, 0.01, Stage.OUTPUT, _R, Scale.ANSWERABILITY, "From here on the confidence level is high."
    )
    medium_answerability: float = number(
        0.7,
        0.0,
        1.0,
        0.01,
        Stage.OUTPUT,
        _R,
        Scale.ANSWERABILITY,
        "From here on the confidence level is at least medium.",
    )
    high_distance: float = number(
        0.5, 0.0, 2.0, 0.01, Stage.OUTPUT, _R, Scale.DISTANCE, "Up to here the confidence level is high."
    )
    medium_distance: float = number(
        0.8, 0.0, 2.0, 0.01, Stage.OUTPUT, _R, Scale.DISTANCE, "Up to here it is at least medium."
    )
    low_distance: float = number(
        1.2, 0.0, 2.0, 0.01, Stage.OUTPUT, _R, Scale.DISTANCE, "Up to here it is at least low."
    )

    # draft
    drafter: Literal["extract", "raw", "model"] = choice(
        "extract",
        Stage.DRAFT,
        _A,
        "How the answer is drafted: the sentences that bear on the question, the passages as they are, or what a "
        "language model "
        "makes of them.",
    )
    return_short_context: bool = choice(
        False, Stage.DRAFT, _A, "Return the retrieved passages unchanged when together they are short enough."
    )
    short_context_words: int = number(
        150,
        10,
        1000,
        10,
        Stage.DRAFT,
        _A,
        Unit.WORDS,
        "Passages of at most so many words together are short for the switch above.",
    )
    max_sentences: int = number(
        3, 1, 10, 1, Stage.DRAFT, _A, Unit.SENTENCES, "At most this many sentences are extracted."
    )
    strict_summary: bool = choice(
        False,
        Stage.DRAFT,
        _A,
        "Cut passages returned as they are to max_sentences sentences; short ones stay whole with return_short_context.",  # noqa: E501
    )
    extra_sentence_ratio: float = number(
        0.6,
        0.0,
        1.0,
        0.01,
        Stage.DRAFT,
        _A,
        Scale.SHARE,
        "A further sentence is added when its relevance is at least this share of the best one's.",
    )

    # grounding checks; citations present, complete, valid and verbatim have no switch
    indicators_mode: Mode = mode(Mode.ENFORCE, Stage.GROUNDING, "indicator phrases", switch=VALIDATION)
    max_length_ratio: float = number(
        2.0,
        0.1,
        10.0,
        0.1,
        Stage.GROUNDING,
        _R,
        Scale.RATIO,
        "Reject an answer longer than this many times its passages.",
        "lower",
    )
    length_ratio_mode: Mode = mode(Mode.ENFORCE, Stage.GROUNDING, "length ratio", switch=VALIDATION)
    max_sentence_words: int = number(
        60,
        20,
        400,
        5,
        Stage.GROUNDING,
        _R,
        Unit.WORDS,
        "Most words of one sentence in an answer; a longer one is shown as a place to look. Rows of tables and code do "
        "not count.",
        "lower",
    )
    sentence_length_mode: Mode = mode(Mode.ENFORCE, Stage.GROUNDING, "sentence length", switch=VALIDATION)
    min_sentence_overlap: float = number(
        0.5,
        0.0,
        1.0,
        0.01,
        Stage.GROUNDING,
        _R,
        Scale.SHARE,
        "Share of a sentence's words that its evidence must hold.",
        "higher",
    )
    min_grounded: float = number(
        0.7,
        0.0,
        1.0,
        0.01,
        Stage.GROUNDING,
        _R,
        Scale.SHARE,
        "Share of sentences that must be grounded by overlap.",
        "higher",
    )
    overlap_mode: Mode = mode(Mode.ENFORCE, Stage.GROUNDING, "word overlap", switch=VALIDATION)
    facts_mode: Mode = mode(Mode.ENFORCE, Stage.GROUNDING, "facts", switch=VALIDATION)
    min_similarity: float = number(
        0.5,
        -1.0,
        1.0,
        0.01,
        Stage.GROUNDING,
        _R,
        Scale.COSINE,
        "Least similarity between a claim and its evidence.",
        "higher",
    )
    similarity_mode: Mode = mode(Mode.ENFORCE, Stage.GROUNDING, "similarity", switch=VALIDATION)
    contradictions_mode: Mode = mode(
        Mode.OBSERVE,
        Stage.GROUNDING,
        "contradictions",
        "What happens when sources contradict each other: refuse (enforce), answer with both sides at a low level and "
        "half the confidence "
        "(observe), or answer as if they did not (off).",
        switch=VALIDATION,
    )
    min_support: float = number(
        0.5,
        0.0,
        1.0,
        0.01,
        Stage.GROUNDING,
        _R,
        Scale.SUPPORT,
        "Least estimated probability that its evidence supports a claim; `judge` calls a claim supported from here on.",
        "higher",
    )
    support_mode: Mode = mode(Mode.ENFORCE, Stage.GROUNDING, "support", switch=VALIDATION)
    verifier: str = choice(
        "embedded",
        Stage.GROUNDING,
        _A,
        "The model that reads a claim with its evidence: the embedded one, none, or any by name or folder.",
    )
    verifier_languages: str = choice(
        "",
        Stage.GROUNDING,
        _A,
        "Languages that a named verifier reads, as codes (en, cs); empty takes those that its model card names.",
    )

    # output
    confidence: Literal["weighted", "mean", "top", "correctness", "answerability"] = choice(
        "correctness", Stage.OUTPUT, _R, "Which number is reported as an answer's confidence."
    )
    citation_style: Literal["inline", "end", "none"] = choice(
        "inline",
        Stage.OUTPUT,
        _R,
        "Where citations are shown in the answer's text: after each claim, at its end, or only in the list.",
    )
    citation_format: Literal["[{id}]", "[Source {id}]", "[source:{chunk_id}]"] = choice(
        "[{id}]", Stage.OUTPUT, _R, "How a citation is written."
    )
    refusal_text: str = choice(
        "", Stage.OUTPUT, _R, "Your own refusal sentence; empty uses the one of the question's language."
    )

    # ingest
    strategy: Literal["auto", "technical", "code", "legal", "research"] = choice(
        "auto", Stage.INGEST, _I, "How documents are cut into passages; auto looks at each document."
    )
    passage_tokens: int = number(
        256,
        32,
        512,
        8,
        Stage.INGEST,
        _I,
        Unit.TOKENS,
        "Largest passage; never more than its kind of document has, or than the embedding model reads.",
    )
    overlap_tokens: int = number(50, 0, 200, 5, Stage.INGEST, _I, Unit.TOKENS, "Text that neighbouring passages share.")
    ocr: bool = choice(
        True, Stage.INGEST, _I, "Read pages without a text layer by OCR where Tesseract or RapidOCR is installed."
    )
    ocr_engine: Literal["tesseract", "rapidocr"] = choice(
        "tesseract",
        Stage.INGEST,
        _I,
        "What reads such pages. RapidOCR, an extra, reads Latin script better; Tesseract still reads what RapidOCR "
        "cannot.",
    )
    embedding_model: str = choice(
        "multilingual-e5-small", Stage.INGEST, _I, "The embedding model: the embedded one, or any by name or folder."
    )
    embedding_precision: Literal["auto", "float32", "bfloat16"] = choice(
        "auto", Stage.INGEST, _I, "Arithmetic of the embedding model; auto takes bfloat16 where the processor has it."
    )
    vector_store: str = choice(
        "faiss-flat",
        Stage.INGEST,
        _I,
        "Where a new library keeps its vectors: faiss-flat compares all of them, faiss-sketch the likely ones; "
        "pgvector and milvus are databases. A library stays in its store until it is rebuilt.",
    )
    workers: str = choice(
        "here",
        Stage.INGEST,
        _I,
        "Which processes read and embed several PDFs: here is this one, ray starts one a core, or uses a cluster.",
    )

    @classmethod
    def knobs(cls) -> tuple[Knob, ...]:
        """All settings that can be changed: each stage's in the order in which they are read, those of a language model
        last.
        """
        own = [name for name in cls.model_fields if name not in ModelSettings.model_fields and name != "preset"]
        return tuple(_knob(name) for name in (*own, *ModelSettings.model_fields))

    @classmethod
    def knob(cls, name: str) -> Knob:
        """One of `knobs`; KeyError where there is none of that name."""
        return _knob(name)

    @classmethod
    def load(cls, preset: str = DEFAULT_PRESET, values: Mapping[str, Any] | None = None) -> Settings:
        """The preset's values with `values` on top.

        Raises:
            InvalidSetting: an unknown preset or name, or a value out of its range.
        """
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
    """The settings' JSON schema, by name."""
    found: Mapping[str, Any] = Settings.model_json_schema()["properties"]
    return found


@cache
def _knob(name: str) -> Knob:
    field, schema = Settings.model_fields[name], _schema()[name]
    extra: Any = field.json_schema_extra
    options: tuple[str, ...] = ()
    if field.annotation is Mode:
        options = tuple(Mode)
    elif get_args(field.annotation):
        options = get_args(field.annotation)
    return Knob(
        name,
        field.default,
        schema.get("minimum"),
        schema.get("maximum"),
        extra.get("step"),
        options,
        extra["stage"],
        extra["cost"],
        extra["scale"],
        extra.get("stricter", ""),
        field.description or "",
        extra.get("switch", ""),
    )


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
