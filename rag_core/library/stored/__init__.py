"""A collection on disk: sources, the inbox, pages and indexes, the manifest of a version, and how one is published and loaded."""
