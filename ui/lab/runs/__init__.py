"""Labelled sets, and runs of them: begun, estimated, swept over a setting."""
