"""The work of each command; `library` has those that index, ask, judge, list and delete."""
