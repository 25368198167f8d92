"""Checks a draft against the exact text that it cites."""
