"""Files and folders: written whole, read with their checksums, private to their owner, locked, swept."""
