"""FlashInfer's DeepSeek-V4 sparse decode on 10.x: plain rows, a window pool and a compressed pool.

Not run by us: no GPU of that generation was at hand. The call follows FlashInfer's documentation,
and tests hold it to the library's own checks of its arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from .bounds import debug_wanted, require_slots
from .checks import require_finite, require_int
from .errors import KernelError
from .flash_mla import VALUE_SIZE
from .launch import require_planned, require_sizes, resolve_device, unplanned
from .providers import find_flashinfer
from .rows import Call, capability_of, find_row, query_heads_taken
from .views import CacheViews, plain_view

if TYPE_CHECKING:
    from attnmatrix.kv_format import KVFormat

WINDOW = 128
"""The first indices of a query, which select from the window pool."""

WORKSPACE_BYTES = 128 << 20


class _Plan(NamedTuple):
    device: torch.device
    dtype: torch.dtype
    batch: int
    q_len: int
    query_heads: int
    heads: int
    extra_topk: int
    scale: float
    fp8: bool
    debug: bool
    cache: CacheViews
    extra_cache: CacheViews
    table: Tensor
    remapped: Tensor
    lengths: Tensor
    full: Tensor
    counter: Tensor


class SparseDsv4:
    """Two-pool decode on 10.x: `plan` once a batch shape, then `run` a layer.

    A captured graph reads the plan's buffers: replay it only until the next plan.
    """

    kernel = "flashinfer.sparse_mla_dsv4"

    def __init__(self, workspace: Tensor | None = None) -> None:
        """workspace: uint8 on the GPU; None allocates 128 MiB."""
        self._mla, self.version = find_flashinfer()
        self._workspace = workspace
        self._plan: _Plan | None = None

    @property
    def provider(self) -> str:
        """The distribution and version in use."""
        return f"flashinfer-python=={self.version}"

    @property
    def padded_query_heads(self) -> int | None:
        """The head count the kernel is called with; None before a plan."""
        return None if self._plan is None else self._plan.heads

    @property
    def table(self) -> Tensor | None:
        """int32 [tokens, 128 + extra_topk]: indices written here, and passed as its two parts,
        are not copied."""
        return None if self._plan is None else self._plan.table

    def plan(
        self,
        *,
        kv_format: KVFormat,
        page_size: int,
        query_heads: int,
        head_size: int,
        value_size: int = VALUE_SIZE,
        topk: int = WINDOW,
        batch: int,
        q_len: int = 1,
        extra_kv_format: KVFormat | None = None,
        extra_page_size: int | None = None,
        extra_topk: int | None = None,
        softmax_scale: float | None = None,
        device: torch.device | str = "cuda",
        debug: bool | None = None,
        untested: bool = False,
    ) -> None:
        """Fix what the runs to come have in common. Raises KernelError.

        topk: 128, the window's. extra_*: the compressed pool, which the kernel always takes.
        """
        device = resolve_device(device)
        require_sizes(kv_format, head_size, value_size, VALUE_SIZE)
        if require_int("topk", topk) != WINDOW:
            raise KernelError("topk", topk, (WINDOW,), "pad the window's indices with -1")
        if extra_kv_format is None:
            raise KernelError("extra_kv_format", None, "the compressed pool's format")
        require_int("extra_page_size", extra_page_size)
        width = WINDOW + require_int("extra_topk", extra_topk)
        stored = kv_format.values[0].dtype
        call = Call(
            capability_of(device),
            ("flashinfer-python", self.version),
            kv_format.name,
            stored,
            head_size,
            require_int("page_size", page_size),
            require_int("query_heads", query_heads),
            width,
            extra_kv_format.name,
            ("extra_kv_pool",),
        )
        taken = query_heads_taken(self.kernel, call).values
        heads = min((n for n in taken if n >= query_heads), default=query_heads)
        find_row(self.kernel, call._replace(query_heads=heads), untested=untested)
        tokens = require_int("batch", batch) * require_int("q_len", q_len)
        if self._workspace is None or self._workspace.device != device:
            self._workspace = torch.zeros(WORKSPACE_BYTES, dtype=torch.uint8, device=device)
        units = 1
        if device.type == "cuda":
            units = torch.cuda.get_device_properties(device).multi_processor_count
        counters = -(-max(batch * heads, units) // 8) * 8
        scale = head_size**-0.5 if softmax_scale is None else softmax_scale
        make = plain_view(kv_format, page_size, "kv_cache", device)
        make_extra = plain_view(extra_kv_format, extra_page_size or 0, "extra_kv_cache", device)
        table = torch.empty(tokens, width, dtype=torch.int32, device=device)
        full = torch.full((tokens,), width, dtype=torch.int32, device=device)
        self._plan = _Plan(
            device,
            torch.float8_e4m3fn if stored == "float8_e4m3fn" else torch.bfloat16,
            batch,
            q_len,
            query_heads,
            heads,
            width - WINDOW,
            require_finite("softmax_scale", scale),
            stored == "float8_e4m3fn",
            debug_wanted(debug),
            CacheViews(lambda cache: make(cache).unsqueeze(1)),
            CacheViews(lambda cache: make_extra(cache).unsqueeze(1)),
            table,
            torch.empty_like(table),
            torch.empty_like(full),
            full,
            torch.zeros(4 * counters, dtype=torch.uint8, device=device),
        )

    def run(
        self,
        q: Tensor,
        kv_cache: Tensor,
        *,
        indices: Tensor,
        cache_seqlens: Tensor,
        extra_kv_cache: Tensor,
        extra_indices: Tensor,
        topk_length: Tensor | None = None,
        extra_topk_length: Tensor | None = None,
        attn_sink: Tensor | None = None,
        q_scale: float = 1.0,
        tensor_scale: float | None = None,
        out: Tensor | None = None,
    ) -> tuple[Tensor, None]:
        """Attention of q [batch, q_len, query_heads, 512], bfloat16, or e4m3 as the caches are.

        As SparseDecode.run; cache_seqlens, int32 [batch], are the sequences' lengths, from which
        the kernel derives how much of the window exists. Indices are copied into `table` by one
        small kernel a pool, and one more adds a length to the window's, unless they are views of
        `table`. One q_scale and one tensor_scale, numbers, serve e4m3 queries and both pools. Heads
        are padded by a copy. Returns out, bfloat16, and None: the kernel gives no LSE.
        """
        plan = self._plan
        if plan is None:
            raise unplanned()
        batch, q_len, heads = plan.batch, plan.q_len, plan.query_heads
        require_planned("q", q, plan.dtype, (batch, q_len, heads, VALUE_SIZE), plan.device)
        require_planned("cache_seqlens", cache_seqlens, torch.int32, (batch,), plan.device)
        if attn_sink is not None:
            require_planned("attn_sink", attn_sink, torch.float32, (heads,), plan.device)
        shape = (batch, q_len, heads, VALUE_SIZE)
        if out is not None:
            require_planned("out", out, torch.bfloat16, shape, plan.device)
        if tensor_scale is not None and not plan.fp8:
            raise KernelError("tensor_scale", tensor_scale, "None: the format has no scale")
        scale = 1.0 if tensor_scale is None else require_finite("tensor_scale", tensor_scale)
        window, compressed = plan.cache(kv_cache), plan.extra_cache(extra_kv_cache)
        table = self._table(plan, indices, extra_indices, topk_length)
        lengths = self._lengths(plan, extra_topk_length)
        if plan.debug:
            self._debug(plan, window, compressed, table, lengths)
        more = plan.heads - heads
        target = out if not more else None
        if more:
            q = torch.nn.functional.pad(q.view(torch.uint8), (0, 0, 0, more)).view(plan.dtype)
            if attn_sink is not None:
                attn_sink = torch.nn.functional.pad(attn_sink, (0, more), value=-torch.inf)
        strided = any(
            pool.shape[0] > 1 and pool.stride(0) != pool.shape[2] * VALUE_SIZE
            for pool in (window, compressed)
        )
        written = self._mla.trtllm_batch_decode_sparse_mla_dsv4(
            query=q,
            swa_kv_cache=window,
            workspace_buffer=self._workspace,
            sparse_indices=table,
            compressed_kv_cache=compressed,
            sparse_topk_lens=lengths,
            seq_lens=cache_seqlens,
            out=target,
            bmm1_scale=plan.scale * scale * q_scale,
            bmm2_scale=scale,
            sinks=attn_sink,
            kv_layout="HND",
            backend="trtllm-gen",
            sparse_indices_are_storage_offsets=False if strided else None,
            remapped_sparse_indices_buffer=plan.remapped if strided else None,
            multi_ctas_kv_counter_buffer=plan.counter,
        )
        written = written.view(batch, q_len, plan.heads, VALUE_SIZE)[:, :, :heads]
        if more and out is not None:
            return out.copy_(written), None
        return (written if out is None else out), None

    def _table(
        self, plan: _Plan, indices: Tensor, extra: Tensor, topk_length: Tensor | None
    ) -> Tensor:
        """Both pools' indices side by side: as they lie in `table`, or copied there."""
        lead = (plan.batch, plan.q_len)
        require_planned("indices", indices, torch.int32, (*lead, WINDOW), plan.device)
        wanted = (*lead, plan.extra_topk)
        require_planned("extra_indices", extra, torch.int32, wanted, plan.device)
        table = plan.table
        start, behind = table[:, :WINDOW], table[:, WINDOW:]
        if indices.data_ptr() != start.data_ptr():
            start.copy_(indices.view(-1, WINDOW))
        if extra.data_ptr() != behind.data_ptr():
            behind.copy_(extra.view(-1, plan.extra_topk))
        if topk_length is not None:  # the kernel has no such argument; it masks -1
            require_planned("topk_length", topk_length, torch.int32, lead[:1], plan.device)
            ends = topk_length.repeat_interleave(plan.q_len)[:, None]
            start.masked_fill_(torch.arange(WINDOW, device=plan.device) >= ends, -1)
        return table

    def _lengths(self, plan: _Plan, extra_topk_length: Tensor | None) -> Tensor:
        if extra_topk_length is None:
            return plan.full
        given = require_planned(
            "extra_topk_length", extra_topk_length, torch.int32, (plan.batch,), plan.device
        )
        if plan.q_len > 1:
            given = given.repeat_interleave(plan.q_len)
        return torch.add(given, WINDOW, out=plan.lengths)

    def _debug(
        self, plan: _Plan, window: Tensor, compressed: Tensor, table: Tensor, lengths: Tensor
    ) -> None:
        require_slots("indices", table[:, :WINDOW], window.shape[0] * window.shape[2])
        slots = compressed.shape[0] * compressed.shape[2]
        require_slots("extra_indices", table[:, WINDOW:], slots, lengths - WINDOW)
