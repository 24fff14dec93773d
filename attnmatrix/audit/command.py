"""The commands `attnmatrix audit` and `attnmatrix import`."""

from __future__ import annotations

import sys

from ..annotation import annotation
from .differences import compare
from .draft import draft
from .history import changes
from .reading import read_release
from .report import (
    comparison_github,
    comparison_json,
    comparison_text,
    history_github,
    history_json,
    history_text,
    to_text,
)
from .tree import AuditError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def audit(engine: str, releases: list[str], form: str, limit_s: float, matrix: str) -> int:
    """Compares a release with the matrix, or two with each other, and prints what differs.

    form: text, json or github. matrix: the package of generated modules. Returns 0 where nothing
    differs, 1 where something does, 2 where a release could not be read.
    """
    try:
        readings = [read_release(engine, path, limit_s) for path in releases]
    except AuditError as error:
        return _fail(error, form)
    if len(readings) == 2:
        before, after = readings
        found = changes(before, after)
        if form == "json":
            print(to_text(history_json(before, after, found)))
        else:
            _print(
                history_github(after, found)
                if form == "github"
                else history_text(before, after, found)
            )
        return 1 if found else 0
    (reading,) = readings
    differences = compare(reading, matrix)
    if form == "json":
        print(to_text(comparison_json(reading, differences)))
    elif form == "github":
        _print(comparison_github(reading, differences))
    else:
        _print(comparison_text(reading, differences))
    return 1 if any(difference.counts for difference in differences) else 0


def import_(engine: str, release: str, limit_s: float, matrix: str) -> int:
    """Prints YAML entries for the backends of a release that the matrix lacks.

    Returns 0 where there are some or none, 2 where the release could not be read.
    """
    from ..registry import backend_names

    try:
        reading = read_release(engine, release, limit_s, every_gpu=True)
    except AuditError as error:
        return _fail(error, "text")
    _print(draft(reading, known=backend_names(matrix)))
    return 0


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)


def _fail(error: AuditError, form: str) -> int:
    if form == "github":
        print(annotation("error", "attnmatrix audit could not read the release", str(error), None))
    print(f"attnmatrix: error: {error}", file=sys.stderr)
    return 2
