"""FlashInfer's MLA decode on 10.x through TensorRT-LLM's kernels: dense, and sparse by top-k.

Not run by us: no GPU of that generation was at hand. The call follows FlashInfer's documentation,
and tests hold it to the library's own checks of its arguments.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from .bounds import debug_wanted, require_slots, require_tables
from .checks import require_finite, require_int
from .errors import KernelError
from .launch import require_planned, require_sizes, resolve_device, unplanned
from .providers import find_flashinfer
from .rows import Call, capability_of, find_row
from .softmax import LN2
from .views import CacheViews, plain_view

if TYPE_CHECKING:
    from attnmatrix.kv_format import KVFormat

WORKSPACE_BYTES = 128 << 20


class _Plan(NamedTuple):
    device: torch.device
    kernel: str
    dtype: torch.dtype
    shape: tuple[int, ...]
    latent: int
    topk: int | None
    lengths: Tensor | None
    fixed: dict[str, Any]
    scale: float
    fp8: bool
    sink: bool
    natural: bool
    debug: bool
    page_size: int
    cache: CacheViews


class TrtllmDecode:
    """Decode on 10.x: `plan` once a batch shape, then `run` a layer. No schedule is kept.

    A captured graph reads the plan's buffers: replay it only until the next plan.
    """

    def __init__(self, workspace: Tensor | None = None) -> None:
        """workspace: uint8 on the GPU, zeroed before its first use; None allocates 128 MiB."""
        self._mla, self.version = find_flashinfer()
        self._workspace = workspace
        self._plan: _Plan | None = None

    @property
    def provider(self) -> str:
        """The distribution and version in use."""
        return f"flashinfer-python=={self.version}"

    def plan(
        self,
        *,
        kv_format: KVFormat,
        page_size: int,
        query_heads: int,
        head_size: int,
        value_size: int,
        topk: int | None = None,
        batch: int,
        q_len: int = 1,
        max_seq_len: int | None = None,
        causal: bool = False,
        softmax_scale: float | None = None,
        device: torch.device | str = "cuda",
        debug: bool | None = None,
        untested: bool = False,
    ) -> None:
        """Fix what the runs to come have in common. Raises KernelError.

        max_seq_len: dense, the longest sequence to come. Several queries a sequence are causal in
        this kernel, so q_len above 1 wants causal=True.
        """
        device = resolve_device(device)
        latent = kv_format.values[0].count
        require_sizes(kv_format, head_size, value_size, latent)
        stored = kv_format.values[0].dtype
        kernel = "flashinfer.trtllm_decode" if topk is None else "flashinfer.trtllm_sparse_decode"
        shape = (require_int("batch", batch), require_int("q_len", q_len), query_heads, head_size)
        call = Call(
            capability_of(device),
            ("flashinfer-python", self.version),
            kv_format.name,
            stored,
            head_size,
            require_int("page_size", page_size),
            require_int("query_heads", query_heads),
            topk,
            features=("causal",) if causal else (),
        )
        row = find_row(kernel, call, untested=untested)
        if topk is None and q_len > 1 and not causal:
            raise KernelError("causal", causal, "True with several queries a sequence")
        fixed: dict[str, Any] = {
            "qk_nope_head_dim": 128,
            "kv_lora_rank": latent,
            "qk_rope_head_dim": head_size - latent,
            "max_seq_len": require_int("max_seq_len", max_seq_len) if topk is None else topk,
            "sparse_mla_top_k": topk or 0,
            "backend": "trtllm-gen" if topk is not None or _by_trtllm(query_heads) else "cute-dsl",
        }
        function = self._mla.trtllm_batch_decode_with_kv_cache_mla
        natural = "return_lse_base" in inspect.signature(function).parameters
        if natural:
            fixed["return_lse_base"] = "basee"
        if self._workspace is None or self._workspace.device != device:
            self._workspace = torch.zeros(WORKSPACE_BYTES, dtype=torch.uint8, device=device)
        scale = head_size**-0.5 if softmax_scale is None else softmax_scale
        make = plain_view(kv_format, page_size, "kv_cache", device)
        full = None
        if topk is not None:
            full = torch.full((batch * q_len,), topk, dtype=torch.int32, device=device)
        self._plan = _Plan(
            device,
            kernel,
            torch.float8_e4m3fn if stored == "float8_e4m3fn" else torch.bfloat16,
            shape,
            latent,
            topk,
            full,
            fixed,
            require_finite("softmax_scale", scale),
            stored == "float8_e4m3fn",
            "attention_sink" in row.features,
            natural,
            debug_wanted(debug),
            page_size,
            CacheViews(lambda cache: make(cache).unsqueeze(1)),
        )

    def run(
        self,
        q: Tensor,
        kv_cache: Tensor,
        *,
        block_table: Tensor | None = None,
        cache_seqlens: Tensor | None = None,
        indices: Tensor | None = None,
        topk_length: Tensor | None = None,
        attn_sink: Tensor | None = None,
        q_scale: float = 1.0,
        tensor_scale: float | None = None,
        out: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Attention of q [batch, q_len, query_heads, head_size], bfloat16, or e4m3 as the cache is.

        Dense: block_table int32 [batch, blocks], cache_seqlens int32 [batch]. Sparse: indices int32
        [batch, q_len, topk], topk_length int32 [batch]. q_scale, tensor_scale: what e4m3 queries
        and rows are multiplied with. Returns out, bfloat16 [batch, q_len, query_heads, value_size],
        and lse float32 [batch, query_heads, q_len], natural, a view.
        """
        plan = self._plan
        if plan is None:
            raise unplanned()
        batch, q_len, heads, head_size = plan.shape
        require_planned("q", q, plan.dtype, plan.shape, plan.device)
        out_shape = (batch, q_len, heads, plan.latent)
        if out is not None:
            require_planned("out", out, torch.bfloat16, out_shape, plan.device)
        if attn_sink is not None:
            if not plan.sink:
                raise KernelError("attn_sink", "given", f"None: {plan.kernel}'s row has none")
            require_planned("attn_sink", attn_sink, torch.float32, (heads,), plan.device)
        if tensor_scale is not None and not plan.fp8:
            raise KernelError("tensor_scale", tensor_scale, "None: the format has no scale")
        scale = 1.0 if tensor_scale is None else require_finite("tensor_scale", tensor_scale)
        cache = plan.cache(kv_cache)
        tables = self._tables(plan, cache, block_table, cache_seqlens, indices, topk_length)
        tokens = batch * q_len
        if plan.topk is not None:  # each query token is a request of its own
            q = q.view(tokens, 1, heads, head_size)
            out = None if out is None else out.view(tokens, 1, heads, plan.latent)
        written, lse = self._mla.trtllm_batch_decode_with_kv_cache_mla(
            query=q,
            kv_cache=cache,
            workspace_buffer=self._workspace,
            **tables,
            **plan.fixed,
            out=out,
            bmm1_scale=plan.scale * scale * q_scale,
            bmm2_scale=scale,
            sinks=None if attn_sink is None else [attn_sink],
            return_lse=True,
        )
        if not plan.natural and plan.fixed["backend"] == "trtllm-gen":
            lse.mul_(LN2)
        return written.view(out_shape), lse.view(batch, q_len, heads).mT

    def _tables(
        self,
        plan: _Plan,
        cache: Tensor,
        block_table: Tensor | None,
        cache_seqlens: Tensor | None,
        indices: Tensor | None,
        topk_length: Tensor | None,
    ) -> dict[str, Any]:
        batch, q_len = plan.shape[:2]
        if plan.topk is None:
            blocks = block_table.shape[-1] if isinstance(block_table, Tensor) else 0
            table = require_planned(
                "block_table", block_table, torch.int32, (batch, blocks), plan.device
            )
            lengths = require_planned(
                "cache_seqlens", cache_seqlens, torch.int32, (batch,), plan.device
            )
            unit = 128 // plan.page_size
            if plan.fixed["backend"] == "cute-dsl" and blocks % unit:
                raise KernelError("block_table", f"{blocks} wide", f"a multiple of {unit}")
            if plan.debug:
                require_tables(table, lengths, cache.shape[0], plan.page_size)
            return {"block_tables": table, "seq_lens": lengths}
        shape = (batch, q_len, plan.topk)
        chosen = require_planned("indices", indices, torch.int32, shape, plan.device)
        lengths = plan.lengths  # type: ignore[assignment]
        if topk_length is not None:
            require_planned("topk_length", topk_length, torch.int32, (batch,), plan.device)
            lengths = topk_length if q_len == 1 else topk_length.repeat_interleave(q_len)
        if plan.debug:
            require_slots("indices", chosen, cache.shape[0] * plan.page_size, topk_length)
        found = {"block_tables": chosen.view(-1, 1, plan.topk), "seq_lens": lengths}
        if plan.shape[3] == plan.latent:  # rope-free models name the counts once more
            found["sparse_mla_top_k_lens"] = lengths
        return found


def _by_trtllm(heads: int) -> bool:
    """Whether trtllm-gen takes so many heads; the CuTe DSL kernel takes the others."""
    return heads <= 16 or 32 <= heads <= 64 or (heads >= 128 and heads % 64 == 0)
