"""FlashInfer's sparse decode on 12.x over packed records: DeepSeek-V4, V4.1, V3.2 and rope-free.

Not run by us: no GPU of that generation was at hand. The call follows FlashInfer's documentation,
and tests hold it to the library's own checks of its arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from .bounds import debug_wanted, require_slots
from .checks import require_absent, require_finite, require_int
from .errors import KernelError
from .flash_mla import VALUE_SIZE
from .launch import require_planned, require_sizes, resolve_device, unplanned
from .providers import find_flashinfer
from .rows import Call, capability_of, find_row, query_heads_taken
from .views import CacheViews, record_view

if TYPE_CHECKING:
    from attnmatrix.kv_format import KVFormat

WORKSPACE_BYTES = 128 << 20

DSV4_NAMES = {
    ("ds_mla_v4", None): "fp8",
    ("ds_mla_v4", "ds_mla_v4"): "fp8",
    ("ds_mla_v4_nvfp4", None): "nvfp4",
    ("ds_mla_v4_nvfp4", "ds_mla_v4_nvfp4"): "nvfp4",
    ("ds_mla_v41_footer", None): "fp8_dsv41",
    ("ds_mla_v41_footer", "ds_mla_v41_footer"): "fp8_dsv41",
    ("ds_mla_v41_footer", "ds_mla_v41_fp4_footer"): "fp8_dsv41_fp4_ca",
    ("ds_mla_v41_inline", None): "fp8_dsv41_inline",
    ("ds_mla_v41_inline", "ds_mla_v41_inline"): "fp8_dsv41_inline",
    ("ds_mla_v41_inline", "ds_mla_v41_fp4_inline"): "fp8_dsv41_inline_fp4_ca",
}
"""FlashInfer's name of the main and the extra format together."""


class _Plan(NamedTuple):
    device: torch.device
    batch: int
    q_len: int
    query_heads: int
    heads: int
    head_size: int
    topk: int
    extra_topk: int | None
    dsv4: str | None
    scale_format: str
    scale: float
    debug: bool
    cache: CacheViews
    extra_cache: CacheViews | None
    full: Tensor
    extra_full: Tensor | None


