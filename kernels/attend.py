"""Attention over pools of KV rows, in steps of bounded memory: what the reference kernel runs.

Everything here takes arguments that its caller has checked, except slots: those are checked where
they are read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from .errors import KernelError
from .kv_cache import gather
from .softmax import RunningSoftmax

if TYPE_CHECKING:
    from collections.abc import Iterator

    from attnmatrix.kv_format import KVFormat

CHUNK_BYTES = 1 << 28
"""About what one step may take for unpacked rows and scores."""


class Query(NamedTuple):
    """q [rows, heads, head_size], in the dtype to compute in, a row for each query token."""

    q: Tensor
    value_size: int
    softmax_scale: float
    sink: Tensor | None

    def start(self, rows: slice) -> RunningSoftmax:
        """A softmax in which each of these rows is a group with keys of its own."""
        return RunningSoftmax(self.q[rows], self.value_size, self.softmax_scale)

    def key_bytes(self, queries: int) -> int:
        """What a key and `queries` scores of it take: about three copies live at once."""
        return 3 * self.q.element_size() * (self.q.shape[2] + queries)


class Pool(NamedTuple):
    """A cache, how to read it, and the prefix that its arguments' names carry."""

    fmt: KVFormat
    page_size: int
    cache: Tensor
    tensor_scale: float | Tensor | None
    prefix: str = ""

    def read(self, slots: Tensor, dtype: torch.dtype) -> Tensor:
        """KV rows [*slots.shape, head_size]."""
        return gather(
            self.fmt,
            self.cache,
            slots,
            page_size=self.page_size,
            dtype=dtype,
            tensor_scale=self.tensor_scale,
        )


class Selection(NamedTuple):
    """Slots [rows, keys] of a pool, and which of them count, bool [rows, keys]."""

    pool: Pool
    slots: Tensor
    valid: Tensor

    @classmethod
    def of(cls, pool: Pool, indices: Tensor, length: Tensor | None) -> Selection:
        """From int32 [batch, q_len, keys] and the keys that count, int32 [batch].

        Raises KernelError if an index that counts lies past the cache's end.
        """
        keys = indices.shape[2]
        indices = indices.long()  # the number of slots may be more than int32 holds
        valid = indices >= 0
        if length is not None:
            valid &= torch.arange(keys, device=indices.device) < length[:, None, None]
        count = pool.cache.shape[0] * pool.page_size
        outside = indices[valid & (indices >= count)]
        if outside.numel():
            accepted = f"slots below {count}, which the cache has, or negative for none"
            raise KernelError(f"{pool.prefix}indices", int(outside[0]), accepted)
        return cls(pool, indices.flatten(0, 1), valid.flatten(0, 1))

    def read(self, rows: slice, keys: slice, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """KV rows [rows, keys, head_size], and which count. The others are 0, and never read."""
        valid = self.valid[rows, keys]
        kv = torch.zeros(*valid.shape, self.pool.fmt.head_size, dtype=dtype, device=valid.device)
        kv[valid] = self.pool.read(self.slots[rows, keys][valid], dtype)
        return kv, valid


def sparse(
    query: Query, selections: list[Selection]
) -> Iterator[tuple[slice, tuple[Tensor, Tensor]]]:
    """Outputs [rows, heads, value_size] and LSE [rows, heads], some rows at a time."""
    rows, heads, _ = query.q.shape
    key_bytes = query.key_bytes(heads)
    most = max(selection.slots.shape[1] for selection in selections)
    row_step = max(1, CHUNK_BYTES // (key_bytes * most))
    key_step = max(1, CHUNK_BYTES // (key_bytes * row_step))
    for chunk in _slices(rows, row_step):
        softmax = query.start(chunk)
        for selection in selections:
            for keys in _slices(selection.slots.shape[1], key_step):
                kv, valid = selection.read(chunk, keys, query.q.dtype)
                softmax.add(kv, valid.unsqueeze(1))
        yield chunk, softmax.finish(query.sink)


def dense(
    query: Query, pool: Pool, block_table: Tensor, lengths: list[int], causal: bool
) -> Iterator[tuple[slice, tuple[Tensor, Tensor]]]:
    """Outputs and LSE as from `sparse`, one sequence at a time; its q_len rows share their keys.

    block_table: int32 [batch, blocks]; lengths: tokens of each sequence.
    """
    if not lengths:
        return
    rows, heads, head_size = query.q.shape
    q_len = rows // len(lengths)
    key_step = max(1, CHUNK_BYTES // query.key_bytes(q_len * heads))
    row = torch.arange(q_len, device=query.q.device).repeat_interleave(heads)[:, None]
    sink = None if query.sink is None else query.sink.repeat(q_len)
    for sequence, length in enumerate(lengths):
        chunk = slice(sequence * q_len, (sequence + 1) * q_len)
        shared = query.q[chunk].reshape(1, q_len * heads, head_size)
        softmax = RunningSoftmax(shared, query.value_size, query.softmax_scale)
        last_visible = length - q_len + row if causal else torch.full_like(row, length)
        for keys in _slices(length, key_step):
            position = torch.arange(keys.start, keys.stop, device=row.device)
            page = block_table[sequence, position // pool.page_size].long()
            slots = page * pool.page_size + position % pool.page_size
            softmax.add(pool.read(slots, shared.dtype)[None], (position <= last_visible)[None])
        outputs, lse = softmax.finish(sink)
        yield chunk, (outputs.view(q_len, heads, query.value_size), lse.view(q_len, heads))


def _slices(count: int, step: int) -> Iterator[slice]:
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))
