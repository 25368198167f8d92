"""The letters that a page really shows, where its file says others."""
