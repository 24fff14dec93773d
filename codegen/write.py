"""Puts rendered files on disk, whole or not at all; or says how the disk differs."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from .folders import files_under
from .header import is_marked
from .transaction import change, is_left_over

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
    """What lies in a generated folder and was not generated. The generator won't delete it."""

    def __init__(self, root: Path, paths: list[str]) -> None:
        self.paths = paths
        shown = "\n".join(f"  {root / path}" for path in paths)
        super().__init__(
            f"these files lie in generated folders but were not generated:\n{shown}\n"
            "Move them elsewhere; everything in these folders is written by attnmatrix gen."
        )


def compare(root: Path, files: Files) -> Differences:
    """Reads the generated folders of `root`; writes nothing.

    Raises ForeignFiles where something that is no file (a pipe, a device, a folder) has a file's
    place: it is never opened.
    """
    missing, changed, foreign = [], [], []
    for path, text in files.items():
        content = text.encode()
        try:
            found = (root / path).stat()
            if not stat.S_ISREG(found.st_mode):
                foreign.append(path)
            elif found.st_size != len(content) or (root / path).read_bytes() != content:
                changed.append(path)
        except FileNotFoundError:
            missing.append(path)
    orphaned = [path for path in files_under(root) if path not in files]
    foreign += [path for path in orphaned if not (root / path).is_file()]
    if foreign:
        raise ForeignFiles(root, foreign)
    return Differences(missing, changed, orphaned)


def diff(root: Path, files: Files, differences: Differences) -> str:
    """A unified diff from the disk to what the source gives; empty if they are the same."""
    if not differences:
        return ""
    from difflib import unified_diff

    lines: list[str] = []
    for path in sorted((*differences.missing, *differences.changed, *differences.orphaned)):
        old = "" if path in differences.missing else _text(root / path)
        new = files.get(path, "")
        for line in unified_diff(
            old.splitlines(keepends=True),
            new.splitlines(keepends=True),
            "/dev/null" if path in differences.missing else f"a/{path}",
            f"b/{path}" if path in files else "/dev/null",
        ):
            lines.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
        if old == new and path in differences.changed:
            lines.append(f"{path}: the bytes differ (line endings or encoding)\n")
    return "".join(lines)


def _text(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        return file.read()


def write(root: Path, files: Files, differences: Differences) -> None:
    """Writes what is missing or changed and removes orphans; if anything fails, does neither.

    Raises ForeignFiles or OSError. A signal that ends the process has its effect afterwards.
    """
    foreign = [path for path in differences.orphaned if not _generated(root / path)]
    if foreign:
        raise ForeignFiles(root, foreign)
    texts = {root / path: files[path] for path in (*differences.missing, *differences.changed)}
    gone = [root / path for path in differences.orphaned]
    if texts or gone:
        from .signals import HeldSignals

        with HeldSignals() as signals:
            change(texts, gone, signals.check)
            for path in gone:
                _remove_empty(root, path.parent)


def _generated(path: Path) -> bool:
    if is_left_over(path.name):
        return True
    with path.open("rb") as file:
        return is_marked(file.read(2000))


def _remove_empty(root: Path, folder: Path) -> None:
    """Removes folders that held nothing but removed files and bytecode; leaves what it cannot."""
    with suppress(OSError):
        while folder != root and not any(p.name != "__pycache__" for p in folder.iterdir()):
            for cache in folder.iterdir():
                if all(p.suffix == ".pyc" for p in cache.iterdir()):
                    for compiled in cache.iterdir():
                        compiled.unlink()
                cache.rmdir()
            folder.rmdir()
            folder = folder.parent