class PackedSparse:
    """Sparse decode on 12.x: `plan` once a batch shape, then `run` a layer.

    A captured graph reads the plan's buffers: replay it only until the next plan.
    """

    kernel = "flashinfer.sparse_mla_sm120"

    def __init__(self, workspace: Tensor | None = None) -> None:
        """workspace: uint8 on the GPU, for partial results; None allocates 128 MiB."""
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

    def plan(
        self,
        *,
        kv_format: KVFormat,
        page_size: int,
        query_heads: int,
        head_size: int,
        value_size: int = VALUE_SIZE,
        topk: int,
        batch: int,
        q_len: int = 1,
        extra_kv_format: KVFormat | None = None,
        extra_page_size: int | None = None,
        extra_topk: int | None = None,
        softmax_scale: float | None = None,
        scale_format: str = "auto",
        device: torch.device | str = "cuda",
        debug: bool | None = None,
        untested: bool = False,
    ) -> None:
        """Fix what the runs to come have in common. Raises KernelError.

        scale_format: of V3.2 records, "auto" reads the scales' exponents alone, which is all of a
        power of two; "arbitrary_fp32" reads them whole, as GLM models need. Rope-free records are
        always read whole.
        """
        device = resolve_device(device)
        require_sizes(kv_format, head_size, value_size, VALUE_SIZE)
        features: tuple[str, ...] = ()
        if extra_kv_format is None:
            require_absent(extra_page_size=extra_page_size, extra_topk=extra_topk)
        else:
            features = ("extra_kv_pool",)
            require_int("extra_page_size", extra_page_size)
            require_int("extra_topk", extra_topk)
        extra_name = None if extra_kv_format is None else extra_kv_format.name
        call = Call(
            capability_of(device),
            ("flashinfer-python", self.version),
            kv_format.name,
            "bfloat16",
            head_size,
            require_int("page_size", page_size),
            require_int("query_heads", query_heads),
            require_int("topk", topk),
            extra_name,
            features,
        )
        taken = query_heads_taken(self.kernel, call)
        heads = query_heads
        if heads not in taken:
            heads = min((n for n in taken.values if n >= query_heads), default=query_heads)
        find_row(self.kernel, call._replace(query_heads=heads), untested=untested)
        tokens = require_int("batch", batch) * require_int("q_len", q_len)
        if self._workspace is None or self._workspace.device != device:
            self._workspace = torch.zeros(WORKSPACE_BYTES, dtype=torch.uint8, device=device)
        extra_cache = extra_full = None
        if extra_kv_format is not None and extra_page_size and extra_topk:
            make = record_view(extra_kv_format, extra_page_size, "extra_kv_cache", device, 16)
            extra_cache = CacheViews(make)
            extra_full = torch.full((tokens,), extra_topk, dtype=torch.int32, device=device)
        scale = head_size**-0.5 if softmax_scale is None else softmax_scale
        rope_free = kv_format.name.startswith("ds_mla_v32_nope")
        self._plan = _Plan(
            device,
            batch,
            q_len,
            query_heads,
            heads,
            head_size,
            topk,
            extra_topk,
            DSV4_NAMES.get((kv_format.name, extra_name)),
            "arbitrary_fp32" if rope_free else scale_format,
            require_finite("softmax_scale", scale),
            debug_wanted(debug),
            CacheViews(record_view(kv_format, page_size, "kv_cache", device, 16)),
            extra_cache,
            torch.full((tokens,), topk, dtype=torch.int32, device=device),
            extra_full,
        )

    def run(
        self,
        q: Tensor,
        kv_cache: Tensor,
        *,
        indices: Tensor,
        topk_length: Tensor | None = None,
        attn_sink: Tensor | None = None,
        extra_kv_cache: Tensor | None = None,
        extra_indices: Tensor | None = None,
        extra_topk_length: Tensor | None = None,
        out: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Attention of q, bfloat16 [batch, q_len, query_heads, head_size]; see SparseDecode.run.

        Heads are padded by a copy where the kernel takes more. Returns out and lse, float32
        [batch, query_heads, q_len], natural; None for V4 and V4.1 records, and with a sink, which
        the kernel's own would include. An empty row's lse is -inf.
        """
        plan = self._plan
        if plan is None:
            raise unplanned()
        batch, q_len, heads = plan.batch, plan.q_len, plan.query_heads
        require_planned("q", q, torch.bfloat16, (batch, q_len, heads, plan.head_size), plan.device)
        shape = (batch, q_len, heads, VALUE_SIZE)
        if out is not None:
            require_planned("out", out, torch.bfloat16, shape, plan.device)
        if attn_sink is not None:
            require_planned("attn_sink", attn_sink, torch.float32, (heads,), plan.device)
        cache = plan.cache(kv_cache)
        wanted = (batch, q_len, plan.topk)
        require_planned("indices", indices, torch.int32, wanted, plan.device)
        more = plan.heads - heads
        target = None if out is None or more else out.view(-1, 1, plan.heads, VALUE_SIZE)
        if more:
            q = torch.nn.functional.pad(q, (0, 0, 0, more))
            if attn_sink is not None:
                attn_sink = torch.nn.functional.pad(attn_sink, (0, more), value=-torch.inf)
        query = q.reshape(-1, 1, plan.heads, plan.head_size)
        if plan.debug:
            require_slots("indices", indices, cache.shape[0] * cache.shape[1], topk_length)
        lengths = self._lengths(plan, "topk_length", topk_length, plan.full)
        rows = indices.view(-1, 1, plan.topk)
        lse = None
        if plan.dsv4 is not None:
            extra = self._extra(plan, extra_kv_cache, extra_indices, extra_topk_length)
            written = self._mla.trtllm_batch_decode_sparse_mla_dsv4(
                query=query,
                swa_kv_cache=cache,
                workspace_buffer=self._workspace,
                sparse_indices=rows,
                swa_topk_lens=lengths,
                **extra,
                out=target,
                bmm1_scale=plan.scale,
                sinks=attn_sink,
                kv_layout="NHD",
                backend="sparse",
                **({} if plan.dsv4 == "fp8" else {"kv_cache_format": plan.dsv4}),
            )
        else:
            require_absent(extra_kv_cache=extra_kv_cache, extra_indices=extra_indices)
            written, lse = self._mla.trtllm_batch_decode_with_kv_cache_mla(
                query=query,
                kv_cache=cache.transpose(1, 2),
                workspace_buffer=self._workspace,
                qk_nope_head_dim=128,
                kv_lora_rank=VALUE_SIZE,
                qk_rope_head_dim=plan.head_size - VALUE_SIZE,
                block_tables=rows,
                seq_lens=lengths,
                max_seq_len=plan.topk,
                sparse_mla_top_k=plan.topk,
                out=target,
                bmm1_scale=plan.scale,
                sinks=None if attn_sink is None else [attn_sink],
                backend="sparse",
                kv_scale_format=plan.scale_format,
                return_lse=True,
                return_lse_base="basee",
            )
            lse = lse.view(batch, q_len, plan.heads)[:, :, :heads].mT if attn_sink is None else None
        written = written.view(batch, q_len, plan.heads, VALUE_SIZE)[:, :, :heads]
        if out is None:
            return written, lse
        return (out.copy_(written) if more else out), lse

    def _extra(
        self,
        plan: _Plan,
        cache: Tensor | None,
        indices: Tensor | None,
        length: Tensor | None,
    ) -> dict[str, Any]:
        if plan.extra_cache is None or plan.extra_topk is None or plan.extra_full is None:
            require_absent(extra_kv_cache=cache, extra_indices=indices, extra_topk_length=length)
            return {}
        if cache is None:
            raise KernelError("extra_kv_cache", None, "the planned pool's cache")
        wanted = (plan.batch, plan.q_len, plan.extra_topk)
        chosen = require_planned("extra_indices", indices, torch.int32, wanted, plan.device)
        view = plan.extra_cache(cache)
        if plan.debug:
            require_slots("extra_indices", chosen, view.shape[0] * view.shape[1], length)
        return {
            "compressed_kv_cache": view,
            "extra_sparse_indices": chosen.view(-1, 1, plan.extra_topk),
            "extra_sparse_topk_lens": self._lengths(
                plan, "extra_topk_length", length, plan.extra_full
            ),
        }

    def _lengths(self, plan: _Plan, field: str, length: Tensor | None, full: Tensor) -> Tensor:
        """One length a query token."""
        if length is None:
            return full
        require_planned(field, length, torch.int32, (plan.batch,), plan.device)
        return length if plan.q_len == 1 else length.repeat_interleave(plan.q_len)
