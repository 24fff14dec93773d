"""Attributes of the matrix as plain JSON data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attnmatrix.intset import IntSet
from attnmatrix.verified import Verified


def plain(value: Any) -> Any:
    """Plain JSON data for an attribute of the matrix."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, IntSet):
        return [
            *value.values,
            *({"multiple_of": m.base, "min": m.first, "max": m.maximum} for m in value.multiples),
        ]
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, Verified):
        return value.to_json()
    if hasattr(value, "__slots__"):
        if hasattr(value, "text"):
            return value.text
        return {name: plain(getattr(value, name)) for name in value.__slots__}
    return value
