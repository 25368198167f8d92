"""The error for a file that is refused, on its way to the parent."""


class Failure(Exception):
    """The file cannot be read, as (kind, problem, remedy); `kind` is the name of an error of rag_core.errors."""


def too_much(problem: str) -> Failure:
    return Failure("LimitExceeded", problem, "Split it into parts.")
