"""Reads a YAML file into a checked matrix, and reports all that is wrong at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .changes import Snapshot, read_snapshots
from .check_evidence import evidence_agrees, evidence_names
from .checks import CHECKS
from .evidence import File, read_evidence
from .folders import SNAPSHOTS
from .matrix import Matrix
from .problems import InvalidSource, Place, Problem
from .source import Source, read_source
from .validate import validate

_NAMED = ("libraries", "kv_formats", "kernels", "backends", "engines", "models")
_Entry = tuple[str, ...]


def load(path: Path | str, *, name: str | None = None) -> Matrix:
    """Reads and checks a YAML file, and the evidence and the releases recorded beside it.

    Raises InvalidSource with every problem, or OSError.
    """
    files, faults = read_evidence(Path(path))
    releases: tuple[Snapshot, ...] = ()
    try:
        releases = read_snapshots(Path(path).parent / SNAPSHOTS)
    except InvalidSource as error:
        faults += error.problems
    return check(read_source(path, name=name, strict=False), files, releases, faults)


def check(
    source: Source,
    files: Sequence[File] = (),
    releases: Sequence[Snapshot] = (),
    faults: Sequence[Problem] = (),
) -> Matrix:
    """The matrix of a source and what lies beside it. Raises InvalidSource with every problem.

    faults: what is wrong with files beside it that could not be read. Evidence is held against a
    source that has no problem of its own.
    """
    document, deviations = validate(source)
    unread = _entries_at(source, [problem.place for problem in source.problems])
    problems = [*source.problems, *(p for p in deviations if not _misread(p, source, unread))]
    broken: set[_Entry] = set()
    if document is None or source.problems:
        # The cross-checks still go over every entry that can be read.
        broken = _entries_at(source, [problem.place for problem in problems])
        document, _ = validate(source, _without(source.data, broken))
    if document is not None:
        matrix = Matrix(source, document)
        found = [problem for rule in CHECKS for problem in rule(matrix)]
        found = [p for p in found if not _follows(p, broken)]
        if any(p.code == "unknown-name" for p in found):  # what is misspelt there is unused here
            found = [p for p in found if p.code != "unused-entry"]
        problems += found
        if not problems:
            matrix = replace(matrix, files=tuple(files), releases=tuple(releases))
            problems = list(evidence_names(matrix)) or list(evidence_agrees(matrix))
        if not problems and not faults:
            return matrix
    raise InvalidSource([*problems, *faults])


def _misread(problem: Problem, source: Source, unread: set[_Entry]) -> bool:
    """Whether a deviation may come from a value that the reader has refused already."""
    if any(refused.code == "not-yaml" for refused in source.problems):
        return True
    return problem.code != "unknown-key" and bool(_entries_at(source, [problem.place]) & unread)


def _entries_at(source: Source, places: list[Place]) -> set[_Entry]:
    """The top-level keys, or the entries under them, in which the places lie."""
    data = source.data if isinstance(source.data, dict) else {}
    starts: list[tuple[Place, _Entry]] = []
    for key, section in data.items():
        starts.append((source.place((key,), key=True), (key,)))
        if key in _NAMED and isinstance(section, dict):
            starts += [(source.place((key, n), key=True), (key, n)) for n in section]
    starts.sort()
    found = set()
    for place in places:
        before = [entry for start, entry in starts if start <= place]
        if before:
            found.add(before[-1])
    return found


def _without(data: Any, broken: set[_Entry]) -> Any:
    """The data less its broken entries; a section that is broken itself is left empty."""
    if not isinstance(data, dict):
        return data
    kept: dict[str, Any] = {}
    for key, section in data.items():
        if (key,) in broken:
            continue
        kept[key] = section
        if key in _NAMED and isinstance(section, dict):
            kept[key] = {n: entry for n, entry in section.items() if (key, n) not in broken}
    return {**{key: {} for key in _NAMED}, **kept}


def _follows(problem: Problem, broken: set[_Entry]) -> bool:
    """Whether a finding may come from the absence of a broken entry alone."""
    if not broken:
        return False
    if problem.code == "unknown-name":
        return any(e[-1] in _NAMED or f"{e[-1]!r}" in problem.message for e in broken)
    return problem.code == "unused-entry"
