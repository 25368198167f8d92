"""What the ask page is made of."""
