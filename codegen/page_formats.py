"""The pages of KV formats: bytes of a token and a page, drawn, and where the format runs."""

from __future__ import annotations

from typing import Any

from . import layout
from .answers import STATES, Answers, columns, shown_state
from .links import source_link
from .matrix import Matrix
from .runtime import kv_format


def format_page(matrix: Matrix, name: str, answers: dict[str, Answers]) -> dict[str, Any]:
    """What the page of one KV format shows."""
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
