"""Prompts for a language model, and the reading of its replies."""
