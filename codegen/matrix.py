"""The matrix: a document with the cells that follow from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from attnmatrix.cell import Cell

from .cell_evidence import Right, cell_evidence, right_records
from .changes import Snapshot
from .evidence import File, Probed, hold
from .join import changed, variant_cells
from .plain import plain
from .schema import Document, Variant
from .source import Source

PHASES = ("decode", "prefill")


@dataclass(frozen=True)
class Matrix:
    """Everything that is rendered. Made by `load`, so that it has passed every check."""

    source: Source
    document: Document
    releases: tuple[Snapshot, ...] = ()
    files: tuple[File, ...] = ()
    _joined: dict[tuple[str, int, str], tuple[Cell, ...]] = field(default_factory=dict, repr=False)

    def variant_cells(self, name: str, number: int, phase: str) -> tuple[Cell, ...]:
        """The cells of one variant of a backend in one phase, refusals included."""
        key = (name, number, phase)
        if key not in self._joined:
            backend = self.document.backends[name]
            variant = backend.variants[number]
            self._joined[key] = tuple(variant_cells(self.document, backend, variant, phase))
        return self._joined[key]

    @cached_property
    def cells(self) -> dict[str, tuple[Cell, ...]]:
        """Each backend's cells, decode before prefill and refusals last."""
        return {name: self._backend_cells(name) for name in self.document.backends}

    def _backend_cells(self, name: str) -> tuple[Cell, ...]:
        cells = [
            self._with_evidence(cell, variant)
            for phase in PHASES
            for number, variant in enumerate(self.document.backends[name].variants)
            for cell in self.variant_cells(name, number, phase)
        ]
        return tuple(sorted(cells, key=lambda cell: cell.refuses is not None))

    def _with_evidence(self, cell: Cell, variant: Variant) -> Cell:
        evidence = cell_evidence(self, cell, variant)
        return changed(cell, evidence=evidence) if evidence else cell

    @cached_property
    def rows(self) -> dict[str, list[dict[str, Any]]]:
        """Each kernel's rows as generated."""
        return {
            name: [{k: plain(v) for k, v in dict(row).items()} for row in kernel.rows]
            for name, kernel in self.document.kernels.items()
        }

    @cached_property
    def exceptions(self) -> dict[str, list[dict[str, Any]]]:
        """Each kernel's exceptions as generated: the axes that they name, reason and sources."""
        return {
            name: [
                {k: plain(v) for k, v in dict(exception).items() if v is not None}
                for exception in kernel.exceptions
            ]
            for name, kernel in self.document.kernels.items()
        }

    @cached_property
    def probed(self) -> list[Probed]:
        """Each kernel's records in each evidence file, held against its rows."""
        return list(hold(self.files, self.rows, self.exceptions))

    @cached_property
    def right(self) -> Right:
        """Claimed records that came out right."""
        return right_records(self)
