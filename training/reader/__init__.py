"""The answerability model: the texts it learns from, the pairs drawn of them, and its training.

Not part of the product.
"""
