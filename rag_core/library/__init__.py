"""A library on disk: documents and indexes, their versions, the writer and its lock."""
