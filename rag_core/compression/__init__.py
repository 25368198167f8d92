"""Drafting an answer from retrieved passages."""
