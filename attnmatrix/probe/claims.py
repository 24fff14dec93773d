"""What a matrix says of a kernel: its rows and exceptions, as generated."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, NamedTuple

from ..libraries import BUILT_IN


class Claims(NamedTuple):
    """A kernel's rows and exceptions, and the library that it is of."""

    kernel: str
    library: str
    rows: list[dict[str, Any]]
    exceptions: list[dict[str, Any]]


def load_claims(kernel: str, matrix: str = BUILT_IN) -> Claims:
    """The claims on a kernel in a matrix's generated package.

    Raises FileNotFoundError if it has no such kernel.
    """
    file = files(matrix) / "data" / "kernels" / f"{kernel}.json"
    data = json.loads(file.read_text(encoding="utf-8"))
    return Claims(kernel, data["library"], data["rows"], data.get("exceptions", []))
