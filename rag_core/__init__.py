"""Plumbline's core: answers from documents with page-accurate citations, or a truthful refusal."""
