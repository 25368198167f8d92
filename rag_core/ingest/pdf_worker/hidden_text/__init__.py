"""Text of a page that nobody can see, or that is struck out."""
