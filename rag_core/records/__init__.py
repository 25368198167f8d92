"""The measurements of a question as a record that can be stored, and back from the record.

A record holds the question, numbers, offsets, hashes and the names of documents; no text of a document or of a model.
The texts are read again from the pages by their spans and compared with their hashes; what a model wrote is kept beside
the record, as long as it may be. What is gone or was changed stands as `DELETED`, and the question replays all the
same: no check needs a text that its record lacks.
"""

from rag_core.records.shapes import SCHEMA_VERSION as SCHEMA_VERSION
from rag_core.records.shapes import Written as Written
from rag_core.records.shapes import from_record as from_record
from rag_core.records.shapes import restored as restored
from rag_core.records.shapes import to_record as to_record
from rag_core.records.shapes import write as write
from rag_core.records.texts import DELETED as DELETED
from rag_core.records.texts import PassageOf as PassageOf
from rag_core.records.texts import Texts as Texts
