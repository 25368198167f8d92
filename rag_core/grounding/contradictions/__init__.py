"""Whether two statements say the same thing with another value."""
