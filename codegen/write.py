"""Puts rendered files on disk, whole or not at all; or says how the disk differs."""

from __future__ import annotations

import difflib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from .render import FOLDERS, MARK

Files = Mapping[str, str]


class Differences:
    """How a folder differs from what was rendered, by path."""

    def __init__(self, missing: list[str], changed: list[str], orphaned: list[str]) -> None:
        self.missing = missing
        self.changed = changed
        self.orphaned = orphaned

    def __bool__(self) -> bool:
        return bool(self.missing or self.changed or self.orphaned)


class ForeignFiles(Exception):
    """Files in a generated folder that do not bear the generator's mark. It won't delete them."""

    def __init__(self, root: Path, paths: list[str]) -> None:
        self.paths = paths
        shown = "\n".join(f"  {root / path}" for path in paths)
        super().__init__(
            f"these files lie in generated folders but were not generated:\n{shown}\n"
            "Move them elsewhere; everything in these folders is written by attnmatrix gen."
        )


def compare(root: Path, files: Files) -> Differences:
    """Reads the generated folders of `root`; writes nothing."""
    missing, changed = [], []
    for path, text in files.items():
        try:
            found = (root / path).read_bytes()
        except FileNotFoundError:
            missing.append(path)
            continue
        if found != text.encode():
            changed.append(path)
    return Differences(missing, changed, _orphans(root, files))


def _orphans(root: Path, files: Files) -> list[str]:
    found = []
    for folder in FOLDERS:
        for directory, subdirectories, names in os.walk(root / folder):
            subdirectories[:] = sorted(set(subdirectories) - {"__pycache__"})
            for name in sorted(names):
                path = (Path(directory) / name).relative_to(root).as_posix()
                if path not in files:
                    found.append(path)
    return found


def diff(root: Path, files: Files, differences: Differences) -> str:
    """A unified diff from the disk to what the source gives."""
    lines: list[str] = []
    for path in sorted((*differences.missing, *differences.changed, *differences.orphaned)):
        old = "" if path in differences.missing else _text(root / path)
        new = files.get(path, "")
        lines += difflib.unified_diff(
            old.splitlines(keepends=True),
            new.splitlines(keepends=True),
            "/dev/null" if path in differences.missing else f"a/{path}",
            f"b/{path}" if path in files else "/dev/null",
        )
        if lines and not lines[-1].endswith("\n"):
            lines[-1] += "\n\\ No newline at end of file\n"
        if old == new and path in differences.changed:
            lines.append(f"{path}: the bytes differ (line endings or encoding)\n")
    return "".join(lines)


def _text(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        return file.read()


def write(root: Path, files: Files, differences: Differences) -> None:
    """Writes what is missing or changed and removes orphans.

    Every new file is complete beside its place before the first one is moved there; if anything
    fails, moved ones are moved back. Raises ForeignFiles or OSError.
    """
    foreign = [path for path in differences.orphaned if not _generated(root / path)]
    if foreign:
        raise ForeignFiles(root, foreign)
    staged: list[tuple[Path, Path, Path]] = []
    moved: list[tuple[Path, Path]] = []
    try:
        for path in (*differences.missing, *differences.changed):
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            beside, old = (target.with_name(f".{target.name}.{end}") for end in ("new", "old"))
            staged.append((beside, target, old))
            with beside.open("w", encoding="utf-8", newline="\n") as file:
                file.write(files[path])
                file.flush()
        for beside, target, old in staged:
            if target.exists():
                _keep(target, old)
            moved.append((target, old))
            os.replace(beside, target)
    except BaseException:
        for target, old in moved:
            if old.exists():
                os.replace(old, target)
            else:
                target.unlink(missing_ok=True)
        raise
    finally:
        for beside, _, old in staged:
            beside.unlink(missing_ok=True)
            old.unlink(missing_ok=True)
    for path in differences.orphaned:
        (root / path).unlink()
        _remove_empty(root, (root / path).parent)


def _keep(target: Path, old: Path) -> None:
    """A second name for a file, or a copy where the disk knows no links."""
    old.unlink(missing_ok=True)
    try:
        os.link(target, old)
    except OSError:
        shutil.copy2(target, old)


def _generated(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(2000)
    left = path.name.startswith(".") and path.name.endswith((".new", ".old"))  # by a killed run
    return MARK.encode() in head or left


def _remove_empty(root: Path, folder: Path) -> None:
    """Removes folders that held nothing but removed files and bytecode."""
    while folder != root and not any(p.name != "__pycache__" for p in folder.iterdir()):
        for cache in folder.glob("__pycache__/*.pyc"):
            cache.unlink()
        for child in folder.iterdir():
            child.rmdir()
        folder.rmdir()
        folder = folder.parent
