"""The vector index and the lexical index."""
