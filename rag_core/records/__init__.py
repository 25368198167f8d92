"""The measurements of a question as a record that can be stored, and back from the record.

A record holds the question, numbers, offsets, hashes and the names of documents; no text of a document or of a model.
The texts are read again from the pages by their spans and compared with their hashes; what a model wrote is kept beside
the record, as long as it may be. What is gone or was changed stands as `DELETED`, and the question replays all the
same: no check needs a text that its record lacks.
"""

from rag_core.records.shapes import SCHEMA_VERSION, Written, from_record, restored, settings_of, to_record, write
from rag_core.records.texts import DELETED, PassageOf, Texts

__all__ = [
    "DELETED",
    "SCHEMA_VERSION",
    "PassageOf",
    "Texts",
    "Written",
    "from_record",
    "restored",
    "settings_of",
    "to_record",
    "write",
]
