"""Page tables as FlashInfer takes them: one sequence after another, without gaps (CSR)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from .checks import require_tensor
from .errors import KernelError


class Table(NamedTuple):
    """Page numbers one sequence after another, as FlashInfer takes them (CSR)."""

    q_starts: Tensor
    page_starts: Tensor
    pages: Tensor
    lengths: Tensor
    positions: Tensor | None
    """Where in flattened indices the pages stand; None: everywhere."""


def dense_table(
    device: torch.device,
    shape: torch.Size,
    page_size: int,
    block_table: Tensor | None,
    cache_seqlens: Tensor | None,
) -> Table:
    """From int32 [batch, blocks] and lengths [batch], for `shape`: batch, q_len, heads."""
    batch, q_len, _ = shape
    blocks = block_table.shape[-1] if isinstance(block_table, Tensor) else None
    names = (("batch", batch), ("blocks", blocks))
    table = require_tensor("block_table", block_table, (torch.int32,), names, device)
    lengths = require_tensor(
        "cache_seqlens", cache_seqlens, (torch.int32,), (("batch", batch),), device
    )
    needed = (lengths + page_size - 1) // page_size
    if bool((needed > table.shape[1]).any()):
        accepted = f"up to {table.shape[1] * page_size}, block_table's tokens"
        raise KernelError("cache_seqlens", int(lengths.max()), accepted, "widen block_table")
    used = torch.arange(table.shape[1], device=device) < needed[:, None]
    q_starts = torch.arange(batch + 1, dtype=torch.int32, device=device) * q_len
    return Table(q_starts, _starts(needed), table[used], lengths.contiguous(), None)


def sparse_table(
    device: torch.device,
    shape: torch.Size,
    topk: int,
    indices: Tensor | None,
    topk_length: Tensor | None,
) -> Table:
    """Each query token as a sequence of its own, whose pages of one token are its indices."""
    batch, q_len, _ = shape
    names = (("batch", batch), ("q_len", q_len), ("topk", topk))
    flat = require_tensor("indices", indices, (torch.int32,), names, device).reshape(-1)
    tokens = batch * q_len
    lengths = torch.full((tokens,), topk, dtype=torch.int32, device=device)
    positions = None
    pages = flat.clone()
    if topk_length is not None:
        given = (("batch", batch),)
        length = require_tensor("topk_length", topk_length, (torch.int32,), given, device)
        lengths = length.repeat_interleave(q_len)
        if bool(((lengths < 0) | (lengths > topk)).any()):
            raise KernelError("topk_length", length.tolist(), f"0 to {topk}")
        used = torch.arange(topk, device=device) < lengths[:, None]
        positions = used.view(-1).nonzero().view(-1)
        pages = flat[positions]
    q_starts = torch.arange(tokens + 1, dtype=torch.int32, device=device)
    return Table(q_starts, _starts(lengths), pages, lengths, positions)


def _starts(counts: Tensor) -> Tensor:
    starts = counts.new_zeros(counts.shape[0] + 1)
    torch.cumsum(counts, 0, dtype=torch.int32, out=starts[1:])
    return starts
