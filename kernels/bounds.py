"""The debug switch: values that a kernel would read out of bounds, caught before it reads them.

Kernels trust indices and tables. With `plan(debug=True)`, or ATTNMATRIX_DEBUG=1 in the environment
when a plan is made, every run looks at them first. That waits for the GPU and cannot be captured
in a graph, so it is off unless asked for.
"""

from __future__ import annotations

import os

import torch
from torch import Tensor

from .errors import KernelError


def debug_wanted(debug: bool | None) -> bool:
    """The switch: as given, or as the environment says where it is None."""
    if debug is None:
        return os.environ.get("ATTNMATRIX_DEBUG", "") not in ("", "0")
    return debug


def require_slots(
    field: str, indices: Tensor | None, slots: int, length: Tensor | None = None
) -> None:
    """Refuse an index that counts and is neither -1 nor below `slots`.

    length: how many leading indices of each row of the batch count; None: all.
    """
    if indices is None:
        return
    outside = (indices < -1) | (indices >= slots)
    if length is not None:
        width = indices.shape[-1]
        if bool(((length < 0) | (length > width)).any()):
            raise KernelError(f"{field}'s length", length.tolist(), f"0 to {width}")
        places = torch.arange(width, device=indices.device)
        rows = length.view(-1, *[1] * (indices.dim() - 1))
        outside &= places < rows
    if bool(outside.any()):
        value = int(indices[outside][0])
        raise KernelError(field, value, f"0 to {slots - 1}, which the cache has, or -1 for none")


def require_tables(
    block_table: Tensor, cache_seqlens: Tensor, pages: int, page_size: int, least: int = 0
) -> None:
    """Refuse a sequence longer than its table, and a page past the cache in a table's used part.

    least: the shortest sequence that the kernel takes.
    """
    blocks = block_table.shape[1]
    if bool(((cache_seqlens < least) | (cache_seqlens > blocks * page_size)).any()):
        accepted = f"{least} to {blocks * page_size}, block_table's tokens"
        raise KernelError("cache_seqlens", cache_seqlens.tolist(), accepted, "widen block_table")
    needed = -(-cache_seqlens // page_size)
    used = block_table[torch.arange(blocks, device=block_table.device) < needed[:, None]]
    outside = used[(used < 0) | (used >= pages)]
    if outside.numel():
        raise KernelError("block_table", int(outside[0]), f"0 to {pages - 1}, the cache's pages")
