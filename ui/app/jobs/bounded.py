"""How many questions the page asks at once: in all, and of each person, or of each session where nobody signs in."""

from __future__ import annotations

from contextlib import AbstractContextManager

from streamlit.runtime.scriptrunner import get_script_run_ctx

from rag_core.domain.acts import actor
from rag_core.service.queues.places import Places

MAX_QUESTIONS, EACH, RETRY_SECONDS = 40, 4, 5  # twenty people who ask at once wait; a person has a few tabs
_QUESTIONS = Places("questions under way", MAX_QUESTIONS, EACH, RETRY_SECONDS)


def question() -> AbstractContextManager[None]:
    """Hold a place for a question within the block; a RagError where there is none."""
    context, who = get_script_run_ctx(), actor()
    session = context.session_id if context is not None else ""  # a thread beside the page belongs to none
    return _QUESTIONS.held(who.name if who.may is not None else session)
