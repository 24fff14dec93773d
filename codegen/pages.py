"""What each docs page shows. Every support cell is a verdict, asked of the runtime's function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attnmatrix.backend import Backend, MultipleOf
from attnmatrix.cell import Cell
from attnmatrix.intset import IntSet, Multiples
from attnmatrix.request import Request
from attnmatrix.verdict import judge
from attnmatrix.verified import Verified

from . import text
from .answers import STATES, Answers, columns, shown_state
from .axes import Features
from .case_schema import KernelException
from .changes import changes
from .history import history
from .library_words import library_words
from .links import source_link
from .matrix import Matrix
from .page_evidence import (
    evidence_page,
    evidence_words,
    hazards_page,
    kernel_evidence,
    told_findings,
)
from .page_findings import findings_page
from .page_formats import format_page
from .page_gpus import DEVICE_TITLES, gpu_page
from .page_reasons import reason_page
from .problems import CODES
from .reason_texts import ABOUT
from .schema import Document, LibraryError

Page = tuple[str, dict[str, Any]]


def pages(
    matrix: Matrix,
    answers: dict[str, Answers],
    verified: Mapping[str, Sequence[tuple[Verified, ...]]],
) -> dict[str, Page]:
    """Template and context of every page, by its path under docs/reference.

    verified: what probes have verified of each kernel's rows.
    """
    document = matrix.document
    backends = {name: answered.backend for name, answered in answers.items()}
    shown = columns(document)
    errors = [_error(document, error) for error in document.errors]
    words = library_words(
        (record for file in matrix.files for record in file.evidence.records), document.errors
    )
    hazards, excepted = told_findings(matrix, "hazard"), told_findings(matrix, "excepted")
    lists = {
        "backends": ("Backends", {n: entry.summary for n, entry in document.backends.items()}),
        "kernels": ("Kernels", {n: entry.title for n, entry in document.kernels.items()}),
        "kv-formats": ("KV formats", {n: entry.title for n, entry in document.kv_formats.items()}),
        "reasons": ("Reasons", {field: about.title for field, about in ABOUT.items()}),
    }
    found: dict[str, Page] = {
        f"{folder}/index.md": ("list.md.j2", {"title": title, "entries": entries, "kind": folder})
        for folder, (title, entries) in lists.items()
    }
    rows = [_matrix_row(answered) for answered in answers.values()]
    found["index.md"] = ("index.md.j2", {})
    devices = {name: title for name, title in DEVICE_TITLES.items() if name in shown}
    found["matrix.md"] = (
        "matrix.md.j2",
        {"columns": shown, "rows": rows, "states": STATES, "devices": devices},
    )
    found["models.md"] = ("models.md.j2", {"models": document.models})
    found["evidence.md"] = ("evidence.md.j2", evidence_page(matrix))
    found["hazards.md"] = ("hazards.md.j2", hazards_page(matrix, hazards))
    found["findings.md"] = ("findings.md.j2", findings_page(matrix))
    found["errors.md"] = ("errors.md.j2", {"codes": CODES})
    states = {name: answered.states for name, answered in answers.items()}
    found["changes.md"] = (
        "changes.md.j2",
        {
            "changes": changes(matrix.releases, states),
            "recorded": matrix.releases[0].version.text if matrix.releases else None,
        },
    )
    found["gpus/index.md"] = (
        "gpus.md.j2",
        {"gpus": document.gpus, "columns": shown, "devices": devices},
    )
    for column in shown:
        found[f"gpus/{column}.md"] = ("gpu.md.j2", gpu_page(document, column, answers))
    for field in ABOUT:
        context = reason_page(field, backends, errors)
        found[f"reasons/{field}.md"] = ("reason.md.j2", context)
    for name, answered in answers.items():
        found[f"backends/{name}.md"] = ("backend.md.j2", _backend_page(matrix, answered))
    for name in document.kv_formats:
        found[f"kv-formats/{name}.md"] = ("kv_format.md.j2", format_page(matrix, name, answers))
    for name in document.kernels:
        context = _kernel_page(matrix, name, backends, verified[name])
        context["probed"] = kernel_evidence(matrix, name, hazards, excepted)
        context["words"] = words.get(name, [])
        found[f"kernels/{name}.md"] = ("kernel.md.j2", context)
    return found


def _error(document: Document, error: LibraryError) -> dict[str, Any]:
    """A library's words, with links to who says them and where that can be read."""
    by = f"`{error.by}`"
    for folder, entries in (("kernels", document.kernels), ("backends", document.backends)):
        if error.by in entries:
            by = f"[{by}](../{folder}/{error.by}.md)"
    return {
        "says": error.says,
        "field": error.field,
        "means": error.means,
        "by": by,
        "sources": ", ".join(source_link(source) for source in error.sources),
    }


