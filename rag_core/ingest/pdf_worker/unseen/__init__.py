"""Text of a page that nobody can see: its reasons, its ink, and what was painted over it."""
