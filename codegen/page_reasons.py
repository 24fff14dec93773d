"""The pages of reasons, one a field: what a refusal by it means, what backends take, what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attnmatrix.backend import Backend
from attnmatrix.reasons import accepted_values

from . import text
from .reason_texts import ABOUT

_AXES = {
    "dtype": "dtypes",
    "head_size": "head_sizes",
    "block_size": "block_sizes",
    "query_heads": "query_heads",
    "topk": "topk",
}
"""Fields whose answer nobody may have established, each with the axis of a cell."""


def reason_page(
    field: str, backends: Mapping[str, type[Backend]], errors: list[dict[str, Any]]
) -> dict[str, Any]:
    """What the page of one field shows."""
    return {
        "field": field,
        "about": ABOUT[field],
        "takes": {name: _taken(field, backend) for name, backend in backends.items()},
        "errors": [error for error in errors if error["field"] == field],
    }


def _taken(field: str, backend: type[Backend]) -> str:
    """What a backend takes for a field on any GPU, as Markdown."""
    if field in ("mla", "sparse"):
        return {True: "yes", False: "no", None: "both"}[getattr(backend, field)]
    if field == "sink":
        return "yes" if any("attention_sink" in cell.features for cell in backend.cells) else "no"
    cells = [cell for cell in backend.cells if cell.phase == "decode" or field == "phase"]
    axis = _AXES.get(field)
    known = [cell for cell in cells if axis not in cell.unknown]
    values = accepted_values(field, None, known)
    shown = text.markdown if axis and field != "dtype" else text.code
    words = ", ".join(map(shown, values))
    if len(known) < len(cells):
        return f"{words}; unknown on some" if words else "unknown"
    return words or ("not judged" if field in ("libraries", "engine") else "none")
