"""Work beside a caller, for the pages and the service alike: threads, jobs one after the other, libraries kept open,
decisions kept.
"""
