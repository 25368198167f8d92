"""Embedding models, and the cross-encoders that run beside them."""
