"""Judges many recorded questions at once, from columns of numbers. Each outcome is that of `decide.replay`."""

from rag_core.decision.batch.columns import ReplaySet, every_claim
from rag_core.decision.batch.replay import Held, Outcomes, checks_of, replay_many

__all__ = ["Held", "Outcomes", "ReplaySet", "checks_of", "every_claim", "replay_many"]
