"""The folders that belong to the generator, under the root, and what lies in them."""

from __future__ import annotations

import os
from pathlib import Path

FOLDERS = ("generated", "docs/reference")


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
