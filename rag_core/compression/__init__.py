"""Drafts an answer from retrieved passages."""
