"""Checking a draft against the exact text it cites."""
