"""From a question to ranked passages."""
