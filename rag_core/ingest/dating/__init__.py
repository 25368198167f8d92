"""The day that a document gives as its own."""
