"""Limits that a compression left out: conditions, bounds, modals, and what restricts a noun."""

from rag_core.grounding.omissions.left_out import omissions

__all__ = ["omissions"]
