"""The way in: the command line."""
