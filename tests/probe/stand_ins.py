"""Stand-ins for kernel libraries that compute: each reads its arguments alone, as documented.

They refuse what their documentation rules out, so a call that is put together wrongly is refused or
comes out wrong. Signatures are those of vllm 0.33.0's FlashMLA and of flashinfer-python 0.7.4.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from attnmatrix.kernels import kv_cache
from attnmatrix.kernels.providers import FlashMLA, Operator
from attnmatrix.registry import get_kv_format

RECORDS = {(576, 656): "ds_mla_v32", (512, 584): "ds_mla_v4"}
"""By query width and bytes a token, as FlashMLA tells formats apart."""


def check(condition: bool, words: str) -> None:
    if not condition:
        raise RuntimeError(words)


def check_ints(name: str, value: Tensor | None, *shape: int) -> None:
    if value is not None:
        check(value.dtype == torch.int32, f"{name} must be int32")
        check(value.shape == shape, f"{name} must be {shape}, is {tuple(value.shape)}")
        check(value.is_contiguous(), f"{name} must be contiguous")


def attend(
    q: Tensor, keys: Tensor, scale: float, width: int, sink: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """One query [heads, size] over keys [n, size]: out float64 [heads, width], natural LSE."""
    scores = q.double() @ keys.double().T * scale
    lse = scores.logsumexp(-1)
    total = lse if sink is None else torch.logaddexp(lse, sink.double())
    return (scores - total[:, None]).exp() @ keys.double()[:, :width], lse.float()


def attend_all(
    q: Tensor, keys: list[Tensor], scale: float, width: int, sink: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Each query of [n, heads, size] over its keys: out [n, heads, width], LSE [n, heads]."""
    found = [attend(one, own, scale, width, sink) for one, own in zip(q, keys, strict=True)]
    return torch.stack([out for out, _ in found]), torch.stack([lse for _, lse in found])


def chosen(rows: Tensor, indices: Tensor, length: int) -> Tensor:
    own = indices[:length].long()
    return rows[own[own >= 0]]


