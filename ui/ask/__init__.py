"""The parts of the ask page."""
