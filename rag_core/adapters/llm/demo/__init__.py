"""A small language model that runs on this machine, for a demonstration: its packages, its process, and where it is found."""
