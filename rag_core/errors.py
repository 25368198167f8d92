"""The error tree. Every error names the problem and the remedy, and both are shown wherever it surfaces."""


class RagError(Exception):
    """A problem that is reported to the user: one sentence says what is wrong, and one, the `remedy`, what to do."""

    def __init__(self, problem: str, *, remedy: str) -> None:
        super().__init__(f"{problem} {remedy}")
        self.problem = problem
        self.remedy = remedy

    @property
    def kind(self) -> str:
        """Stable machine-readable name, for JSON and statistics."""
        return type(self).__name__

    def __reduce__(self) -> "tuple[object, ...]":
        return (_rebuild, (type(self), self.problem, self.remedy))


def _rebuild(kind: type[RagError], problem: str, remedy: str) -> RagError:
    return kind(problem, remedy=remedy)


class InvalidSetting(RagError):
    """A knob is unknown or out of its range."""


class InvalidInput(RagError):
    """A question, claim or record cannot be used."""


class Conflict(InvalidInput):
    """Parts of a request do not go together, or not with what is there."""


class NoSuchDocument(InvalidInput):
    """The library has no document of this id or name."""


class IngestError(RagError):
    """One file could not be indexed; the others go on."""


class NotAPdf(IngestError):
    """The bytes are another format."""


class PasswordNeeded(IngestError):
    """The file is encrypted, and no password, or a wrong one, was given."""


class DamagedPdf(IngestError):
    """The file cannot be opened or ends too early."""


class EmptyDocument(IngestError):
    """The file has no pages, or no text at all."""


class StoredFileDamaged(IngestError):
    """The library's copy of a file is missing, or is not what was handed in; nothing is read from it."""


class QuotaExceeded(IngestError):
    """The library has as many collections as it may have."""


class LimitExceeded(IngestError):
    """The file asks for more pages, characters, passages, memory or time than allowed."""


class LibraryError(RagError):
    """The library on disk cannot be used as asked."""


class LibraryBusy(LibraryError):
    """Another process is writing to the same library."""


class LibraryDamaged(LibraryError):
    """A stored file does not match its checksum."""


class ModelMismatch(LibraryError):
    """The library was built with another embedding model or precision."""


class StoreMismatch(LibraryError):
    """The library was built in another vector store."""


class StoreUnavailable(LibraryError):
    """The database of a library's vectors cannot be asked; a change that was being made was not made."""


class RecordsDamaged(LibraryError):
    """The file of decisions, labels and feedback cannot be read; the documents are not affected."""


class ModelUnavailable(RagError):
    """A model could not be loaded or reached."""


class ModelTimedOut(ModelUnavailable):
    """A model in a process of ours did not answer one request in the time allowed, and was ended."""


class ProviderUnavailable(RagError):
    """The provider that people sign in with cannot be asked for its keys. Whoever comes with its token is refused."""


class WorkersUnavailable(RagError):
    """The processes that make documents elsewhere cannot be used. What they did not hand back is still to be made."""


class MissingDependency(RagError):
    """An optional package is not installed."""


class NotAllowed(RagError):
    """The act is not open to whoever acts; nothing was done."""


class Cancelled(RagError):
    """The user stopped it."""
