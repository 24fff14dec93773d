"""What each docs page shows. Every support cell is a verdict, asked of the runtime's function."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from attnmatrix.backend import Backend, MultipleOf
from attnmatrix.cell import Cell
from attnmatrix.intset import IntSet, Multiples
from attnmatrix.request import Request
from attnmatrix.verdict import judge

from . import layout, text
from .answers import STATES, Answers, columns, shown_state
from .axes import Features
from .history import history
from .matrix import Matrix
from .page_gpus import gpu_page
from .page_reasons import reason_page
from .problems import CODES
from .reason_texts import ABOUT
from .runtime import kv_format
from .schema import Document, LibraryError

Page = tuple[str, dict[str, Any]]


def pages(matrix: Matrix, answers: dict[str, Answers]) -> dict[str, Page]:
    """Template and context of every page, by its path under docs/reference."""
    document = matrix.document
    backends = {name: answered.backend for name, answered in answers.items()}
    shown = columns(document)
    errors = [_error(document, error) for error in document.errors]
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
    found["matrix.md"] = ("matrix.md.j2", {"columns": shown, "rows": rows, "states": STATES})
    found["errors.md"] = ("errors.md.j2", {"codes": CODES})
    found["gpus/index.md"] = ("gpus.md.j2", {"gpus": document.gpus, "columns": shown})
    for column in shown:
        found[f"gpus/{column}.md"] = ("gpu.md.j2", gpu_page(document, column, answers))
    for field in ABOUT:
        context = reason_page(field, backends, errors)
        found[f"reasons/{field}.md"] = ("reason.md.j2", context)
    for name, answered in answers.items():
        found[f"backends/{name}.md"] = ("backend.md.j2", _backend_page(matrix, answered))
    for name in document.kv_formats:
        found[f"kv-formats/{name}.md"] = ("kv_format.md.j2", _format_page(matrix, name, answers))
    for name in document.kernels:
        found[f"kernels/{name}.md"] = ("kernel.md.j2", _kernel_page(matrix, name, backends))
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


def drawings(matrix: Matrix) -> dict[str, str]:
    """The drawing of every KV format's token and page, by its path under docs/reference."""
    found = {}
    for name in matrix.document.kv_formats:
        entry = kv_format(matrix, name)
        for what, blocks, words in (
            ("token", layout.token_blocks(entry), layout.token_alternative(entry)),
            ("page", layout.page_blocks(entry), layout.page_alternative(entry)),
        ):
            found[f"kv-formats/{name}.{what}.svg"] = layout.drawing(blocks, words)
    return found


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
        "refuses": cell.refuses,
    }


def _format_page(matrix: Matrix, name: str, answers: dict[str, Answers]) -> dict[str, Any]:
    entry = kv_format(matrix, name)
    parts = []
    for row, listed in (("data row", entry.data), ("scale row", entry.scales)):
        offset = 0
        for part in listed:
            parts.append({"row": row, "offset": offset, "part": part})
            offset += part.bytes
    users = {
        backend: tuple(
            dict.fromkeys(
                s for c in answered.backend.cells if c.kv_format == name for s in c.spellings
            )
        )
        for backend, answered in answers.items()
    }
    used = {backend: spellings for backend, spellings in users.items() if spellings}
    return {
        "format": entry,
        "parts": parts,
        "drawings": {
            "token": layout.token_alternative(entry),
            "page": layout.page_alternative(entry),
        },
        "page_tokens": layout.PAGE_TOKENS,
        "pages": [(size, entry.page_bytes(size)) for size in (1, 16, 32, 64, 128, 256)],
        "users": used,
        "columns": columns(matrix.document),
        "heat": {b: _heat(answers[b], name, spellings) for b, spellings in used.items()},
        "sources": [source_link(s) for s in entry.sources],
    }


def _heat(answered: Answers, name: str, spellings: tuple[str, ...]) -> list[str]:
    """A backend with one KV format, by compute capability: the best answer to its spellings."""
    failures = any(cell.kv_format == name for cell in answered.backend.refusals)
    found = []
    for column in answered.columns:
        words = set()
        for spelling in spellings:
            word = answered.states[spelling][column]
            if word == "known issue":
                words |= {word} if failures else set()
            elif word != "no":
                cells = answered.grid[spelling][column].cells
                words |= {word} if any(cell.kv_format == name for cell in cells) else set()
        found.append(shown_state(next((word for word in STATES if word in words), "no")))
    return found


def _kernel_page(matrix: Matrix, name: str, backends: dict[str, type[Backend]]) -> dict[str, Any]:
    kernel = matrix.document.kernels[name]
    rows = []
    for row in kernel.rows:
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
    }


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
