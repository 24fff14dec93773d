"""The folders that the generator writes, and those that it reads beside the source."""

from __future__ import annotations

import os
from pathlib import Path

FOLDERS = ("generated", "docs/reference")

SNAPSHOTS = "changes"
EVIDENCE = "evidence"


def inputs_of(source: Path) -> list[Path]:
    """The files that a run reads: the source, and the snapshots and evidence beside it."""
    beside = (
        path for name in (SNAPSHOTS, EVIDENCE) for path in (source.parent / name).glob("*.json")
    )
    return [source, *sorted(beside)]


def files_under(root: Path) -> list[str]:
    """Paths under the root of all files in the generator's folders, Python's caches left out.

    Raises OSError where a folder cannot be read; one that is missing is empty.
    """
    found = []
    for folder in FOLDERS:
        for directory, subdirectories, names in os.walk(root / folder, onerror=_raise):
            subdirectories[:] = sorted(set(subdirectories) - {"__pycache__"})
            inside = Path(directory).relative_to(root).as_posix()
            found += [f"{inside}/{name}" for name in sorted(names)]
    return found


def _raise(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error
