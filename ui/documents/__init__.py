"""The parts of the documents page."""