def _matrix_row(answered: Answers) -> dict[str, Any]:
    backend = answered.backend
    return {
        "name": backend.name,
        "kind": _kind(backend),
        "dtypes": _codes(backend.supported_dtypes),
        "head_sizes": ", ".join(map(str, backend.head_sizes)) or "any",
        "block_sizes": _block_sizes(backend),
        "sink": "yes" if judge(backend, Request(sink=True)) else "no",
        "cells": list(answered.summaries.values()),
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


def _backend_page(matrix: Matrix, answered: Answers) -> dict[str, Any]:
    backend = answered.backend
    refusals: dict[tuple[str, str, str], None] = {}
    for spelling, reasons in answered.refused():
        for field, message in reasons:
            if field != "compute_capability":
                refusals[(spelling, field, message)] = None
    rows = [
        {
            "spelling": spelling,
            "cells": [shown_state(word) for word in row.values()],
            "formats": _codes(
                dict.fromkeys(
                    cell.kv_format
                    for cell in backend.cells
                    if spelling in cell.spellings and cell.kv_format
                )
            ),
        }
        for spelling, row in answered.states.items()
    ]
    engines = matrix.document.backends[backend.name].engines
    claims: list[tuple[Mapping[str, str], str]] = [(engines, "the backend")] if engines else []
    claims += [(cell.versions, _claim(cell)) for cell in backend.cells if cell.versions]
    return {
        "backend": backend,
        "kind": _kind(backend),
        "block_sizes": _block_sizes(backend),
        "columns": answered.columns,
        "rows": rows,
        "refusals": list(refusals),
        "cells": [_cell_row(cell) for cell in backend.cells],
        "known_failures": [_cell_row(cell) for cell in backend.refusals],
        "kernels": list(dict.fromkeys(c.kernel for c in backend.cells if c.kernel)),
        "kv_formats": list(dict.fromkeys(c.kv_format for c in backend.cells if c.kv_format)),
        "events": history(claims),
        "sources": [source_link(s) for s in backend.sources],
    }


def _claim(cell: Cell) -> str:
    """What a cell claims, in few words: `ds_mla_v4 on 9.0, 10.x (decode)`."""
    what = cell.kv_format or ", ".join(cell.spellings)
    return f"{what} on {_capabilities(cell)} ({cell.phase})"


def _capabilities(cell: Cell) -> str:
    less = f" less {', '.join(cell.except_capability)}" if cell.except_capability else ""
    return ", ".join(cell.compute_capability) + less


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
        "capability": _capabilities(cell),
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
        "evidence": evidence_words(cell.evidence),
        "refuses": cell.refuses,
    }


def _kernel_page(
    matrix: Matrix,
    name: str,
    backends: dict[str, type[Backend]],
    verified: Sequence[tuple[Verified, ...]],
) -> dict[str, Any]:
    kernel = matrix.document.kernels[name]
    rows = []
    for row, words in zip(kernel.rows, verified, strict=True):
        features: Features = row.features
        rows.append(
            {
                "capability": ", ".join(p.text for p in row.compute_capability),
                "formats": _axis(row.kv_formats)
                if isinstance(row.kv_formats, str)
                else ", ".join(row.kv_formats),
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
                "evidence": evidence_words(words),
                "refuses": row.refuses,
                "notes": row.notes,
                "sources": [source_link(s) for s in row.sources],
            }
        )
    users = [b.name for b in backends.values() if any(c.kernel == name for c in b.cells)]
    claims = [
        (row.versions, f"{shown['formats']} on {shown['capability']}")
        for row, shown in zip(kernel.rows, rows, strict=True)
        if not row.refuses
    ]
    return {
        "name": name,
        "kernel": kernel,
        "rows": rows,
        "users": users,
        "events": history(claims),
        "errors": [error for error in matrix.document.errors if error.by == name],
        "exceptions": [_exception(exception) for exception in kernel.exceptions],
    }


def _exception(exception: KernelException) -> dict[str, Any]:
    return {
        "reason": exception.reason,
        "where": exception.where,
        "sources": [source_link(source) for source in exception.sources],
    }


def _format_links(formats: tuple[str, ...] | str) -> str:
    if isinstance(formats, str):
        return formats
    return ", ".join(f"[{text.markdown(f)}](../kv-formats/{f}.md)" for f in formats)


def _axis(value: IntSet | str) -> str:
    return str(value)
