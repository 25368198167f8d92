"""The parts of a decision on the screen: how sure it is, its sentences and sources, the refusal, every check."""
