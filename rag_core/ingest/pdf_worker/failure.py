"""The error for a file that is refused, on its way to the parent."""


class Failure(Exception):
    """The file cannot be read, as (kind, problem, remedy); `kind` is the name of an error of rag_core.errors."""
