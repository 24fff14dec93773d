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

from .attend import Pool, Query, Selection, dense, sparse
from .checks import (
    require_absent,
    require_finite,
    require_format,
    require_int,
    require_tensor,
    require_writable,
)
from .errors import KernelError
from .kv_cache import require_cache, require_page_size
from .records import FLOATS, require_tensor_scale

if TYPE_CHECKING:
    from attnmatrix.kv_format import KVFormat

_QUERIES = (*FLOATS, torch.float8_e4m3fn)
_INT64 = (1 << 63) - 1


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
        require_page_size(kv_format, page_size)
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
            require_format("extra_kv_format", extra_kv_format)
            if topk is None:
                raise KernelError("extra_kv_format", extra_kv_format.name, "None without topk")
            _require_head_size(head_size, extra_kv_format)
            require_page_size(extra_kv_format, extra_page_size, "extra_")  # type: ignore[arg-type]
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
        """Attention of q [batch, q_len, query_heads, head_size] over the cache.

        q: floating, or float8_e4m3fn, whose scale, if it has one, belongs into softmax_scale.
        kv_cache, extra_kv_cache: uint8 [num_pages, page_bytes], pages of any stride.
        Sparse: indices int32 [batch, q_len, topk], slots (page * page_size + place); negative ones
        are invalid, and so are those at or past topk_length, int32 [batch]; a slot named twice
        counts twice. extra_indices int32 [batch, q_len, any] and extra_topk_length likewise, for
        the extra cache. Dense: block_table int32 [batch, blocks], pages in order, and cache_seqlens
        int32 [batch], in tokens; with causal, query i of q_len sees the keys up to
        cache_seqlens - q_len + i, itself included.
        attn_sink: float32 [query_heads], a logit that joins the denominator of the softmax only.
        tensor_scale: of per-tensor formats; None is 1. It is above 0 and within float32's range;
        of a tensor on a GPU that is not checked.

        Returns out [batch, q_len, query_heads, value_size] in q's dtype, bfloat16 for float8_e4m3fn
        (`out`, if given), and lse float32 [batch, query_heads, q_len], the natural logarithm of the
        sum without the sink. A row without valid keys gives out 0 and lse +inf, as FlashMLA does.
        What lies in slots that a query does not see never reaches its row. Raises KernelError.
        """
        plan = self._plan
        if plan is None:
            raise KernelError("plan", None, "a plan before the first run", "call plan(...) first")
        heads = plan.query_heads
        shape = (("batch", None), ("q_len", None), ("heads", heads), ("head_size", plan.head_size))
        require_tensor("q", q, _QUERIES, shape)
        batch, q_len = q.shape[:2]
        dtype = torch.bfloat16 if q.dtype == torch.float8_e4m3fn else q.dtype
        if out is None:
            out = torch.empty(batch, q_len, heads, plan.value_size, dtype=dtype, device=q.device)
        wanted = {"batch": batch, "q_len": q_len, "heads": heads, "value_size": plan.value_size}
        require_writable("out", _require("out", out, q, dtype, **wanted))
        sink = None
        if attn_sink is not None:
            sink = _require("attn_sink", attn_sink, q, torch.float32, heads=heads)
            sink = sink.detach().to(plan.compute_dtype)
        rows = q.detach().flatten(0, 1).to(plan.compute_dtype)
        query = Query(rows, plan.value_size, plan.softmax_scale, sink)
        pool, extra = _pools(plan, q, kv_cache, extra_kv_cache, tensor_scale)
        if extra is None:
            require_absent(extra_indices=extra_indices, extra_topk_length=extra_topk_length)
        if plan.topk is None:
            require_absent(indices=indices, topk_length=topk_length)
            table, lengths = _sequences(pool, q, block_table, cache_seqlens)
            results = dense(query, pool, table, lengths, plan.causal)
        else:
            require_absent(block_table=block_table, cache_seqlens=cache_seqlens)
            selections = [_selection(pool, q, indices, topk_length, plan.topk)]
            if extra is not None:
                selections.append(_selection(extra, q, extra_indices, extra_topk_length, None))
            results = sparse(query, selections)
        outputs = torch.empty(batch * q_len, heads, plan.value_size, dtype=dtype, device=q.device)
        lse = torch.empty(batch * q_len, heads, dtype=torch.float32, device=q.device)
        for chunk, result in results:
            outputs[chunk], lse[chunk] = result
        out.copy_(outputs.view_as(out))
        return out, lse.view(batch, q_len, heads).mT.contiguous()


