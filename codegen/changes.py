"""What changed from release to release: snapshots of matrix.json, held against one another.

A snapshot is changes/VERSION.json beside the source, a copy of generated/data/matrix.json as it was
when that version was released. What changed is worked out, so that nobody has to remember it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from attnmatrix.versions import Version, parse_version

from .folders import SNAPSHOTS
from .problems import InvalidSource, Place, Problem

States = dict[str, dict[str, dict[str, str]]]
"""State by backend, KV-cache dtype and compute capability."""


class Snapshot(NamedTuple):
    """The states of a release."""

    version: Version
    states: States


class Change(NamedTuple):
    """The lines of what one release (None: what is not released yet) changed."""

    version: str | None
    lines: list[tuple[str, str]]


def read_snapshots(folder: Path) -> tuple[Snapshot, ...]:
    """The snapshots of a folder, oldest first; none where there is no folder.

    Raises InvalidSource with what is wrong in every file, or OSError.
    """
    found, problems = [], []
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        try:
            found.append(_snapshot(path))
        except ValueError as error:
            hint = f"copy generated/data/matrix.json to {SNAPSHOTS}/VERSION.json at a release"
            problems.append(Problem(Place(str(path)), "invalid-value", str(error), hint))
    if problems:
        raise InvalidSource(problems)
    return tuple(sorted(found, key=lambda snapshot: snapshot.version.key))


def _snapshot(path: Path) -> Snapshot:
    version = parse_version(path.stem)
    data: Any = json.loads(path.read_text(encoding="utf-8"))
    states: Any = data.get("backends") if isinstance(data, dict) else None
    if not _maps_to_words(states, 3):
        raise ValueError("this is no copy of matrix.json: it has no states by backend")
    return Snapshot(version, states)


def _maps_to_words(value: Any, depth: int) -> bool:
    if depth == 0:
        return isinstance(value, str)
    return isinstance(value, dict) and all(_maps_to_words(v, depth - 1) for v in value.values())


def changes(snapshots: tuple[Snapshot, ...], now: States) -> list[Change]:
    """What each release changed against the one before, the newest first."""
    if not snapshots:
        return []
    steps: list[tuple[str | None, States]] = [(s.version.text, s.states) for s in snapshots]
    steps.append((None, now))
    found = [
        Change(version, list(_differences(before, after)))
        for (_, before), (version, after) in pairwise(steps)
    ]
    return [change for change in reversed(found) if change.lines]


def _differences(before: States, after: States) -> Iterator[tuple[str, str]]:
    """Backend and what changed about it, in the order of what is there now."""
    for backend, rows in after.items():
        if backend not in before:
            yield backend, "added"
            continue
        old = before[backend]
        for spelling, row in rows.items():
            if spelling not in old:
                yield backend, f"{spelling}: added"
            else:
                yield from ((backend, f"{spelling} {line}") for line in _moves(old[spelling], row))
        yield from ((backend, f"{spelling}: removed") for spelling in old if spelling not in rows)
    yield from ((backend, "removed") for backend in before if backend not in after)


def _moves(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """Changes of state, GPUs of one change together. A GPU that is new has changed nothing."""
    moves: dict[tuple[str, str], list[str]] = {}
    for capability, state in after.items():
        if capability in before and before[capability] != state:
            moves.setdefault((before[capability], state), []).append(capability)
    return [f"on {', '.join(gpus)}: {old} → {new}" for (old, new), gpus in moves.items()]
