"""A collection on disk: its sources, its file, and what is read of them."""
