"""Plumbline's core: answers from documents with page-accurate citations, or a truthful refusal."""

__version__ = "0.1.0"
