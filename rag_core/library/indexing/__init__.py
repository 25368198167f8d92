"""From an accepted source to a complete document folder: read, cut, embed, and asked before its vectors are there."""
