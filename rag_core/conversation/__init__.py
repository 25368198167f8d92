"""A question that leans on the one before it, as a question that stands alone.

It reads questions only: no answer, no document.
"""
