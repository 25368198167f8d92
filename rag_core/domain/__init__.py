"""The values that all packages share, all frozen: documents, claims, decisions, and the ports to the outside."""
