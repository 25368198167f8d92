"""What a collection keeps beside its documents, in SQLite."""
