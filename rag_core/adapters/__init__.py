"""Adapters: one file for each outside library or server. Each fits a port of `rag_core.domain.ports` by shape."""
