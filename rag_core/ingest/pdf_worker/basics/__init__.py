"""Words, rows and pictures of a page, as every other room of the child speaks of them, and PyMuPDF alone."""
