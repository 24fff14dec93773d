"""What each docs page shows. Every support cell is a verdict, asked of the runtime's function."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from attnmatrix.backend import Backend, MultipleOf
from attnmatrix.capability import format_capability, parse_capability
from attnmatrix.cell import Cell
from attnmatrix.intset import IntSet, Multiples
from attnmatrix.request import Request
from attnmatrix.verdict import Verdict, judge

from . import text
from .axes import Features
from .matrix import Matrix
from .problems import CODES
from .runtime import kv_format

Page = tuple[str, dict[str, Any]]
Grid = dict[str, dict[str, Verdict]]

_MANY = 8
_COLUMNS = ("8.0", "9.0", "10.0", "12.0")
"""Compute capabilities that a matrix shows which names no GPU."""

VERDICT_WORDS = {"supported": "yes", "unsupported": "no", "unknown": "unknown"}


def pages(matrix: Matrix, backends: dict[str, type[Backend]]) -> dict[str, Page]:
    """Template and context of every page, by its path under docs/reference."""
    listed = matrix.document.gpus.values() or _COLUMNS
    columns = [format_capability(c) for c in sorted({parse_capability(c) for c in listed})]
    document = matrix.document
    rows: list[dict[str, Any]] = []
    found: dict[str, Page] = {
        "index.md": (
            "index.md.j2",
            {
                "backends": {name: entry.summary for name, entry in document.backends.items()},
                "kernels": {name: entry.title for name, entry in document.kernels.items()},
                "kv_formats": {name: entry.title for name, entry in document.kv_formats.items()},
            },
        ),
        "matrix.md": ("matrix.md.j2", {"columns": columns, "rows": rows}),
        "gpus.md": ("gpus.md.j2", {"gpus": matrix.document.gpus}),
        "errors.md": ("errors.md.j2", {"codes": CODES}),
    }
    for name, backend in backends.items():
        grid = verdict_grid(backend, columns)
        rows.append(_matrix_row(backend, columns, grid))
        found[f"backends/{name}.md"] = ("backend.md.j2", _backend_page(backend, columns, grid))
    for name in matrix.document.kv_formats:
        found[f"kv-formats/{name}.md"] = ("kv_format.md.j2", _format_page(matrix, name, backends))
    for name in matrix.document.kernels:
        found[f"kernels/{name}.md"] = ("kernel.md.j2", _kernel_page(matrix, name, backends))
    return found


def verdict_grid(backend: type[Backend], columns: list[str]) -> Grid:
    """The verdict on each KV-cache dtype (rows) on each compute capability (columns)."""
    return {
        spelling: {column: judge(backend, _request(column, spelling)) for column in columns}
        for spelling in backend.supported_kv_cache_dtypes
    }


@lru_cache(maxsize=4096)
def _request(compute_capability: str, kv_cache_dtype: str) -> Request:
    return Request(compute_capability=compute_capability, kv_cache_dtype=kv_cache_dtype)


def grid_cell(grid: Grid, column: str) -> str:
    """One cell of the matrix page: the KV-cache dtypes that run, those unknown marked, or no.

    Where a long list runs whole, the cell says `all`; the backend's page lists it.
    """
    if len(grid) > _MANY and all(row[column].status == "supported" for row in grid.values()):
        return f"all {len(grid)}"
    shown = [
        text.code(spelling) + (" (unknown)" if row[column].status == "unknown" else "")
        for spelling, row in grid.items()
        if row[column].status != "unsupported"
    ]
    return ", ".join(shown) or "no"


def _matrix_row(backend: type[Backend], columns: list[str], grid: Grid) -> dict[str, Any]:
    return {
        "name": backend.name,
        "kind": _kind(backend),
        "dtypes": _codes(backend.supported_dtypes),
        "head_sizes": ", ".join(map(str, backend.head_sizes)) or "any",
        "block_sizes": _block_sizes(backend),
        "sink": "yes" if judge(backend, Request(sink=True)) else "no",
        "cells": [grid_cell(grid, column) for column in columns],
    }


def _kind(backend: type[Backend]) -> str:
    words = {True: "sparse", False: "dense", None: "dense and sparse"}
    model = {True: " MLA", False: "", None: ", MLA or not"}
    return words[backend.sparse] + model[backend.mla]


def _block_sizes(backend: type[Backend]) -> str:
    sizes = backend.kernel_block_sizes
    runs = [Multiples(size.base) for size in sizes if isinstance(size, MultipleOf)]
    return str(IntSet([size for size in sizes if isinstance(size, int)], runs))


def _codes(names: Any) -> str:
    return ", ".join(text.code(name) for name in names)


def _backend_page(backend: type[Backend], columns: list[str], grid: Grid) -> dict[str, Any]:
    refusals: dict[tuple[str, str], None] = {}
    for spelling, row in grid.items():
        for verdict in row.values():
            for reason in verdict.reasons:
                if reason.field != "compute_capability":
                    refusals[(spelling, reason.message)] = None
    rows = [
        {
            "spelling": spelling,
            "cells": [VERDICT_WORDS[row[column].status] for column in columns],
            "formats": _codes(
                dict.fromkeys(
                    cell.kv_format
                    for cell in backend.cells
                    if spelling in cell.spellings and cell.kv_format
                )
            ),
        }
        for spelling, row in grid.items()
    ]
    return {
        "backend": backend,
        "kind": _kind(backend),
        "block_sizes": _block_sizes(backend),
        "columns": columns,
        "rows": rows,
        "refusals": list(refusals),
        "cells": [_cell_row(cell) for cell in backend.cells],
        "known_failures": [_cell_row(cell) for cell in backend.refusals],
        "kernels": list(dict.fromkeys(c.kernel for c in backend.cells if c.kernel)),
        "kv_formats": list(dict.fromkeys(c.kv_format for c in backend.cells if c.kv_format)),
        "sources": [source_link(s) for s in backend.sources],
    }


def _cell_row(cell: Cell) -> dict[str, Any]:
    def axis(name: str, value: Any) -> str:
        return "unknown" if name in cell.unknown else str(value)

    heads = axis("query_heads", cell.query_heads)
    if cell.padded_to:
        heads += f", padded to {' or '.join(map(str, cell.padded_to))}"
    blocks = axis("block_sizes", cell.block_sizes)
    if cell.page_size is not None:
        blocks += f", cut into pages of {cell.page_size}"
    return {
        "phase": cell.phase,
        "capability": ", ".join(cell.compute_capability)
        + (f" less {', '.join(cell.except_capability)}" if cell.except_capability else ""),
        "spellings": cell.spellings,
        "kv_format": cell.kv_format,
        "bytes_per_token": cell.bytes_per_token,
        "dtypes": axis("dtypes", ", ".join(cell.dtypes)),
        "head_sizes": axis("head_sizes", cell.head_sizes),
        "heads": heads,
        "blocks": blocks,
        "topk": axis("topk", cell.topk),
        "features": ", ".join(cell.features) or "none",
        "unknown_features": ", ".join(cell.unknown_features),
        "versions": "; ".join(f"{k} {v}" for k, v in (cell.versions or {}).items()) or "any",
        "kernel": cell.kernel,
        "refuses": cell.refuses,
    }


def _format_page(matrix: Matrix, name: str, backends: dict[str, type[Backend]]) -> dict[str, Any]:
    entry = kv_format(matrix, name)
    parts = []
    for row, listed in (("data row", entry.data), ("scale row", entry.scales)):
        offset = 0
        for part in listed:
            parts.append({"row": row, "offset": offset, "part": part})
            offset += part.bytes
    users = {
        backend.name: tuple(
            dict.fromkeys(s for c in backend.cells if c.kv_format == name for s in c.spellings)
        )
        for backend in backends.values()
    }
    return {
        "format": entry,
        "parts": parts,
        "pages": [(size, entry.page_bytes(size)) for size in (1, 16, 32, 64, 128, 256)],
        "users": {backend: spellings for backend, spellings in users.items() if spellings},
        "sources": [source_link(s) for s in entry.sources],
    }


def _kernel_page(matrix: Matrix, name: str, backends: dict[str, type[Backend]]) -> dict[str, Any]:
    kernel = matrix.document.kernels[name]
    rows = []
    for row in kernel.rows:
        features: Features = row.features
        rows.append(
            {
                "capability": ", ".join(p.text for p in row.compute_capability),
                "kv_formats": "; extra pool: ".join(
                    _format_links(axis) for axis in (row.kv_formats, row.extra_kv_formats) if axis
                ),
                "dtypes": row.dtypes if isinstance(row.dtypes, str) else ", ".join(row.dtypes),
                "head_sizes": _axis(row.head_sizes),
                "query_heads": _axis(row.query_heads),
                "page_sizes": _axis(row.page_sizes),
                "topk": _axis(row.topk),
                "features": ", ".join(
                    [*features.known, *(f"{f} (unknown)" for f in features.unknown)]
                )
                or "none",
                "versions": "; ".join(f"{k} {v}" for k, v in row.versions.items()),
                "refuses": row.refuses,
                "notes": row.notes,
                "sources": [source_link(s) for s in row.sources],
            }
        )
    users = [b.name for b in backends.values() if any(c.kernel == name for c in b.cells)]
    return {"name": name, "kernel": kernel, "rows": rows, "users": users}


def _format_links(formats: tuple[str, ...] | str) -> str:
    if isinstance(formats, str):
        return formats
    return ", ".join(f"[{text.markdown(f)}](../kv-formats/{f}.md)" for f in formats)


def _axis(value: IntSet | str) -> str:
    return str(value)


def source_link(source: str) -> str:
    """A source as Markdown: a link where it has an address, else its words."""
    match = re.fullmatch(r"([\w.-]+/[\w.-]+)#(\d+)", source)
    if match:
        return f"[{text.markdown(source)}](https://github.com/{match[1]}/issues/{match[2]})"
    match = re.fullmatch(r"([\w.-]+/[\w.-]+)@(\w+)\s+([\w./+-]+)(?::(\d+)(?:-(\d+))?)?", source)
    if match:
        anchor = f"#L{match[4]}" if match[4] else ""
        address = f"https://github.com/{match[1]}/blob/{match[2]}/{match[3]}{anchor}"
        return f"[{text.markdown(source)}]({address})"
    if re.fullmatch(r"https?://[^\s()<>\"'\\`|*\[\]{}]+", source):
        return f"<{source}>"
    return text.code(source)