def _require_head_size(head_size: int, fmt: KVFormat) -> None:
    if require_int("head_size", head_size) != fmt.head_size:
        raise KernelError(
            "head_size",
            head_size,
            f"{fmt.head_size}, that of {fmt.name}",
            f"count elements: {fmt.bytes_per_token} B is what a token takes in the cache",
        )


def _require(
    field: str, value: object, q: Tensor, dtype: torch.dtype, **shape: int | None
) -> Tensor:
    return require_tensor(field, value, (dtype,), tuple(shape.items()), q.device)


def _pools(
    plan: _Plan,
    q: Tensor,
    kv_cache: Tensor,
    extra_kv_cache: Tensor | None,
    tensor_scale: float | Tensor | None,
) -> tuple[Pool, Pool | None]:
    """The planned caches, checked; a per-tensor scale goes to the formats that have one."""
    planned = [(plan.kv_format, plan.page_size, kv_cache, "")]
    if plan.extra_kv_format is None:
        require_absent(extra_kv_cache=extra_kv_cache)
    else:
        shape = {"num_pages": None, "page_bytes": None}
        given = _require("extra_kv_cache", extra_kv_cache, q, torch.uint8, **shape)
        planned.append((plan.extra_kv_format, plan.extra_page_size, given, "extra_"))
    pools = []
    for fmt, page_size, cache, prefix in planned:
        field = f"{prefix}kv_cache"
        require_cache(fmt, cache, page_size, field, q.device)
        scaled = any(part.scaled_by == PER_TENSOR for part in fmt.parts)
        scale = require_tensor_scale(fmt, tensor_scale) if scaled else None
        pools.append(Pool(fmt, page_size, cache, scale, prefix))
    if tensor_scale is not None and all(pool.tensor_scale is None for pool in pools):
        names = " and ".join(pool.fmt.name for pool in pools)
        raise KernelError("tensor_scale", "given", f"None: {names} has no per-tensor scale")
    return pools[0], pools[1] if len(pools) > 1 else None


def _selection(
    pool: Pool, q: Tensor, indices: Tensor | None, length: Tensor | None, topk: int | None
) -> Selection:
    batch, q_len = q.shape[:2]
    field = f"{pool.prefix}indices"
    found = _require(field, indices, q, torch.int32, batch=batch, q_len=q_len, topk=topk)
    if length is not None:
        field = f"{pool.prefix}topk_length"
        _require(field, length, q, torch.int32, batch=batch)
        _require_between(field, length, found.shape[2], "the number of indices")
    return Selection.of(pool, found, length)


def _sequences(
    pool: Pool, q: Tensor, block_table: Tensor | None, cache_seqlens: Tensor | None
) -> tuple[Tensor, list[int]]:
    """The block table and each sequence's length; only blocks that hold tokens must exist."""
    batch = q.shape[0]
    table = _require("block_table", block_table, q, torch.int32, batch=batch, blocks=None)
    lengths = _require("cache_seqlens", cache_seqlens, q, torch.int32, batch=batch)
    blocks = table.shape[1]
    _require_between("cache_seqlens", lengths, blocks * pool.page_size, "block_table's tokens")
    needed = -(-lengths.long() // pool.page_size)
    used = table[torch.arange(blocks, device=q.device) < needed[:, None]]
    _require_between("block_table", used, pool.cache.shape[0] - 1, "the cache's last page")
    return table, lengths.tolist()


def _require_between(field: str, values: Tensor, most: int, what: str) -> None:
    values = values.long()  # int32 may not hold `most`
    outside = values[(values < 0) | (values > min(most, _INT64))]
    if outside.numel():
        raise KernelError(field, int(outside[0]), f"0 to {most}, {what}")
