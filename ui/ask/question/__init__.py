"""The question on the screen: examples, asking it, waiting for its answer."""
