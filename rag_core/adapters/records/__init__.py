"""The SQLite files that a collection keeps beside its documents."""
