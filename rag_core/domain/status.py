"""The closed vocabularies of an outcome, whose values never change: other programs store and read them."""

from __future__ import annotations

from enum import StrEnum


class AnswerStatus(StrEnum):
    """How a question ended. Only `SUCCESS` may be shown as an answer."""

    SUCCESS = "success"
    INSUFFICIENT_CONTEXT = "insufficient_context"
    LOW_CONFIDENCE = "low_confidence"
    HALLUCINATION_DETECTED = "hallucination_detected"
    ERROR = "error"


class ConfidenceLevel(StrEnum):
    """How sure an answer is."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    INSUFFICIENT = "insufficient"


class Reason(StrEnum):
    """The reason of an outcome, with its status. The first that applies, in this order, gives the headline."""

    status: AnswerStatus

    def __new__(cls, value: str, status: AnswerStatus | None = None) -> Reason:
        """A member by its published value, with the status of such a decision; `Reason(value)` looks one up."""
        if status is None:
            raise TypeError(f"the reason {value!r} needs a status")
        member = str.__new__(cls, value)
        member._value_, member.status = value, status
        return member

    NONE = "none", AnswerStatus.SUCCESS
    # not a question to the documents: answered without retrieval
    GREETING = "greeting", AnswerStatus.SUCCESS
    ABOUT_LIBRARY = "about_library", AnswerStatus.SUCCESS
    # not a question that documents answer: refused without retrieval
    FOLLOW_UP = "follow_up", AnswerStatus.INSUFFICIENT_CONTEXT
    SUMMARY = "summary", AnswerStatus.INSUFFICIENT_CONTEXT
    # gates, in the order they are judged
    NOTHING_RETRIEVED = "nothing_retrieved", AnswerStatus.INSUFFICIENT_CONTEXT
    CORRECTNESS = "correctness", AnswerStatus.LOW_CONFIDENCE
    ANSWERABILITY = "answerability", AnswerStatus.LOW_CONFIDENCE
    TOP_COSINE = "top_cosine", AnswerStatus.LOW_CONFIDENCE
    MEAN_CONFIDENCE = "mean_confidence", AnswerStatus.LOW_CONFIDENCE
    RELEVANCE = "relevance", AnswerStatus.LOW_CONFIDENCE
    DISTANCE = "distance", AnswerStatus.LOW_CONFIDENCE
    MIN_DOCUMENTS = "min_documents", AnswerStatus.INSUFFICIENT_CONTEXT
    KEYWORDS = "keywords", AnswerStatus.LOW_CONFIDENCE
    REQUIRED_ENTITIES = "required_entities", AnswerStatus.INSUFFICIENT_CONTEXT
    LEVEL = "level", AnswerStatus.LOW_CONFIDENCE  # too low for a model to be asked
    SUFFICIENCY = "sufficiency", AnswerStatus.INSUFFICIENT_CONTEXT
    # drafting
    MODEL_REFUSED = "model_refused", AnswerStatus.INSUFFICIENT_CONTEXT
    EMPTY_DRAFT = "empty_draft", AnswerStatus.ERROR
    MALFORMED_DRAFT = "malformed_draft", AnswerStatus.ERROR
    OFF_QUESTION = "off_question", AnswerStatus.LOW_CONFIDENCE  # no sentence of a model's draft answers
    # another source contradicts a model's draft, which does not say so
    ONE_SIDED = (
        "one_sided",
        AnswerStatus.INSUFFICIENT_CONTEXT,
    )
    ALL_CLAIMS_CUT = "all_claims_cut", AnswerStatus.LOW_CONFIDENCE
    # grounding checks, in their documented order
    CITATIONS_PRESENT = "citations_present", AnswerStatus.HALLUCINATION_DETECTED
    CITATIONS_COMPLETE = "citations_complete", AnswerStatus.HALLUCINATION_DETECTED
    CITATIONS_VALID = "citations_valid", AnswerStatus.HALLUCINATION_DETECTED
    VERBATIM = "verbatim", AnswerStatus.HALLUCINATION_DETECTED
    INDICATORS = "indicators", AnswerStatus.HALLUCINATION_DETECTED
    LENGTH_RATIO = "length_ratio", AnswerStatus.HALLUCINATION_DETECTED
    SENTENCE_LENGTH = "sentence_length", AnswerStatus.LOW_CONFIDENCE  # too long to be read at a glance
    OVERLAP = "overlap", AnswerStatus.HALLUCINATION_DETECTED
    FACTS = "facts", AnswerStatus.HALLUCINATION_DETECTED
    SIMILARITY = "similarity", AnswerStatus.HALLUCINATION_DETECTED
    SUPPORT = "support", AnswerStatus.HALLUCINATION_DETECTED
    ANSWER_LANGUAGE = "answer_language", AnswerStatus.HALLUCINATION_DETECTED
    ANSWER_LENGTH = "answer_length", AnswerStatus.HALLUCINATION_DETECTED
    ADDED_WORDS = "added_words", AnswerStatus.HALLUCINATION_DETECTED
    REWORDED = "reworded", AnswerStatus.HALLUCINATION_DETECTED
    DRAFT_CORRECTNESS = "draft_correctness", AnswerStatus.LOW_CONFIDENCE  # less likely right than the settings ask
    VERIFICATION = "verification", AnswerStatus.HALLUCINATION_DETECTED
    CONTRADICTED = "contradicted", AnswerStatus.INSUFFICIENT_CONTEXT
    # nothing was decided: the settings ask for a prompt that was never sent
    NEEDS_GENERATION = "needs_generation", AnswerStatus.ERROR
    # a failure of ours
    NOT_RUN = "not_run", AnswerStatus.ERROR
    FAILURE = "failure", AnswerStatus.ERROR
