"""The terminal as all commands use it: arguments and progress, decisions in words, JSON lines."""
