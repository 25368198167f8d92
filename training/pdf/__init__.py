"""PDFs set from training texts, with the questions that people asked of them. Not part of the product."""
