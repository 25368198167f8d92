"""What everybody speaks of: documents, claims, measurements, decisions, and the ports to the outside. Frozen values."""
