"""The settings of a language model: what it may do, what it may cost, and the checks that only its drafts have.

Nothing of it is asked unless it drafts. `rag_core.settings.settings.Settings` has them all.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from rag_core.settings.knobs import VALIDATION, Cost, Mode, Stage, at_least, at_most, choice, mode, number
from rag_core.settings.scales import Scale, Unit

_R, _A = Cost.REPLAY, Cost.ASK


class ModelSettings(BaseModel):
    """The part of the settings that is about a language model."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    model: str = choice("", Stage.DRAFT, _A)
    """Name of the language model, as its server knows it; empty takes the one of RAG_MODEL."""
    temperature: float = number(0.0, Stage.DRAFT, _A, Unit.TEMPERATURE, 0.0, 2.0, step=0.1)
    """Randomness of the model's wording; 0 for none."""
    max_tokens: int = number(150, Stage.DRAFT, _A, Unit.TOKENS, 20, 2000, step=10)
    """Longest answer a model may write, without its quotes."""
    max_retries: int = number(3, Stage.DRAFT, _R, Unit.DRAFTS, 0, 5)
    """New drafts after one that a check rejected; each is told what was found."""
    fallback_extract: bool = choice(True, Stage.DRAFT, _R)
    """Show the extract where no draft passes, where the model cannot be asked, or where it declines and the extract's
    score is high; otherwise refuse.
    """
    translate: bool = choice(False, Stage.DRAFT, _A)
    """Let a model answer in the question's language from passages in another one; words cannot be compared across
    languages, so it needs rewording audited.
    """
    sufficiency_mode: Mode = mode(Mode.OFF, Stage.GATE)
    """Whether the model is asked first if the passages answer the question: its no refuses (enforce), is shown
    (observe), or it is not asked (off). Enforced, it also refuses where no model can be asked.
    """
    min_sufficiency: float = at_least(0.0, Stage.GATE, Scale.SHARE, step=0.05)
    """Least confidence of the model in its own yes, a number that it only states."""
    sufficiency_reads: Literal["all", "top"] = choice("all", Stage.GATE, _A)
    """What the model judges: all passages whole, or only the beginnings of the top ones, as many and as long as the
    relevance check reads.
    """
    refuse_partial: bool = choice(False, Stage.GATE, _R)
    """Refuse where the passages answer only a part; otherwise that part is answered at a low level."""
    expand_searches: int = number(2, Stage.GATE, _R, Unit.SEARCHES, 0, 2)
    """Further searches for what the model says is missing, before it refuses."""
    verification_mode: Mode = mode(Mode.OFF, Stage.GROUNDING)
    """Whether the model is asked of each sentence of its draft if the cited passages say so: a no rejects the draft
    (enforce), is shown (observe), or it is not asked (off).
    """
    answer_language_mode: Mode = mode(Mode.ENFORCE, Stage.GROUNDING, "answer language", switch=VALIDATION)
    answer_length_mode: Mode = mode(Mode.ENFORCE, Stage.GROUNDING, "answer length", switch=VALIDATION)
    max_added_words: int = at_most(2, Stage.GROUNDING, Unit.WORDS, 0, 20)
    """Most words in a row of a model's sentence that stand in no passage it cites, in no title and not in the question.
    """
    added_words_mode: Mode = mode(Mode.ENFORCE, Stage.GROUNDING, "added words", switch=VALIDATION)
    rewording: Literal["none", "audited"] = choice("none", Stage.GROUNDING, _A)
    """Whether a model may use words of its own: none, it only leaves out, and what it writes are whole sentences or
    whole cells of a row; audited, it may where all checks pass, and the level is medium at most: about two thirds of
    456 lies, made up to try these checks, passed them.
    """
    model_seconds: int = number(60, Stage.DRAFT, _A, Unit.SECONDS, 5, 600, step=5)
    """Most time that the model may take for one question, all calls together."""
    model_budget: int = number(30000, Stage.DRAFT, _A, Unit.TOKENS, 1000, 500000, step=1000)
    """Most tokens that the model may take for one question, all calls together."""
