"""The values that all packages share: documents, claims, measurements, decisions, and the ports to the outside.

All are frozen.
"""
