"""Files become pages, in a child process: this is the parent's side of it, and what is known of a file without opening
it.
"""
