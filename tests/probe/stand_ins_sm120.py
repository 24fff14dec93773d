"""Stand-ins for FlashInfer's functions on 12.x: see `stand_ins`."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from attnmatrix.kernels import kv_cache
from attnmatrix.registry import get_kv_format
from tests.probe.stand_ins import attend_all, check, check_ints, chosen

POOLS = {
    "fp8": ("ds_mla_v4", "ds_mla_v4"),
    "nvfp4": ("ds_mla_v4_nvfp4", "ds_mla_v4_nvfp4"),
    "fp8_dsv41": ("ds_mla_v41_footer", "ds_mla_v41_footer"),
    "fp8_dsv41_fp4_ca": ("ds_mla_v41_footer", "ds_mla_v41_fp4_footer"),
    "fp8_dsv41_inline": ("ds_mla_v41_inline", "ds_mla_v41_inline"),
    "fp8_dsv41_inline_fp4_ca": ("ds_mla_v41_inline", "ds_mla_v41_fp4_inline"),
}
"""KV formats of the main and the extra pool, by kv_cache_format."""


def tokens(view: Tensor, name: str) -> Tensor:
    """All tokens of a packed view [pages, page_size, bytes]; inline records by row of the cache."""
    fmt = get_kv_format(name)
    pages, size, stored = view.shape
    check(view.dtype == torch.uint8 and stored >= fmt.bytes_per_token, f"expected {name}")
    if "inline" in name:
        pitch = view.stride(1)
        check(view.stride(0) % pitch == 0, "a page stride of whole rows")
        rows = (pages - 1) * view.stride(0) // pitch + size
        page, size = view.as_strided((rows, stored), (pitch, 1)), 1
    else:
        page = view.as_strided((pages, fmt.page_bytes(size)), (view.stride(0), 1))
    return kv_cache.unpack(fmt, page, page_size=size, dtype=torch.float64)


def dsv4(
    query: Tensor, swa_kv_cache: Tensor, workspace_buffer: Tensor, sparse_indices: Tensor,
    compressed_kv_cache: Tensor | None = None, bmm1_scale: float = 1.0,
    sinks: Tensor | None = None, kv_layout: str = "HND", swa_topk_lens: Tensor | None = None,
    extra_sparse_indices: Tensor | None = None, extra_sparse_topk_lens: Tensor | None = None,
    backend: str = "auto", *, kv_cache_format: str = "fp8",
) -> Tensor:  # fmt: skip
    batch, q_len, heads, size = query.shape
    check(query.dtype == torch.bfloat16 and size == 512, "BF16 query of 512")
    check(heads in (8, 16, 32, 64, 128), "heads")
    check((backend, kv_layout) == ("sparse", "NHD"), "packed, [pages, page_size, 1, bytes]")
    check(swa_topk_lens is not None, "requires swa_topk_lens")
    own: list[list[Tensor]] = [[] for _ in range(batch)]
    pools = (
        (swa_kv_cache, sparse_indices, swa_topk_lens),
        (compressed_kv_cache, extra_sparse_indices, extra_sparse_topk_lens),
    )
    for name, (view, slots, lengths) in zip(POOLS[kv_cache_format], pools, strict=True):
        if view is None:
            continue
        assert slots is not None
        check_ints("indices", slots, batch, q_len, slots.shape[2])
        check_ints("lengths", lengths, batch)
        bytes_per_token = get_kv_format(name).bytes_per_token
        check(view.shape[2:] == (1, bytes_per_token), f"expected {bytes_per_token} bytes")
        rows = tokens(view[:, :, 0], name)
        for i in range(batch):
            own[i].append(chosen(rows, slots[i, 0], int(lengths[i])))  # type: ignore[index]
    keys = [torch.cat(pieces) for pieces in own]
    out, _ = attend_all(query[:, 0], keys, bmm1_scale, 512, sinks)
    return out[:, None].bfloat16()


def v32(
    query: Tensor, kv_cache: Tensor, workspace_buffer: Tensor, qk_nope_head_dim: int,
    kv_lora_rank: int, qk_rope_head_dim: int, block_tables: Tensor, seq_lens: Tensor,
    max_seq_len: int, sparse_mla_top_k: int = 0, bmm1_scale: float = 1.0,
    sinks: list[Tensor] | None = None, backend: str = "auto", return_lse: bool = False,
    kv_scale_format: str = "auto", return_lse_base: str | None = None,
) -> Any:  # fmt: skip
    batch, q_len, _, size = query.shape
    check(query.dtype == torch.bfloat16 and backend == "sparse", "BF16 query")
    rope_free = (qk_rope_head_dim, size, kv_scale_format) == (0, 512, "arbitrary_fp32")
    check(rope_free or (qk_rope_head_dim, size) == (64, 576), "512+64 or 512+0")
    check_ints("block_tables", block_tables, batch, q_len, sparse_mla_top_k)
    check_ints("seq_lens", seq_lens, batch)
    check(kv_cache.shape[1] == 1, "[pages, 1, page_size, bytes]")
    name = "ds_mla_v32"
    if rope_free:
        name = "ds_mla_v32_nope_656" if kv_cache.shape[3] == 656 else "ds_mla_v32_nope"
    rows = tokens(kv_cache[:, 0], name)
    keys = [chosen(rows, block_tables[i, 0], int(seq_lens[i])) for i in range(batch)]
    sink = None if sinks is None else sinks[0]
    out, lse = attend_all(query[:, 0], keys, bmm1_scale, 512, sink)
    if sink is not None:
        lse = torch.logaddexp(lse, sink)
    out = out[:, None].bfloat16()
    return (out, lse / math.log(2)) if return_lse else out


def flashinfer_mla() -> Any:
    """The module flashinfer.mla."""
    return SimpleNamespace(
        trtllm_batch_decode_with_kv_cache_mla=v32, trtllm_batch_decode_sparse_mla_dsv4=dsv4
    )
