"""Changes to many files that all happen, or none: what a run has done is undone if it fails."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

_ASIDE = re.compile(r"\.attnmatrix-[0-9a-f]{16}-[0-9]+\.(new|old)")


def is_left_over(name: str) -> bool:
    """Whether a file's name is one that a transaction gives, so that a killed run has left it."""
    return _ASIDE.fullmatch(name) is not None


class _Step:
    """The change of one file. What it becomes and what it was lie beside its place meanwhile."""

    __slots__ = ("target", "new", "old", "kept", "moved")

    def __init__(self, target: Path, aside: str) -> None:
        self.target = target
        self.new = target.with_name(f"{aside}.new")
        self.old = target.with_name(f"{aside}.old")
        self.kept = False
        self.moved = False

    def write(self, text: str) -> None:
        with self.new.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)

    def put(self) -> None:
        if os.path.lexists(self.target):
            if self.target.is_symlink():
                self.target.rename(self.old)
            else:
                self._copy()
            self.kept = True
        os.replace(self.new, self.target)
        self.moved = True

    def _copy(self) -> None:
        try:
            os.link(self.target, self.old)
        except OSError:  # a disk that knows no links
            shutil.copy2(self.target, self.old)

    def take(self) -> None:
        self.target.rename(self.old)
        self.kept = True

    def undo(self) -> None:
        if self.kept:
            os.replace(self.old, self.target)
        elif self.moved:
            self.target.unlink()
        self.old.unlink(missing_ok=True)
        self.new.unlink(missing_ok=True)


def change(
    texts: Mapping[Path, str], gone: Iterable[Path], check: Callable[[], None] = lambda: None
) -> None:
    """Writes texts and removes files. `check` is called between steps, and may raise.

    Every new file is complete beside its place before the first one is moved there, and every old
    one is kept until the last is. Whatever is raised, the files are then as they were.
    """
    token = os.urandom(8).hex()
    steps: list[_Step] = []
    folders: list[Path] = []

    def step(target: Path) -> _Step:
        steps.append(_Step(target, f".attnmatrix-{token}-{len(steps)}"))
        return steps[-1]

    try:
        for target, text in texts.items():
            check()
            _make_folder(target.parent, folders)
            step(target).write(text)
        for written in tuple(steps):
            check()
            written.put()
        for target in gone:
            check()
            step(target).take()
    except BaseException as error:
        for begun in reversed(steps):
            try:
                begun.undo()
            except OSError as failure:
                error.add_note(f"{begun.target} may lie in {begun.old} now: {failure}")
        for folder in reversed(folders):
            with suppress(OSError):
                folder.rmdir()
        raise
    for done in steps:
        with suppress(OSError):  # all is in place; the next run removes what is left
            done.old.unlink(missing_ok=True)


def _make_folder(folder: Path, made: list[Path]) -> None:
    if not folder.is_dir():
        _make_folder(folder.parent, made)
        folder.mkdir(exist_ok=True)
        made.append(folder)
