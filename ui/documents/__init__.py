"""What the documents page is made of."""
