"""The evidence beside a source: files read, and each kernel's records held against its rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import from_json

from attnmatrix.evidence import OUTCOMES, Evidence, InvalidEvidence, Record, parse, standing_of
from attnmatrix.evidence_faults import record_lines
from attnmatrix.standings import RowIndex, excepted_of

from .folders import EVIDENCE
from .problems import Place, Problem

Rows = Sequence[Mapping[str, Any]]

_STANDING = {(name, row): standing_of(name, row) for name in OUTCOMES for row in (True, False)}
_LOADS = partial(from_json, allow_inf_nan=False)  # three times as fast as the standard parser


class File(NamedTuple):
    """One evidence file: its path beside the source, as problems name it and in bytes."""

    path: str
    shown: str
    raw: bytes
    evidence: Evidence

    def places(self, numbers: Sequence[int]) -> list[Place]:
        """Where records stand, by their place in the file."""
        lines = record_lines(self.raw)
        return [Place(self.shown, lines[number]) for number in numbers]


class Judged(NamedTuple):
    """A record and its place in its file; how it stands, the row that takes it, if any, and the
    exception that it falls under."""

    number: int
    record: Record
    standing: str
    row: int | None
    exception: int | None


class Probed(NamedTuple):
    """One kernel in one file: its records, the place of the first in the file, and of each record
    how it stands, the row that takes it and the exception that it falls under."""

    file: File
    kernel: str
    first: int
    records: Sequence[Record]
    standings: Sequence[str]
    rows: Sequence[int | None]
    exceptions: Sequence[int | None]

    def of(self, *standings: str) -> list[Judged]:
        """The records that stand so."""
        return [self._judged(i) for i, found in enumerate(self.standings) if found in standings]

    def under(self, exception: int) -> list[Judged]:
        """The records that fall under an exception, and could be tried."""
        numbers = [i for i, found in enumerate(self.exceptions) if found == exception]
        return [self._judged(i) for i in numbers if self.standings[i] != "untested"]

    def _judged(self, i: int) -> Judged:
        taken, under = self.rows[i], self.exceptions[i]
        return Judged(self.first + i, self.records[i], self.standings[i], taken, under)


def read_evidence(source: Path) -> tuple[tuple[File, ...], list[Problem]]:
    """The evidence files beside a source, by name, and all that is wrong with them.

    Raises OSError for one that cannot be opened.
    """
    found: list[File] = []
    problems: list[Problem] = []
    for path in sorted((source.parent / EVIDENCE).glob("*.json")):
        raw = path.read_bytes()
        try:
            evidence = parse(raw, path.name, shown=str(path), loads=_LOADS)
        except InvalidEvidence as error:
            problems += [
                Problem(Place(str(path), fault.line), "not-evidence", fault.message, fault.hint)
                for fault in error.faults
            ]
        else:
            found.append(File(f"{EVIDENCE}/{path.name}", str(path), raw, evidence))
    return tuple(found), problems


def hold(
    files: Sequence[File],
    rows: Mapping[str, Rows],
    exceptions: Mapping[str, Rows],
) -> Iterator[Probed]:
    """Each kernel's records in each file, held against its rows and exceptions as generated."""
    for file in files:
        first = 0
        for kernel, group in groupby(file.evidence.records, key=itemgetter(0)):
            records = list(group)
            found = _hold(file.evidence, records, rows[kernel], exceptions[kernel])
            yield Probed(file, kernel, first, records, *found)
            first += len(records)


def _hold(
    evidence: Evidence, records: Sequence[Record], rows: Rows, exceptions: Rows
) -> tuple[list[str], list[int | None], list[int | None]]:
    index = RowIndex(rows, evidence.capability, evidence.provider)
    cases = [record.case for record in records]
    taken = index.rows_of(cases)
    standings = [
        _STANDING[record.outcome, row is not None]
        for record, row in zip(records, taken, strict=True)
    ]
    if not exceptions:
        return standings, taken, [None] * len(records)
    under = excepted_of(exceptions, evidence.capability, evidence.provider, cases)
    for i, place in enumerate(under):
        if place is not None and standings[i] == "underclaim":
            standings[i] = "excepted"
    return standings, taken, under
