"""A question that leans on the one before it, as a question that stands alone.

It is made of words of questions only. Where no rule is sure, the documents say which of its readings they answer.
"""
