"""The evidence beside a source: files read, and each kernel's records held against its rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import from_json

from attnmatrix.evidence import Evidence, InvalidEvidence, Record, parse, standing_of
from attnmatrix.evidence_faults import record_lines
from attnmatrix.standings import RowIndex, excepted

from .folders import EVIDENCE
from .problems import Place, Problem

Rows = Sequence[Mapping[str, Any]]

_WRITE = "let attnmatrix probe --write write the file again"
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
    exception: int | None = None


class Probed(NamedTuple):
    """One kernel in one file."""

    file: File
    kernel: str
    judged: list[Judged]

    def of(self, *standings: str) -> list[Judged]:
        """Those that stand so."""
        return [item for item in self.judged if item.standing in standings]


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
        evidence = file.evidence
        by_kernel: dict[str, list[tuple[int, Record]]] = {}
        for number, record in enumerate(evidence.records):
            by_kernel.setdefault(record.kernel, []).append((number, record))
        for kernel, records in by_kernel.items():
            index = RowIndex(rows[kernel], evidence.capability, evidence.provider)
            judged = []
            for number, record in records:
                row = index.row(record.case)
                standing = standing_of(record.outcome, row is not None)
                judged.append(Judged(number, record, standing, row))
            if exceptions[kernel]:
                judged = [_excepted(item, evidence, exceptions[kernel]) for item in judged]
            yield Probed(file, kernel, judged)


def _excepted(item: Judged, evidence: Evidence, exceptions: Rows) -> Judged:
    place = excepted(exceptions, evidence.call(item.record))
    standing = item.standing
    if place is not None and standing == "underclaim":
        standing = "excepted"
    return item._replace(standing=standing, exception=place)
