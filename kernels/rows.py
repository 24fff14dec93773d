"""The matrix's rows of a kernel, asked before the kernel is: what it takes, or why it does not.

An adapter asks here when it plans. So a call that a library would refuse late, answer with garbage
or end the process for is refused by the row that says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

from attnmatrix.rows import NO_GPU, Call, judge, load_rows
from attnmatrix.rows import query_heads_taken as heads_taken

from .errors import KernelError

if TYPE_CHECKING:
    from attnmatrix.intset import IntSet

__all__ = ["Call", "Row", "capability_of", "find_row", "query_heads_taken"]


class Row(NamedTuple):
    """The row in force: the features it has, and its notes."""

    features: frozenset[str]
    notes: tuple[str, ...]


def capability_of(device: torch.device) -> tuple[int, int]:
    """The compute capability of a device; NO_GPU if it is none."""
    return torch.cuda.get_device_capability(device) if device.type == "cuda" else NO_GPU


def query_heads_taken(kernel: str, call: Call) -> IntSet:
    """The head counts of the rows that take the call in every other respect."""
    return heads_taken(load_rows(kernel), call)


def find_row(kernel: str, call: Call, *, untested: bool = False) -> Row:
    """The row that takes the call. With `untested`, what nobody has established is taken too.

    Raises KernelError: the first field that fails in the nearest row, and the others behind it.
    """
    rows = load_rows(kernel)
    standing = judge(rows, call, untested=untested)
    if standing.row is not None:
        row = rows[standing.row]
        return Row(frozenset(row["features"]["known"]), tuple(row["notes"]))
    if not standing.nearest:
        raise KernelError("kernel", kernel, "another kernel", standing.refusal)
    (field, value, accepted), *others = standing.nearest
    others_fail = (f"{name} is {given}, not {taken}" for name, given, taken in others)
    fix = standing.refusal or "; ".join(others_fail)
    raise KernelError(field, value, f"{accepted}, by {kernel}'s rows", fix)
