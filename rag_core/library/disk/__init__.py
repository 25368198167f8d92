"""Files, folders and databases: written whole, private to their owner, locked."""
