"""Blocks become passages: units, what is cut and how, and the text that is embedded."""
