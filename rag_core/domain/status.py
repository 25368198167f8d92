"""The closed vocabularies of an outcome. Values are stable: they are stored, counted and read by other programs."""

from enum import StrEnum


class AnswerStatus(StrEnum):
    """How a question ended (S2-3). Only `SUCCESS` may be shown as an answer."""

    SUCCESS = "success"
    INSUFFICIENT_CONTEXT = "insufficient_context"
    LOW_CONFIDENCE = "low_confidence"
    HALLUCINATION_DETECTED = "hallucination_detected"
    ERROR = "error"


class ConfidenceLevel(StrEnum):
    """How sure an answer is (S4-2)."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    INSUFFICIENT = "insufficient"


class Reason(StrEnum):
    """Which gate or audit decided, or what else did. Their order here is the order in which status and headline are chosen."""

    NONE = "none"
    # not a question to the documents: answered without retrieval
    GREETING = "greeting"
    ABOUT_LIBRARY = "about_library"
    # gates, in the order they are judged
    NOTHING_RETRIEVED = "nothing_retrieved"
    ANSWERABILITY = "answerability"
    TOP_COSINE = "top_cosine"
    MEAN_CONFIDENCE = "mean_confidence"
    RELEVANCE = "relevance"
    DISTANCE = "distance"
    MIN_DOCUMENTS = "min_documents"
    KEYWORDS = "keywords"
    REQUIRED_ENTITIES = "required_entities"
    LEVEL = "level"  # too low for a model to be asked
    SUFFICIENCY = "sufficiency"
    # drafting
    MODEL_REFUSED = "model_refused"
    EMPTY_DRAFT = "empty_draft"
    MALFORMED_DRAFT = "malformed_draft"
    ALL_CLAIMS_CUT = "all_claims_cut"
    # audits, in their documented order
    CITATIONS_PRESENT = "citations_present"
    CITATIONS_COMPLETE = "citations_complete"
    CITATIONS_VALID = "citations_valid"
    VERBATIM = "verbatim"
    INDICATORS = "indicators"
    LENGTH_RATIO = "length_ratio"
    OVERLAP = "overlap"
    FACTS = "facts"
    SIMILARITY = "similarity"
    SUPPORT = "support"
    ANSWER_LANGUAGE = "answer_language"
    ANSWER_LENGTH = "answer_length"
    ADDED_WORDS = "added_words"
    VERIFICATION = "verification"
    CONTRADICTED = "contradicted"
    # nothing was decided: the settings ask for a prompt that was never sent
    NEEDS_GENERATION = "needs_generation"
    # a failure of ours
    NOT_RUN = "not_run"
    FAILURE = "failure"


_STATUS = {
    Reason.NONE: AnswerStatus.SUCCESS,
    Reason.GREETING: AnswerStatus.SUCCESS,
    Reason.ABOUT_LIBRARY: AnswerStatus.SUCCESS,
    Reason.NOTHING_RETRIEVED: AnswerStatus.INSUFFICIENT_CONTEXT,
    Reason.MIN_DOCUMENTS: AnswerStatus.INSUFFICIENT_CONTEXT,
    Reason.REQUIRED_ENTITIES: AnswerStatus.INSUFFICIENT_CONTEXT,
    Reason.SUFFICIENCY: AnswerStatus.INSUFFICIENT_CONTEXT,
    Reason.MODEL_REFUSED: AnswerStatus.INSUFFICIENT_CONTEXT,
    Reason.CONTRADICTED: AnswerStatus.INSUFFICIENT_CONTEXT,  # the draft is sound, its sources do not settle the question
    Reason.ANSWERABILITY: AnswerStatus.LOW_CONFIDENCE,
    Reason.TOP_COSINE: AnswerStatus.LOW_CONFIDENCE,
    Reason.MEAN_CONFIDENCE: AnswerStatus.LOW_CONFIDENCE,
    Reason.RELEVANCE: AnswerStatus.LOW_CONFIDENCE,
    Reason.DISTANCE: AnswerStatus.LOW_CONFIDENCE,
    Reason.KEYWORDS: AnswerStatus.LOW_CONFIDENCE,
    Reason.LEVEL: AnswerStatus.LOW_CONFIDENCE,
    Reason.ALL_CLAIMS_CUT: AnswerStatus.LOW_CONFIDENCE,
    Reason.EMPTY_DRAFT: AnswerStatus.ERROR,
    Reason.MALFORMED_DRAFT: AnswerStatus.ERROR,
    Reason.NEEDS_GENERATION: AnswerStatus.ERROR,
    Reason.NOT_RUN: AnswerStatus.ERROR,
    Reason.FAILURE: AnswerStatus.ERROR,
}


def status_of(reason: Reason) -> AnswerStatus:
    """The status a reason gives; every audit of the draft itself gives `hallucination_detected`."""
    return _STATUS.get(reason, AnswerStatus.HALLUCINATION_DETECTED)
