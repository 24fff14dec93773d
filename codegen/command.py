"""`attnmatrix gen`: reads, checks, renders, writes; or checks that nothing has drifted."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from . import last_run
from .folders import inputs_of
from .lock import locked

if TYPE_CHECKING:
    from .write import Differences


def generate(source: str, out: str | None, *, check: bool) -> int:
    """Runs the command; returns 0 (written, or in step), 1 (drift) or 2 (broken)."""
    collecting = gc.isenabled()
    gc.disable()  # many objects, few cycles: collecting costs a fifth of the time
    try:
        return _generate(source, out, check=check)
    finally:
        if collecting:
            gc.enable()


def _generate(source: str, out: str | None, *, check: bool) -> int:
    path = Path(source)
    root = Path(out) if out is not None else path.parent
    inputs = None if check else last_run.inputs_digest(inputs_of(path), [source])
    if inputs is not None:
        with locked(root):
            kept = last_run.unchanged(root, inputs)
        if kept is not None:
            print(f"0 files written, {kept} unchanged under {root}")
            return 0
    from .load import load
    from .problems import InvalidSource
    from .render import render
    from .write import ForeignFiles, compare, diff, write

    try:
        files = render(load(path), keep_templates=not check)
    except InvalidSource as error:
        print(error, file=sys.stderr)
        count = len(error.problems)
        print(f"\n{count} error{'s' * (count != 1)} in {path}; nothing written", file=sys.stderr)
        return 2
    except OSError as error:
        return _fail(f"cannot read {path}: {error.strerror or error}")
    try:
        if not check:
            root.mkdir(parents=True, exist_ok=True)
        with locked(root, shared=check):
            differences = compare(root, files)
            if check:
                shown = diff(root, files, differences)
            else:
                write(root, files, differences)
                again = last_run.inputs_digest(inputs_of(path), [source])
                if inputs is not None and inputs == again:
                    last_run.remember(root, inputs, files)
    except (OSError, ForeignFiles) as error:
        return _fail("\n".join((str(error), *getattr(error, "__notes__", ()))))
    if check:
        return _report(len(files), differences, shown, _command(source, out))
    written = len(differences.missing) + len(differences.changed)
    kept = len(files) - written
    removed = f", {len(differences.orphaned)} removed" if differences.orphaned else ""
    print(f"{written} files written, {kept} unchanged{removed} under {root}")
    return 0


def _report(count: int, differences: Differences, shown: str, command: str) -> int:
    if not differences:
        print(f"{count} files are in step with the source")
        return 0
    print(shown, end="")
    for word, paths in (
        ("missing", differences.missing),
        ("differs", differences.changed),
        ("orphaned", differences.orphaned),
    ):
        for path in paths:
            print(f"{word}: {path}")
    print(f"The files differ from what the source gives. Run: {command}")
    return 1


def _command(source: str, out: str | None) -> str:
    if source == "capabilities.yaml" and out is None:
        return "make gen"
    import shlex

    words = ["attnmatrix", "gen", "--source", source]
    return shlex.join(words + (["--out", out] if out is not None else []))


def _fail(error: object) -> int:
    print(f"attnmatrix: error: {error}", file=sys.stderr)
    return 2
