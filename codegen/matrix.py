"""The matrix: a document with the cells that follow from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from attnmatrix.cell import Cell

from .changes import Snapshot
from .join import variant_cells
from .schema import Document
from .source import Source

PHASES = ("decode", "prefill")


@dataclass(frozen=True)
class Matrix:
    """Everything that is rendered. Made by `load`, so that it has passed every check."""

    source: Source
    document: Document
    releases: tuple[Snapshot, ...] = ()
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
            cell
            for phase in PHASES
            for number in range(len(self.document.backends[name].variants))
            for cell in self.variant_cells(name, number, phase)
        ]
        return tuple(sorted(cells, key=lambda cell: cell.refuses is not None))
