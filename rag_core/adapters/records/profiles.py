"""The versions of a collection's domain profiles, and what programs recorded of their work under them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rag_core.adapters.records.file import RecordFile
from rag_core.adapters.records.tables import as_written, now, plain, read_json, row_id
from rag_core.domain.acts import actor
from rag_core.errors import InvalidInput
from rag_core.records.stored import MAX_COMMENT_CHARS, Execution, ExecutionOutcome, FeedbackKind, ProfileVersion, VersionState
from rag_core.settings.profiles import SHIPPED, require_domain

MAX_EXECUTIONS = 20_000  # records of a collection, about 200 bytes each; the oldest go
_IN_FORCE = "profile "  # before the domain, as the name of a choice


class Profiles:
    """Versions of profiles, which of them is in force, and executions."""

    def __init__(self, file: RecordFile) -> None:
        self._file = file

    def versions(self, domain: str) -> tuple[ProfileVersion, ...]:
        """All versions of a domain's profile, the shipped one first.

        Raises:
            InvalidSetting: there is no such domain.
        """
        shipped = ProfileVersion(domain, SHIPPED, require_domain(domain).values)
        query = (
            "SELECT domain, version, profile_values, why, evidence, state, at, proposed_by, settled, settled_by FROM sound_profiles"
            " WHERE domain = ? ORDER BY version"
        )
        with self._file.reading() as db:
            rows = db.execute(query, (domain,)).fetchall()
        with as_written(self._file):
            return shipped, *(
                ProfileVersion(
                    of, version, read_json(self._file, values), why, read_json(self._file, evidence), VersionState(state), *settled
                )
                for of, version, values, why, evidence, state, *settled in rows
            )

    def version(self, domain: str, version: int) -> ProfileVersion:
        """One of them.

        Raises:
            InvalidInput: there is none of this number.
        """
        found = next((one for one in self.versions(domain) if one.version == version), None)
        if found is None:
            raise InvalidInput(f"The profile {domain} has no version {version}.", remedy="List its versions, and name one of them.")
        return found

    def in_force(self, domain: str) -> ProfileVersion:
        """The version that questions of this domain are asked under."""
        with self._file.reading() as db:
            row = db.execute("SELECT value FROM sound_choices WHERE name = ?", (_IN_FORCE + domain,)).fetchone()
        return self.version(domain, SHIPPED if row is None else int(read_json(self._file, row[0])))

    def propose(self, domain: str, values: Mapping[str, Any], why: str, evidence: Mapping[str, Any]) -> ProfileVersion:
        """Keep a proposed version with its evidence; it changes nothing until somebody puts it in force."""
        row = (json.dumps(dict(values)), plain(why.strip())[:MAX_COMMENT_CHARS], json.dumps(dict(evidence)), now(), actor().name)
        insert = (
            "INSERT INTO profiles (domain, version, profile_values, why, evidence, state, at, proposed_by, settled, settled_by)"
            " VALUES (?, ?, ?, ?, ?, 'proposed', ?, ?, '', '')"
        )
        with self._file.writing() as db:
            number = self.versions(domain)[-1].version + 1
            db.execute(insert, (domain, number, *row))
            return self.version(domain, number)

    def put_in_force(self, domain: str, version: int) -> ProfileVersion:
        """Accept a version, and ask under it from now on; an earlier one again takes its successors back.

        Raises:
            InvalidInput: there is no such version.
        """
        with self._file.writing() as db:
            if self.version(domain, version).state is not VersionState.ACCEPTED:
                self._settle(domain, version, VersionState.ACCEPTED)
            db.execute("INSERT OR REPLACE INTO choices (name, value) VALUES (?, ?)", (_IN_FORCE + domain, json.dumps(version)))
            return self.version(domain, version)

    def decline(self, domain: str, version: int) -> ProfileVersion:
        """Say no to a proposed version; it is kept.

        Raises:
            InvalidInput: there is no such version, or it is not a proposal any more.
        """
        with self._file.writing():
            if self.version(domain, version).state is not VersionState.PROPOSED:
                raise InvalidInput(f"Version {version} is not a proposal.", remedy="Put another version in force instead.")
            self._settle(domain, version, VersionState.DECLINED)
            return self.version(domain, version)

    def record_execution(self, execution: Execution, origin: str) -> int:
        """Keep what a program recorded; its id."""
        e = execution
        row = (
            now(), origin, e.prompt, e.profile, e.confidence, e.citation_coverage, int(e.hallucination), e.outcome, e.feedback or "",
            e.decision,
        )  # fmt: skip
        insert = (
            "INSERT INTO executions (at, origin, prompt, profile, confidence, citation_coverage, hallucination, outcome, feedback,"
            " decision) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        )
        with self._file.writing() as db:
            id = row_id(db.execute(insert, row).lastrowid)
            db.execute("DELETE FROM executions WHERE id <= ?", (id - MAX_EXECUTIONS,))
        return id

    def executions(self) -> tuple[Execution, ...]:
        """All that are kept, newest first."""
        query = (
            "SELECT prompt, profile, confidence, citation_coverage, hallucination, outcome, feedback, decision, id, at, origin"
            " FROM sound_executions ORDER BY id DESC"
        )
        with self._file.reading() as db:
            rows = db.execute(query).fetchall()
        with as_written(self._file):
            return tuple(
                Execution(
                    prompt,
                    profile,
                    confidence,
                    coverage,
                    bool(found),
                    ExecutionOutcome(outcome),
                    FeedbackKind(said) if said else None,
                    *rest,
                )
                for prompt, profile, confidence, coverage, found, outcome, said, *rest in rows
            )

    def _settle(self, domain: str, version: int, state: VersionState) -> None:
        with self._file.writing() as db:
            db.execute(
                "UPDATE profiles SET state = ?, settled = ?, settled_by = ? WHERE domain = ? AND version = ?",
                (state, now(), actor().name, domain, version),
            )
