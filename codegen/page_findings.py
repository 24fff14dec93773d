"""Where an engine's declarations and the records of probes disagree, as a page tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .case_schema import Difference
from .declarations import Held, Seen, held
from .links import source_link
from .page_evidence import counts, machine, repeat

if TYPE_CHECKING:
    from .matrix import Matrix

Key = tuple[str, int]
"""A backend and a position under its `differs`."""


def findings_page(matrix: Matrix) -> dict[str, Any]:
    """What records refute, each declaration with theirs; and the differences that none decides."""
    refuted: dict[Key, list[dict[str, Any]]] = {}
    for item in held(matrix):
        if item.refuted:
            key = (item.backend, int(item.path[3]))
            refuted.setdefault(key, []).append(_declaration(item))
    differences = {
        (name, number): difference
        for name, backend in matrix.document.backends.items()
        for number, difference in enumerate(backend.differs)
    }
    return {
        "findings": [
            {**_difference(name, differences[name, number]), "declarations": found}
            for (name, number), found in refuted.items()
        ],
        "undecided": [
            _difference(name, difference)
            for (name, number), difference in differences.items()
            if (name, number) not in refuted
        ],
    }


def _difference(backend: str, difference: Difference) -> dict[str, Any]:
    return {
        "backend": backend,
        "engine": difference.engine,
        "field": difference.field,
        "reason": difference.reason,
    }


def _declaration(item: Held) -> dict[str, Any]:
    return {
        "kernel": item.declared.kernel,
        "runs": item.declared.runs,
        "where": item.declared.where,
        "sources": [source_link(source) for source in item.declared.sources],
        "seen": [_seen(item, seen) for seen in item.refuted],
    }


def _seen(item: Held, seen: Seen) -> dict[str, Any]:
    return {
        "by": machine(seen.file),
        "date": seen.file.evidence.date,
        "file": seen.file.path,
        "counts": counts(record.outcome for record in seen.records),
        "words": list(dict.fromkeys(r.message for r in seen.records if r.message)),
        "again": repeat(item.declared.kernel, seen.records[0], seen.file),
    }
