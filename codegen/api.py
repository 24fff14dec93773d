"""The summaries that the site serves as data beside each entry's own file: `/api/v1/` is
generated/data/."""

from __future__ import annotations

from typing import Any

from .answers import STATES, Answers
from .api_schema import SCHEMA
from .matrix import Matrix
from .reason_texts import ABOUT


def summaries(matrix: Matrix, answers: dict[str, Answers]) -> dict[str, dict[str, Any]]:
    """The content of each summary, by its path under generated/data."""
    document = matrix.document
    return {
        "index.json": {
            "backends": list(document.backends),
            "kernels": list(document.kernels),
            "kv_formats": list(document.kv_formats),
            "gpus": list(document.gpus),
            "reasons": list(ABOUT),
        },
        "matrix.json": {
            "states": STATES,
            "backends": {name: answered.states for name, answered in answers.items()},
        },
        "reasons.json": {
            "reasons": {
                field: {"title": about.title, "means": about.means, "cures": list(about.cures)}
                for field, about in ABOUT.items()
            },
            "errors": [error.model_dump() for error in document.errors],
        },
        "schema.json": SCHEMA,
    }
