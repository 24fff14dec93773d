"""What a page, the site's table and the data say of one verdict: a word, and where it comes from.

Every word is asked of the runtime's `judge`, so that a page and an answer cannot differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from attnmatrix.backend import Backend
from attnmatrix.capability import DEVICES, format_capability, parse_capability
from attnmatrix.reasons import NAMES
from attnmatrix.request import Request
from attnmatrix.verdict import Verdict, judge
from attnmatrix.verified import describe

from . import text
from .schema import Document

Grid = dict[str, dict[str, Verdict]]
"""Verdicts by KV-cache dtype and compute capability."""

Reasons = tuple[tuple[str, str], ...]
"""Field and message of each reason of a verdict."""

STATES = {
    "verified": "runs, and a probe record shows it",
    "cited": "runs, as its sources say",
    "claimed": "runs, as is said without a source",
    "unknown": "nobody has established whether it runs",
    "known issue": "is known not to work, and why is known",
    "no": "is refused",
}
"""What a cell says, best first, each with its meaning."""

_SPELLINGS = tuple(sorted({*NAMES, "fp8", "fp8_e4m3"}))
"""KV-cache dtypes that engines know; a backend says why it takes one not."""

_MANY = 8
_COLUMNS = ("8.0", "9.0", "10.0", "12.0")
"""Compute capabilities that a matrix shows which names no GPU."""


def columns(document: Document) -> list[str]:
    """The compute capabilities that pages show, in order, then the devices that backends name."""
    listed = document.gpus.values() or _COLUMNS
    variants = [variant for backend in document.backends.values() for variant in backend.variants]
    named = {pattern.text for variant in variants for pattern in variant.compute_capability}
    return [
        *(format_capability(c) for c in sorted({parse_capability(c) for c in listed})),
        *(device for device in DEVICES if device in named),
    ]


@lru_cache(maxsize=4096)
def _request(compute_capability: str, kv_cache_dtype: str) -> Request:
    return Request(compute_capability=compute_capability, kv_cache_dtype=kv_cache_dtype)


def state(verdict: Verdict) -> str:
    """One of STATES."""
    if verdict.status == "supported":
        evidence = (verdict.evidence or {}).get("status")
        return evidence if evidence in STATES else "claimed"
    if verdict.status == "unknown":
        return "unknown"
    return "known issue" if verdict.notes else "no"


def shown_state(word: str) -> str:
    """A state as an answer to "does it run": `yes (cited)`, `unknown`, `no`."""
    return f"yes ({word})" if word in ("verified", "cited", "claimed") else word


@dataclass(frozen=True)
class Answers:
    """The verdicts on a backend: each KV-cache dtype on each compute capability."""

    backend: type[Backend]
    columns: list[str]

    @cached_property
    def grid(self) -> Grid:
        """Verdicts by KV-cache dtype, then by compute capability."""
        return {
            spelling: {
                column: judge(self.backend, _request(column, spelling)) for column in self.columns
            }
            for spelling in self.backend.supported_kv_cache_dtypes
        }

    @cached_property
    def states(self) -> dict[str, dict[str, str]]:
        """The same as one of STATES each."""
        return {
            spelling: {column: state(verdict) for column, verdict in row.items()}
            for spelling, row in self.grid.items()
        }

    @cached_property
    def summaries(self) -> dict[str, str]:
        """By compute capability: the KV-cache dtypes by state, or no. Markdown.

        Where a long list is of one state, it says `all`; the backend's page lists it.
        """
        return {column: self._summary(column) for column in self.columns}

    def _summary(self, column: str) -> str:
        groups: dict[str, list[str]] = {}
        for spelling, row in self.states.items():
            groups.setdefault(row[column], []).append(spelling)
        shown = [
            f"{word}: {_spellings(groups[word], len(self.states))}"
            for word in STATES
            if word in groups and word != "no"
        ]
        return "; ".join(shown) or "no"

    @cached_property
    def reasons(self) -> dict[str, dict[str, Reasons]]:
        """Field and message of every reason, by KV-cache dtype and compute capability."""
        return {
            spelling: {column: _reasons(verdict) for column, verdict in row.items()}
            for spelling, row in self.grid.items()
        }

    def refused(self) -> Iterator[tuple[str, Reasons]]:
        """KV-cache dtypes, each with reasons against it: on a GPU, or on any that engines know."""
        for spelling, row in self.reasons.items():
            for column, reasons in row.items():
                if self.grid[spelling][column].status == "unsupported":
                    yield spelling, reasons
        for spelling in _SPELLINGS:
            if spelling not in self.grid:
                yield spelling, _reasons(judge(self.backend, Request(kv_cache_dtype=spelling)))

    def support(self) -> list[dict[str, Any]]:
        """The answers, each once, with the KV-cache dtypes and GPUs that it is for.

        `cells` are the numbers of those among the backend's that take the request.
        """
        numbers = {id(cell): number for number, cell in enumerate(self.backend.cells)}
        pairs: dict[Any, dict[str, list[str]]] = {}
        for spelling, row in self.grid.items():
            for column, verdict in row.items():
                refused = verdict.status == "unsupported"
                found = (
                    self.states[spelling][column],
                    _records(verdict),
                    () if refused else tuple(numbers[id(cell)] for cell in verdict.cells),
                    self.reasons[spelling][column],
                    verdict.notes if refused else (),
                )
                pairs.setdefault(found, {}).setdefault(spelling, []).append(column)
        grouped: dict[tuple[Any, tuple[str, ...]], list[str]] = {}
        for answer, by_spelling in pairs.items():
            for spelling, shared in by_spelling.items():
                grouped.setdefault((answer, tuple(shared)), []).append(spelling)
        return [
            {
                "kv_cache_dtypes": spellings,
                "compute_capabilities": list(shared),
                "state": word,
                "records": list(records),
                "cells": list(cells),
                "reasons": [{"field": field, "message": message} for field, message in reasons],
                "known_issues": list(notes),
            }
            for ((word, records, cells, reasons, notes), shared), spellings in grouped.items()
        ]


def _records(verdict: Verdict) -> tuple[str, ...]:
    """The probes that bear on a verdict, in words."""
    if verdict.status == "unsupported" or not any(cell.evidence for cell in verdict.cells):
        return ()
    records = (verdict.evidence or {}).get("records", ())
    return tuple(describe(record) + (" (stale)" if record["stale"] else "") for record in records)


def _reasons(verdict: Verdict) -> Reasons:
    return tuple((reason.field, reason.message) for reason in verdict.reasons)


def _spellings(group: list[str], total: int) -> str:
    if len(group) == total > _MANY:
        return f"all {total}"
    return ", ".join(map(text.code, group))
