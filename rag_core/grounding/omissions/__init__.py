"""Tells what a draft may leave out, and what needs the sentence beside it; the words are in each language's file."""
