"""Files become pages, in a child process: the parent's side of it, and facts of a file without opening it."""
