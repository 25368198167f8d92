"""Every check as a row, in the order in which they are judged. To add a check, add its row."""

from typing import Any

from rag_core.decision.checks.gating import GATING
from rag_core.decision.checks.grounding import GROUNDING, RESOLVE
from rag_core.decision.checks.llm import LLM_DRAFT, SUFFICIENCY, VERIFICATION
from rag_core.decision.checks.row import Check

CHECKS: tuple[Check[Any], ...] = (*GATING, SUFFICIENCY, *GROUNDING, *LLM_DRAFT, VERIFICATION)

__all__ = ["CHECKS", "GATING", "GROUNDING", "LLM_DRAFT", "RESOLVE", "SUFFICIENCY", "VERIFICATION", "Check"]
