"""What a problem's answer is, in float64: ReferenceDecode on the same bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from attnmatrix.kernels.reference import ReferenceDecode

if TYPE_CHECKING:
    from .inputs import Problem


def answer(problem: Problem) -> tuple[Tensor, Tensor] | None:
    """out [batch, q_len, heads, value_size] in float64, and lse float32 [batch, heads, q_len].

    Where a query is wider or narrower than the records, elements that one of them lacks are 0. None
    where the problem means nothing: two pools whose records differ in width.
    """
    width = problem.pool.fmt.head_size
    if problem.extra is not None and problem.extra.fmt.head_size != width:
        return None
    more = width - problem.case.head_size  # a negative number cuts
    q = torch.nn.functional.pad(problem.q.double(), (0, more))
    return run_reference(problem, q, torch.float64)


def run_reference(problem: Problem, q: Tensor, compute: torch.dtype) -> tuple[Tensor, Tensor]:
    """The reference kernel's out and lse for queries like the problem's. Raises KernelError."""
    pool, extra = problem.pool, problem.extra
    decode = ReferenceDecode()
    decode.plan(
        kv_format=pool.fmt,
        page_size=pool.page_size,
        query_heads=problem.case.query_heads,
        head_size=q.shape[-1],
        value_size=problem.value_size,
        topk=None if problem.indices is None else problem.indices.shape[2],
        extra_kv_format=None if extra is None else extra.fmt,
        extra_page_size=None if extra is None else extra.page_size,
        causal=problem.causal,
        softmax_scale=problem.score_scale,
        compute_dtype=compute,
    )
    scales = [p.tensor_scale for p in (pool, extra) if p is not None and p.tensor_scale is not None]
    return decode.run(
        q,
        pool.cache,
        indices=problem.indices,
        topk_length=problem.topk_length,
        block_table=problem.block_table,
        cache_seqlens=problem.cache_seqlens,
        attn_sink=problem.sink,
        extra_kv_cache=None if extra is None else extra.cache,
        extra_indices=problem.extra_indices,
        extra_topk_length=problem.extra_topk_length,
        tensor_scale=scales[0] if scales else None,
    )
