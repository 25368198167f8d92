"""Reads documents: bytes become pages, and pages become passages."""
