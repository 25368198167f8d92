"""The store that a collection keeps beside its documents, one SQLite file: decisions, feedback, labels, runs, presets,
executions, watched answers.

Decisions and results are records (`rag_core.records`): numbers, offsets and hashes, no text of a document; what a
language model wrote stands in a table of its own. Everything from outside is a bound parameter. One store may serve all
threads of a process, and several processes may have the file open.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from rag_core.adapters.records.decisions import Decisions
from rag_core.adapters.records.erase import erase
from rag_core.adapters.records.pins import Pins
from rag_core.adapters.records.sets import Sets
from rag_core.adapters.records.tables import named, read_json
from rag_core.domain.acts import Action, name_id, permit
from rag_core.errors import InvalidInput
from rag_core.evaluation.labelled import LabelledQuestion
from rag_core.library.erasing import Erased, Mentions
from rag_core.records.stored import FeedbackState, SavedPreset

FILE = "records.sqlite"
_DEFAULT_PRESET = "default_preset"


class RecordStore(Decisions, Pins, Sets):
    """The records of the collection in whose folder `path` lies. Creates nothing until something is written.

    Every method raises a LibraryError where the file cannot be used (RecordsDamaged, LibraryBusy, or what the disk
    refused), and InvalidInput where there is no such question, set, run or preset, or a name or note cannot be used.
    See `Part` for who may read and change what.
    """

    def label(self, feedback_id: int, set_name: str, question: LabelledQuestion) -> None:
        """Append a label that a person confirmed to a set, a new one where there is none, and settle the feedback."""
        with self._file.writing():
            self.write_set(set_name, (*self.find_set(set_name), question))
            self.settle(feedback_id, FeedbackState.LABELLED)

    def put_question(self, set_name: str, question: LabelledQuestion) -> None:
        """Put a question into a set, a new one where there is none; one of the same id gives way."""
        with self._file.writing():
            others = self.find_set(set_name)
            if any(one.id == question.id for one in others):
                self.write_set(set_name, [question if one.id == question.id else one for one in others])
            else:
                self.write_set(set_name, (*others, question))

    def erase(self, documents: Collection[str], version: int, mentions: Mentions) -> Erased:
        return erase(self._file, documents, version, mentions)

    def deleted(self, document: str) -> bool:
        """Whether a document with this id was once deleted."""
        return bool(self._rows("SELECT 1 FROM deletions WHERE document = ?", (document,)))

    def keeping(self) -> bool | None:
        """Whether questions of this collection are kept, as it was last chosen; None when nobody chose."""
        chosen = self._choice("keep_decisions")
        return None if chosen is None else bool(chosen)

    def set_keeping(self, keep: bool) -> None:
        """Remember whether questions of this collection are kept."""
        with self._file.writing():
            self._choose("keep_decisions", keep)
            self._note(Action.KEEPING, ("on" if keep else "off",))

    def presets(self) -> tuple[SavedPreset, ...]:
        """The saved presets, by name."""
        rows = self._rows("SELECT name, preset_values, certificate, created FROM presets ORDER BY name")
        return tuple(
            SavedPreset(name, read_json(self._file, values), read_json(self._file, certificate), created)
            for name, values, certificate, created in rows
        )

    def save_preset(self, preset: SavedPreset) -> None:
        """Store a preset; one of the same name is replaced."""
        certificate = None if preset.certificate is None else dict(preset.certificate)
        row = (named(preset.name), json.dumps(dict(preset.values)), json.dumps(certificate), preset.created)
        with self._file.writing() as db:
            db.execute(
                "INSERT OR REPLACE INTO presets (name, preset_values, certificate, created) VALUES (?, ?, ?, ?)", row
            )
            self._note(Action.THRESHOLDS, (name_id(row[0]),))

    def delete_preset(self, name: str) -> None:
        """Delete a preset; if it was the default one, there is none any more."""
        with self._file.writing() as db:
            db.execute("DELETE FROM presets WHERE name = ?", (name,))
            self._note(Action.THRESHOLDS, (name_id(name),))
            if self.default_preset() == name:
                self.set_default_preset(None)

    def default_preset(self) -> str | None:
        """The saved preset that questions of this collection start with; None for the program's own."""
        name = self._choice(_DEFAULT_PRESET)
        return None if name is None else str(name)

    def set_default_preset(self, name: str | None) -> None:
        """Choose the saved preset to start with; None for the program's own."""
        if name is not None and name not in {preset.name for preset in self.presets()}:
            raise InvalidInput(
                f"There is no saved preset {name!r}.", remedy="It may have been deleted since; choose another."
            )
        with self._file.writing():
            self._choose(_DEFAULT_PRESET, name)
            self._note(Action.THRESHOLDS, (name_id(name) if name else "default",))

    def _choice(self, name: str) -> Any:
        """The last choice under a name; None when there is none."""
        rows = self._rows("SELECT value FROM choices WHERE name = ?", (name,))
        return read_json(self._file, rows[0][0]) if rows else None

    def _choose(self, name: str, value: Any) -> None:
        self._change("INSERT OR REPLACE INTO choices (name, value) VALUES (?, ?)", (name, json.dumps(value)))

    def move_aside(self) -> Path | None:
        """Give a damaged file another name and begin a new one; nothing is deleted. Returns where it is now."""
        permit(Action.KEEPING, self.collection)
        return self._file.move_aside()

    def close(self) -> None:
        self._file.close()