def paged(rows: Tensor, table: Tensor, length: int) -> Tensor:
    """The first tokens of a sequence, out of [pages, page_size, width]."""
    size = rows.shape[1]
    return rows[table[: -(-length // size)].long()].flatten(0, 1)[:length]


def unpacked(view: Tensor, head_size: int) -> Tensor:
    """Tokens [slots, head_size] of a packed view [pages, page_size, 1, bytes]."""
    check(view.dtype in (torch.uint8, torch.int8, torch.float8_e4m3fn), "key must have dtype fp8")
    check(view.dim() == 4 and view.shape[2] == 1, "h_kv must be 1")
    name = RECORDS.get((head_size, view.shape[3]))
    check(name is not None, f"Unsupported head_dim {head_size} and {view.shape[3]} bytes")
    fmt = get_kv_format(str(name))
    pages, size = view.shape[:2]
    page = view.as_strided((pages, fmt.page_bytes(size)), (view.stride(0), 1))
    return kv_cache.unpack(fmt, page, page_size=size, dtype=torch.float64)


def sparse_decode(
    q: Tensor, kv: Tensor, indices: Tensor, topk_length: Tensor | None, attn_sink: Tensor | None,
    schedule: Any, splits: Any, extra_kv: Tensor | None, extra_indices: Tensor | None,
    extra_topk_length: Tensor | None, d_v: int, sm_scale: float, out_: Tensor | None = None,
    enable_batch_invariant: bool = False,
) -> tuple[Any, ...]:  # fmt: skip
    batch, q_len, heads, size = q.shape
    check(q.dtype == torch.bfloat16, "q must have dtype bfloat16")
    check(heads in (64, 128), f"Unsupported h_q: {heads}")
    check(d_v == 512, "head_size_v must be 512")
    check(indices.shape[2] % 64 == 0, "topk must be a multiple of 64")
    check(schedule is None and splits is None, "made anew")
    pools = [(kv, indices, topk_length), (extra_kv, extra_indices, extra_topk_length)]
    own: list[list[Tensor]] = [[] for _ in range(batch)]
    for view, slots, lengths in pools:
        if view is None:
            check(slots is None and lengths is None, "an extra pool's arguments alone")
            continue
        assert slots is not None
        check_ints("indices", slots, batch, q_len, slots.shape[2])
        check_ints("topk_length", lengths, batch)
        rows = unpacked(view, size)
        for i in range(batch):
            count = slots.shape[2] if lengths is None else int(lengths[i])
            own[i].append(chosen(rows, slots[i, 0], count))
    keys = [torch.cat(pieces) for pieces in own]
    out, lse = attend_all(q[:, 0], keys, sm_scale, d_v, attn_sink)
    return out[:, None].bfloat16(), lse[:, :, None], None, None


def sparse_prefill(
    q: Tensor, kv: Tensor, indices: Tensor, sm_scale: float, d_v: int, attn_sink: Tensor | None,
    topk_length: Tensor | None, out_: Tensor | None,
) -> list[Tensor]:  # fmt: skip
    tokens, heads, size = q.shape
    check(q.dtype == kv.dtype == torch.bfloat16, "q and kv must have dtype bfloat16")
    check(kv.shape[1:] == (1, size), "kv must be [rows, 1, head_dim]")
    check_ints("indices", indices, tokens, 1, indices.shape[2])
    check_ints("topk_length", topk_length, tokens)
    full = indices.shape[2]
    counts = [full] * tokens if topk_length is None else topk_length.tolist()
    keys = [chosen(kv[:, 0], indices[i, 0], counts[i]) for i in range(tokens)]
    out, lse = attend_all(q, keys, sm_scale, d_v, attn_sink)
    return [out.bfloat16(), torch.zeros(tokens, heads), lse]


def dense(
    q: Tensor, kcache: Tensor, d_v: int, seqlens: Tensor, table: Tensor, scale: float, causal: bool
) -> tuple[Tensor, Tensor]:
    batch, q_len, heads, size = q.shape
    check(q.dtype == kcache.dtype, "query and key must have the same dtype")
    check(kcache.shape[1:] == (64, 1, size), f"kcache is {tuple(kcache.shape)}")
    check_ints("seqlens_k", seqlens, batch)
    check_ints("block_table", table, batch, table.shape[1])
    keys = []
    for i in range(batch):
        whole = paged(kcache[:, :, 0], table[i], int(seqlens[i]))
        keys += [whole[: len(whole) - (q_len - 1 - j if causal else 0)] for j in range(q_len)]
    out, lse = attend_all(q.flatten(0, 1), keys, scale, d_v)
    return out.view(batch, q_len, heads, d_v), lse.view(batch, q_len, heads).mT


def dense_decode(
    q: Tensor, kcache: Tensor, head_size_v: int, seqlens_k: Tensor, block_table: Tensor,
    softmax_scale: float, is_causal: bool, schedule: Any, splits: Any, out_: Tensor | None,
) -> tuple[Any, ...]:  # fmt: skip
    check(q.dtype in (torch.bfloat16, torch.float16), "q must have dtype bfloat16 or float16")
    out, lse = dense(q, kcache, head_size_v, seqlens_k, block_table, softmax_scale, is_causal)
    return out.to(q.dtype), lse, None, None


def dense_decode_fp8(
    q: Tensor, kcache: Tensor, head_size_v: int, seqlens_k: Tensor, block_table: Tensor,
    softmax_scale: float, is_causal: bool, schedule: Tensor, splits: Tensor,
    descale_q: Tensor, descale_k: Tensor,
) -> list[Tensor]:  # fmt: skip
    check(q.dtype == torch.float8_e4m3fn, "q must have dtype fp8_e4m3fn")
    check(descale_q.shape == descale_k.shape == (1,), "descales are [1]")
    scale = softmax_scale * descale_q.item() * descale_k.item()
    out, lse = dense(q, kcache, head_size_v, seqlens_k, block_table, scale, is_causal)
    return [(out * descale_k.item()).bfloat16(), lse]


def flash_mla() -> FlashMLA:
    made = [torch.zeros(1, 8, dtype=torch.int32), torch.zeros(2, dtype=torch.int32)]
    return FlashMLA(
        "vllm",
        "0.33.0",
        sparse_decode=Operator(sparse_decode, "out"),
        dense_decode=Operator(dense_decode, "out"),
        sparse_prefill=Operator(sparse_prefill, "out"),
        dense_decode_fp8=Operator(dense_decode_fp8),
        dense_fp8_schedule=Operator(lambda seqlens, rows, kv_heads: made),
    )


class Wrapper:
    """BatchMLAPagedAttentionWrapper."""

    def __init__(self, float_workspace_buffer: Tensor, backend: str = "auto") -> None:
        check(backend == "fa3", "on an H200")

    def plan(
        self, *, metadata: Any, num_heads: int, head_dim_ckv: int, head_dim_kpe: int,
        page_size: int, causal: bool, sm_scale: float, q_data_type: torch.dtype,
        kv_data_type: torch.dtype, lse_mode: str = "none", use_sinks: bool = False,
    ) -> None:  # fmt: skip
        if use_sinks:
            raise ValueError("fa3 backend does not support sink inputs.")
        fp8 = kv_data_type == torch.float8_e4m3fn and q_data_type == torch.bfloat16
        if not fp8 and kv_data_type != q_data_type:
            raise ValueError("non-FP8 KV dtype must match query dtype")
        self.tables, self.heads, self.lse_mode = metadata, num_heads, lse_mode
        self.widths, self.page_size = (head_dim_ckv, head_dim_kpe), page_size
        self.causal, self.scale, self.fp8 = causal, sm_scale, fp8
        self.dtypes = (q_data_type, kv_data_type)

    def run(
        self, *, query: Tensor, kv_cache: Tensor, return_lse: bool = False,
        return_lse_base_on_e: bool = False, ckv_scale: float | None = None,
        kpe_scale: float | None = None, sinks: Tensor | None = None,
    ) -> Any:  # fmt: skip
        q_starts, page_starts, pages, lengths = (table.tolist() for table in self.tables)
        check((query.dtype, kv_cache.dtype) == self.dtypes, "planned dtypes")
        check(query.shape[1:] == (self.heads, sum(self.widths)), "query's shape")
        check(kv_cache.shape[1:] == (self.page_size, sum(self.widths)), "kv_cache's shape")
        check(return_lse == (self.lse_mode != "none"), "planned LSE")
        check(self.fp8 == (ckv_scale is not None), "ckv_scale")
        check(ckv_scale == kpe_scale, "one scale a tensor")
        factor = ckv_scale or 1.0
        keys = []
        for i, length in enumerate(lengths):
            own = torch.tensor(pages[page_starts[i] : page_starts[i + 1]], dtype=torch.int32)
            rows = paged(kv_cache, own, length).double() * factor
            count = q_starts[i + 1] - q_starts[i]
            keys += [rows[: length - (count - 1 - j if self.causal else 0)] for j in range(count)]
        out, lse = attend_all(query, keys, self.scale, self.widths[0])
        out = out.to(query.dtype)
        return (out, lse if return_lse_base_on_e else lse / math.log(2)) if return_lse else out


def trtllm_decode(
    query: Tensor, kv_cache: Tensor, workspace_buffer: Tensor, qk_nope_head_dim: int,
    kv_lora_rank: int, qk_rope_head_dim: int, block_tables: Tensor, seq_lens: Tensor,
    max_seq_len: int, sparse_mla_top_k: int = 0, bmm1_scale: float = 1.0, bmm2_scale: float = 1.0,
    sinks: list[Tensor] | None = None, backend: str = "auto", return_lse: bool = False,
    sparse_mla_top_k_lens: Tensor | None = None, return_lse_base: str | None = None,
    kv_scale_format: str = "auto",
) -> Any:  # fmt: skip
    """TensorRT-LLM's kernels, on 10.x."""
    batch, q_len, heads, size = query.shape
    check(query.dtype == kv_cache.dtype, "one dtype")
    check(kv_lora_rank + qk_rope_head_dim == size == kv_cache.shape[3], "head dim")
    check(kv_cache.shape[1] == 1, "[pages, 1, page_size, size]")
    check(qk_rope_head_dim != 0 or sparse_mla_top_k_lens is not None, "rope-free lengths")
    rows, sink = kv_cache[:, 0], None if sinks is None else sinks[0]
    check_ints("seq_lens", seq_lens, batch)
    if sparse_mla_top_k:
        check_ints("block_tables", block_tables, batch, q_len, sparse_mla_top_k)
        rows = rows.reshape(-1, size)
        keys = [chosen(rows, block_tables[i, 0], int(seq_lens[i])) for i in range(batch)]
    else:
        check(block_tables.shape[1] % (128 / rows.shape[1]) == 0, "aligned block_tables")
        check(max_seq_len >= int(seq_lens.max()), "max_seq_len")
        keys = []
        for i in range(batch):
            whole = paged(rows, block_tables[i], int(seq_lens[i]))
            keys += [whole[: len(whole) - (q_len - 1 - j)] for j in range(q_len)]
    out, lse = attend_all(query.flatten(0, 1), keys, bmm1_scale, kv_lora_rank, sink)
    out = (out * bmm2_scale).view(batch, q_len, heads, kv_lora_rank).bfloat16()
    lse = lse if return_lse_base == "basee" else lse / math.log(2)
    return (out, lse) if return_lse else out


def trtllm_dsv4(
    query: Tensor, swa_kv_cache: Tensor, workspace_buffer: Tensor, sparse_indices: Tensor,
    compressed_kv_cache: Tensor, sparse_topk_lens: Tensor, seq_lens: Tensor,
    bmm1_scale: float = 1.0, bmm2_scale: float = 1.0, sinks: Tensor | None = None,
    kv_layout: str = "HND", backend: str = "auto",
    sparse_indices_are_storage_offsets: bool | None = None,
) -> Tensor:  # fmt: skip
    """DeepSeek-V4's pools on 10.x."""
    batch, q_len, _, size = query.shape
    caches = (swa_kv_cache, compressed_kv_cache)
    check(all(cache.dtype == query.dtype for cache in caches), "dtype must match query dtype")
    check(size == 512 and all(c.shape[3] == 512 for c in caches), "head dim 512")
    width = sparse_indices.shape[1]
    check(width >= 128 and width % 4 == 0, "must include the fixed 128 SWA entries")
    check_ints("sparse_indices", sparse_indices, batch * q_len, width)
    check_ints("sparse_topk_lens", sparse_topk_lens, batch * q_len)
    check(bool(((sparse_topk_lens >= 128) & (sparse_topk_lens <= width)).all()), "128 SWA entries")
    for cache in caches:
        apart = cache.stride(0) != cache.shape[2] * size
        check(not apart or sparse_indices_are_storage_offsets is False, "strided pools")
    window, rest = (cache[:, 0].reshape(-1, size) for cache in caches)
    keys = []
    for i, length in enumerate(sparse_topk_lens.tolist()):
        near = chosen(window, sparse_indices[i], 128)
        keys.append(torch.cat((near, chosen(rest, sparse_indices[i, 128:], length - 128))))
    out, _ = attend_all(query[:, 0], keys, bmm1_scale, 512, sinks)
    return (out * bmm2_scale)[:, None].bfloat16()


def flashinfer_mla() -> Any:
    """The module flashinfer.mla."""
    return SimpleNamespace(
        MLAPlanMetadata=SimpleNamespace(csr=lambda *tables: tables),
        BatchMLAPagedAttentionWrapper=Wrapper,
        trtllm_batch_decode_with_kv_cache_mla=trtllm_decode,
        trtllm_batch_decode_sparse_mla_dsv4=trtllm_dsv4,
    )
