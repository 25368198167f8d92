"""Programs that measure what the pages of docs/ say, and write it there.

They know the insides; nothing imports them.
"""
