"""Reading documents: bytes to pages, pages to passages, passages to a library on disk."""
