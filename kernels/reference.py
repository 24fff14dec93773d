"""The REFERENCE backend's kernel: decode attention over a paged KV cache, in torch, on any device.

It computes what FlashMLA's decode calls define, from the definition: KV rows are unpacked to
`compute_dtype`, scores, softmax and sums are done in it, and only the result is rounded. It is for
comparing against, not for speed: `run` checks indices on the host, and so waits for a GPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from attnmatrix.kv_format import PER_TENSOR

from .checks import require_absent, require_finite, require_int, require_tensor
from .errors import KernelError
from .kv_cache import gather, require_cache
from .records import FLOATS
from .softmax import RunningSoftmax

if TYPE_CHECKING:
    from collections.abc import Iterator

    from attnmatrix.kv_format import KVFormat

CHUNK_BYTES = 1 << 28
"""About what a step of `run` may take for unpacked rows and scores."""


class _Plan(NamedTuple):
    kv_format: KVFormat
    page_size: int
    query_heads: int
    head_size: int
    value_size: int
    topk: int | None
    extra_kv_format: KVFormat | None
    extra_page_size: int
    causal: bool
    softmax_scale: float
    compute_dtype: torch.dtype


class _Pool(NamedTuple):
    """A cache, how it is read, and the prefix that its arguments' names carry."""

    fmt: KVFormat
    page_size: int
    cache: Tensor
    tensor_scale: float | Tensor | None
    prefix: str = ""

    @property
    def slot_count(self) -> int:
        return self.cache.shape[0] * self.page_size

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

    def read_valid(self, slots: Tensor, valid: Tensor, dtype: torch.dtype) -> Tensor:
        """KV rows of valid slots, and 0 for the others, whose slots are not looked at."""
        kv = slots.new_zeros(*slots.shape, self.fmt.head_size, dtype=dtype)
        kv[valid] = self.read(slots[valid], dtype)
        return kv


class ReferenceDecode:
    """Decode attention: `plan` says what is computed, `run` computes it."""

    def __init__(self) -> None:
        self._plan: _Plan | None = None

    def plan(
        self,
        *,
        kv_format: KVFormat,
        page_size: int,
        query_heads: int,
        head_size: int,
        value_size: int,
        topk: int | None = None,
        extra_kv_format: KVFormat | None = None,
        extra_page_size: int | None = None,
        causal: bool = False,
        softmax_scale: float | None = None,
        compute_dtype: torch.dtype = torch.float32,
    ) -> None:
        """Fix what the runs to come have in common.

        topk: how many slots each query selects, or None for dense attention over whole sequences.
        extra_kv_format, extra_page_size: a second cache whose selected tokens join the same
        softmax; sparse only. causal: dense only, as in FlashMLA. softmax_scale: None is
        head_size**-0.5. compute_dtype: float32 or float64. Raises KernelError.
        """
        require_int("page_size", page_size)
        require_int("query_heads", query_heads)
        _require_head_size(head_size, kv_format)
        if require_int("value_size", value_size) > head_size:
            raise KernelError("value_size", value_size, f"at most head_size, {head_size}")
        if topk is not None:
            require_int("topk", topk)
            if causal:
                raise KernelError("causal", causal, "False with topk", "select visible slots only")
        if extra_kv_format is None:
            require_absent(extra_page_size=extra_page_size)
        else:
            if topk is None:
                raise KernelError("extra_kv_format", extra_kv_format.name, "None without topk")
            _require_head_size(head_size, extra_kv_format)
            require_int("extra_page_size", extra_page_size)
        if compute_dtype not in (torch.float32, torch.float64):
            raise KernelError("compute_dtype", compute_dtype, (torch.float32, torch.float64))
        scale = head_size**-0.5 if softmax_scale is None else softmax_scale
        self._plan = _Plan(
            kv_format,
            page_size,
            query_heads,
            head_size,
            value_size,
            topk,
            extra_kv_format,
            extra_page_size or 0,
            causal,
            require_finite("softmax_scale", scale),
            compute_dtype,
        )

    def run(
        self,
        q: Tensor,
        kv_cache: Tensor,
        *,
        indices: Tensor | None = None,
        topk_length: Tensor | None = None,
        block_table: Tensor | None = None,
        cache_seqlens: Tensor | None = None,
        attn_sink: Tensor | None = None,
        extra_kv_cache: Tensor | None = None,
        extra_indices: Tensor | None = None,
        extra_topk_length: Tensor | None = None,
        tensor_scale: float | Tensor | None = None,
        out: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Attention of q [batch, q_len, query_heads, head_size], floating, over the cache.

        kv_cache, extra_kv_cache: uint8 [num_pages, page_bytes], pages of any stride.
        Sparse: indices int32 [batch, q_len, topk], slots (page * page_size + place); negative ones
        are invalid, and so are those at or past topk_length, int32 [batch]; a slot named twice
        counts twice. extra_indices int32 [batch, q_len, any] and extra_topk_length likewise, for
        the extra cache. Dense: block_table int32 [batch, blocks], pages in order, and cache_seqlens
        int32 [batch], in tokens; with causal, query i of q_len sees the keys up to
        cache_seqlens - q_len + i, itself included.
        attn_sink: float32 [query_heads], a logit that joins the denominator of the softmax only.
        tensor_scale: of per-tensor formats; None is 1.

        Returns out [batch, q_len, query_heads, value_size] in q's dtype (`out`, if given) and lse
        float32 [batch, query_heads, q_len], the natural logarithm of the sum without the sink. A
        row without valid keys gives out 0 and lse +inf, as FlashMLA does. Raises KernelError.
        """
        plan = self._plan
        if plan is None:
            raise KernelError("plan", None, "a plan before the first run", "call plan(...) first")
        heads, device = plan.query_heads, q.device
        shape = (("batch", None), ("q_len", None), ("heads", heads), ("head_size", plan.head_size))
        require_tensor("q", q, FLOATS, shape)
        batch, q_len = q.shape[:2]
        sink = None
        if attn_sink is not None:
            sink = _tensor("attn_sink", attn_sink, torch.float32, device, heads=heads)
        if out is None:
            out = q.new_empty(batch, q_len, heads, plan.value_size)
        sizes = {"batch": batch, "q_len": q_len, "heads": heads, "value_size": plan.value_size}
        _tensor("out", out, q.dtype, device, **sizes)
        pools = _pools(plan, device, kv_cache, extra_kv_cache, tensor_scale)
        selected = (indices, extra_indices), (topk_length, extra_topk_length)
        if plan.topk is None:
            require_absent(indices=indices, topk_length=topk_length)
            require_absent(extra_indices=extra_indices, extra_topk_length=extra_topk_length)
            results = _dense(plan, q, pools[0], block_table, cache_seqlens, sink)
        else:
            require_absent(block_table=block_table, cache_seqlens=cache_seqlens)
            if plan.extra_kv_format is None:
                require_absent(extra_indices=extra_indices, extra_topk_length=extra_topk_length)
            results = _sparse(plan, q, pools, *selected, sink)
        lse = torch.empty(batch * q_len, heads, dtype=torch.float32, device=device)
        flat = torch.empty(batch * q_len, heads, plan.value_size, dtype=q.dtype, device=device)
        for rows, outputs, lses in results:
            flat[rows], lse[rows] = outputs, lses
        out.copy_(flat.view_as(out))
        return out, lse.view(batch, q_len, heads).mT.contiguous()


_Results = "Iterator[tuple[slice, Tensor, Tensor]]"
