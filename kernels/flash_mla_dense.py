"""FlashMLA's dense decode over a paged cache: bfloat16, float16, and FP8 with one scale a tensor.

>>> decode = DenseDecode()
>>> decode.plan(kv_format=get_kv_format("bf16_576"), page_size=64, query_heads=128,
...             head_size=576, value_size=512, batch=32, q_len=1, device="cuda")
>>> out, lse = decode.run(q, kv_cache, block_table=table, cache_seqlens=lengths)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from .bounds import debug_wanted, require_tables
from .checks import require_finite, require_int
from .errors import KernelError
from .flash_mla import VALUE_SIZE
from .launch import (
    capture_check,
    is_aligned,
    misaligned,
    require_planned,
    require_sizes,
    resolve_device,
    unplanned,
    wrong_shape,
)
from .providers import FlashMLA, find_flash_mla
from .rows import Call, capability_of, find_row
from .views import CacheViews, plain_view

if TYPE_CHECKING:
    from attnmatrix.kv_format import KVFormat

_DTYPES = {
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "float8_e4m3fn": torch.float8_e4m3fn,
}


class _Plan(NamedTuple):
    device: torch.device
    call: Any
    last: str | None
    make_schedule: Any
    dtype: torch.dtype
    out_dtype: torch.dtype
    q_shape: torch.Size
    out_view: tuple[int, ...]
    causal: bool
    scale: float
    page_size: int
    debug: bool
    cache: CacheViews
    one: Tensor | None
    hot: tuple[Any, ...]
    """What every run reads, together."""


class DenseDecode:
    """Dense decode: `plan` once a batch shape, then `run` a layer.

    The schedule is made by the first run after a plan from the values of cache_seqlens; call
    `refresh` when those change. As for SparseDecode, a graph captures the making of it. An e4m3
    format makes it the FP8 kernel: queries are e4m3 too, and the output is bfloat16.
    """

    kernel: ClassVar[str] = "flash_mla.dense_decode"

    def __init__(self, provider: str | FlashMLA | None = None) -> None:
        """provider: a distribution, never replaced by another; None takes the first that loads."""
        self.library = provider if isinstance(provider, FlashMLA) else find_flash_mla(provider)
        self._plan: _Plan | None = None
        self._schedule: tuple[Tensor | None, Tensor | None] = (None, None)
        self._captured: bool | None = None

    @property
    def provider(self) -> str:
        """The distribution and version in use, as 'vllm==0.33.0'."""
        return str(self.library)

    def plan(
        self,
        *,
        kv_format: KVFormat,
        page_size: int,
        query_heads: int,
        head_size: int,
        value_size: int = VALUE_SIZE,
        batch: int,
        q_len: int = 1,
        causal: bool = False,
        softmax_scale: float | None = None,
        device: torch.device | str = "cuda",
        debug: bool | None = None,
        untested: bool = False,
    ) -> None:
        """Fix what the runs to come have in common; forget the schedule. Raises KernelError.

        Some builds end the process on a head size that they lack: the matrix's row refuses it here.
        """
        device = resolve_device(device)
        require_sizes(kv_format, head_size, value_size, VALUE_SIZE)
        require_int("batch", batch)
        require_int("q_len", q_len)
        stored = kv_format.values[0].dtype
        fp8 = stored == "float8_e4m3fn"
        kernel = "flash_mla.dense_decode_fp8" if fp8 else self.kernel
        call = Call(
            capability_of(device),
            (self.library.distribution, self.library.version),
            kv_format.name,
            stored,
            head_size,
            require_int("page_size", page_size),
            require_int("query_heads", query_heads),
            features=("causal",) if causal else (),
        )
        find_row(kernel, call, untested=untested)
        operator = self.library.operator("dense_decode_fp8" if fp8 else "dense_decode")
        scale = head_size**-0.5 if softmax_scale is None else softmax_scale
        scale = require_finite("softmax_scale", scale)
        q_shape = torch.Size((batch, q_len, query_heads, head_size))
        checks = debug_wanted(debug)
        make = plain_view(kv_format, page_size, "kv_cache", device)
        views = CacheViews(lambda cache: make(cache).unsqueeze(2))
        self._plan = _Plan(
            device,
            operator.call,
            operator.last,
            self.library.operator("dense_fp8_schedule").call if fp8 else None,
            _DTYPES[stored],
            torch.bfloat16 if fp8 else _DTYPES[stored],
            q_shape,
            (batch, 1, q_len * query_heads, VALUE_SIZE),
            causal,
            scale,
            page_size,
            checks,
            views,
            torch.ones(1, device=device) if fp8 else None,
            (
                q_shape,
                operator.call,
                scale,
                causal,
                views.found,
                capture_check(device),
                operator.last == "out" and q_len == 1 and not fp8 and not checks,
            ),
        )
        self.refresh()

    def refresh(self) -> None:
        """Forget the schedule: the next run makes one from cache_seqlens' values then."""
        self._captured = None
        self._schedule = (None, None)

    def run(
        self,
        q: Tensor,
        kv_cache: Tensor,
        *,
        block_table: Tensor,
        cache_seqlens: Tensor,
        q_scale: Tensor | None = None,
        tensor_scale: Tensor | None = None,
        out: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Attention of q [batch, q_len, query_heads, head_size] in the cache's dtype.

        kv_cache: uint8 [num_pages, page_bytes]. block_table: int32 [batch, blocks]; cache_seqlens:
        int32 [batch]. out: contiguous. q_scale, tensor_scale: float32 [1], what e4m3 queries and
        rows are multiplied with; None is 1. Returns out [batch, q_len, query_heads, 512] and lse
        float32 [batch, query_heads, q_len]: natural, +inf for a row without keys, whose out is 0.
        The FP8 kernel reads out of bounds where a length is 0 (debug catches it), and rounds the
        softmax's weights to e4m3, which moves the output by about 2%.
        """
        plan = self._plan
        if plan is None:
            raise unplanned()
        # As in SparseDecode.run, host time counts here.
        q_shape, call, scale, causal, views, capturing, direct = plan.hot
        try:
            if q.shape != q_shape:
                raise wrong_shape("q", q, q_shape)
            if (not q.is_contiguous() or q.data_ptr() & 15) and not is_aligned(q):
                raise misaligned(q)
            captured = capturing()
            if captured is not self._captured:
                self.refresh()
                self._captured = captured
            cache = views.get(id(kv_cache))
            if cache is None:
                cache = plan.cache(kv_cache)
            if not direct or q_scale is not None or tensor_scale is not None:
                return self._run_other(
                    plan, q, cache, block_table, cache_seqlens, q_scale, tensor_scale, out
                )
            meta, splits = self._schedule
            written, lse, new_meta, new_splits = call(
                q,
                cache,
                VALUE_SIZE,
                cache_seqlens,
                block_table,
                scale,
                causal,
                meta,
                splits,
                out,
            )
        except KernelError:
            raise
        except Exception:
            self._check(plan, q, block_table, cache_seqlens, out)
            raise
        if meta is None:
            self._schedule = (new_meta, new_splits)
        return written, lse

    def _run_other(
        self,
        plan: _Plan,
        q: Tensor,
        cache: Tensor,
        block_table: Tensor,
        cache_seqlens: Tensor,
        q_scale: Tensor | None,
        tensor_scale: Tensor | None,
        out: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
        """The rarer ways: under debug, FP8, several queries a sequence, providers without `out`."""
        if plan.debug:
            least = 0 if plan.make_schedule is None else 1
            require_tables(block_table, cache_seqlens, cache.shape[0], plan.page_size, least)
        if plan.make_schedule is not None:
            return self._run_fp8(
                plan, q, cache, block_table, cache_seqlens, q_scale, tensor_scale, out
            )
        if q_scale is not None or tensor_scale is not None:
            raise KernelError("tensor_scale", "given", "None: the format has no scale")
        last: tuple[Tensor | None, ...] = ()
        if plan.last == "out":  # as the kernel sees [batch, q_len, heads, 512]
            last = (None if out is None else out.view(plan.out_view),)
        written, lse, *schedule = plan.call(
            q,
            cache,
            VALUE_SIZE,
            cache_seqlens,
            block_table,
            plan.scale,
            plan.causal,
            *self._schedule,
            *last,
        )
        self._schedule = tuple(schedule)
        if out is None:
            return written, lse
        return (out if plan.last == "out" else out.copy_(written)), lse

    def _run_fp8(
        self,
        plan: _Plan,
        q: Tensor,
        cache: Tensor,
        block_table: Tensor,
        cache_seqlens: Tensor,
        q_scale: Tensor | None,
        tensor_scale: Tensor | None,
        out: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
        """The FP8 kernel, whose schedule an operator of its own makes. It has no `out`: a copy."""
        if self._schedule[0] is None:
            rows = plan.out_view[2]
            self._schedule = tuple(plan.make_schedule(cache_seqlens, rows, 1))
        written, lse = plan.call(
            q,
            cache,
            VALUE_SIZE,
            cache_seqlens,
            block_table,
            plan.scale,
            plan.causal,
            *self._schedule,
            plan.one if q_scale is None else q_scale,
            plan.one if tensor_scale is None else tensor_scale,
        )
        return (written if out is None else out.copy_(written)), lse

    def _check(
        self, plan: _Plan, q: Tensor, block_table: Tensor, lengths: Tensor, out: Tensor | None
    ) -> None:
        batch, q_len, heads, _ = plan.q_shape
        require_planned("q", q, plan.dtype, plan.q_shape, plan.device)
        width = block_table.shape[1] if isinstance(block_table, Tensor) else 0
        require_planned("block_table", block_table, torch.int32, (batch, width), plan.device)
        require_planned("cache_seqlens", lengths, torch.int32, (batch,), plan.device)
        if out is not None:
            require_planned(
                "out", out, plan.out_dtype, (batch, q_len, heads, VALUE_SIZE), plan.device
            )
            if not out.is_contiguous():
                raise KernelError("out", f"of strides {out.stride()}", "a contiguous tensor")
