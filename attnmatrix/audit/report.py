"""A comparison or a history as text, JSON or GitHub annotations."""

from __future__ import annotations

import json

from ..annotation import annotation
from .difference import NEEDLESS, SPELLING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from .difference import Difference
    from .history import Change
    from .reading import Reading


def comparison_text(reading: Reading, differences: list[Difference]) -> Iterator[str]:
    """Lines for people: what differs, then what is acknowledged, then what is unknown."""
    counted = [difference for difference in differences if difference.counts]
    acknowledged = [d for d in differences if d.acknowledged is not None]
    spelled = [d for d in differences if d.kind == SPELLING]
    cells = [value for row in reading.declared.values() for value in row.values()]
    unknown = sum(value is None for value in cells)
    yield (
        f"{reading.engine} {reading.version or '(version unknown)'}: {len(reading.declared)} "
        f"backends, {len(cells)} cells, {unknown} unknown"
    )
    yield from _section("differences", counted)
    yield from _section("acknowledged in the matrix", acknowledged)
    yield from _section("the same, spelled otherwise", spelled)
    if reading.unknown:
        yield ""
        yield "unknown, or unknown on some GPUs:"
        for (backend, field), why in reading.unknown.items():
            yield f"  {backend} {field}: {why}"
    yield ""
    yield "agrees with the matrix" if not counted else f"{len(counted)} differences"


def _section(title: str, differences: list[Difference]) -> Iterator[str]:
    if not differences:
        return
    yield ""
    yield f"{title}:"
    for difference in differences:
        yield f"  {difference.backend}: {difference.message}"
        if difference.acknowledged:
            yield f"    because: {difference.acknowledged}"


def comparison_json(reading: Reading, differences: list[Difference]) -> dict[str, Any]:
    """The object of `audit --json`.

    `combinations` lists those inside the declared lists that the engine refuses (`reasons`), that
    cannot be known (null) or for which it would look at the model, too; it accepts the others.
    """
    return {
        "engine": reading.engine,
        "version": reading.version,
        "declared": reading.declared,
        "differences": [difference.to_json() for difference in differences],
        "unknown": _unknown(reading),
        "combinations": {
            backend: told
            for backend, rows in reading.combinations.items()
            if (told := [row for row in rows if row["reasons"] != [] or row["model"]])
        },
        "placeholders": reading.placeholders,
    }


def _unknown(reading: Reading) -> list[dict[str, str]]:
    return [
        {"backend": backend, "field": field, "reason": why}
        for (backend, field), why in reading.unknown.items()
    ]


def comparison_github(reading: Reading, differences: Iterable[Difference]) -> Iterator[str]:
    """Workflow commands: an error for each difference that counts, a notice for the others."""
    for difference in differences:
        level = "error" if difference.counts else "notice"
        title = f"{difference.backend} differs from the attention matrix"
        if difference.kind == NEEDLESS:
            title = f"{difference.backend}: needless acknowledgement"
        message = difference.message
        if difference.acknowledged:
            message += f" (acknowledged: {difference.acknowledged})"
        yield annotation(level, title, message, difference.place)


def history_text(before: Reading, after: Reading, found: list[Change]) -> Iterator[str]:
    """Lines for people: what changed from one release to the other."""
    yield f"{before.engine} {before.version} -> {after.version}: {len(found)} changes"
    for change in found:
        yield f"  {change.backend}: {change.message}"


def history_json(before: Reading, after: Reading, found: list[Change]) -> dict[str, Any]:
    """The object of `audit A B --json`."""
    return {
        "engine": before.engine,
        "from": before.version,
        "to": after.version,
        "changes": [change.to_json() for change in found],
        "unknown": {"from": _unknown(before), "to": _unknown(after)},
    }


def history_github(after: Reading, found: list[Change]) -> Iterator[str]:
    """Workflow commands: a notice for each change."""
    for change in found:
        place = after.places.get(change.backend)
        yield annotation("notice", f"{change.backend} changed", change.message, place)


def to_text(data: Any) -> str:
    """JSON as commands print it."""
    return json.dumps(data, indent=2)
