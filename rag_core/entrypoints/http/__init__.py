"""The HTTP API, and what stands before it: names and origins, sizes, callers. The page uses the first of these too."""
