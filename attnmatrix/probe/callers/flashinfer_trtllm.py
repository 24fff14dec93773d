"""Calls of FlashInfer's functions for 10.x: dense, by indices, and DeepSeek-V4's two pools."""

from __future__ import annotations

from typing import Any

import torch

from attnmatrix.kernels.flashinfer_dsv4 import WINDOW
from attnmatrix.kernels.rows import capability_of
from attnmatrix.kernels.softmax import LN2

from .arguments import call_with, has_argument
from .caller import Caller, Needs, NotExpressible, Result
from .flashinfer import lengths_or_full, load, workspace
from .inputs import Problem

BLOCK_TOKENS = 128
"""Block tables are as wide as a multiple of so many tokens."""


def _decode(mla: Any, problem: Problem) -> Result:
    """Both kernels: the function chooses by the GPU, and whether there are indices."""
    if capability_of(problem.q.device)[0] == 12:
        raise NotExpressible("on 12.x the library's call runs other kernels, made for that GPU")
    function = mla.trtllm_batch_decode_with_kv_cache_mla
    batch, q_len, heads, _ = problem.q.shape
    scale = problem.pool.tensor_scale or 1.0
    width = problem.value_size
    arguments: dict[str, Any] = {
        "query": problem.q,
        "kv_cache": problem.pool.rows().unsqueeze(1),
        "workspace_buffer": workspace(problem.q.device),
        "qk_nope_head_dim": 128,
        "kv_lora_rank": width,
        "qk_rope_head_dim": problem.pool.fmt.head_size - width,
        "bmm1_scale": problem.score_scale * scale,
        "bmm2_scale": scale,
        **(_by_indices(problem) if problem.indices is not None else _by_pages(problem)),
    }
    if problem.sink is not None:
        arguments["sinks"] = [problem.sink]
    natural = problem.wants_lse and has_argument(function, "return_lse_base")
    if natural:
        arguments["return_lse_base"] = "basee"
    if problem.wants_lse:
        arguments["return_lse"] = True
    found = call_with(function, **arguments)
    out, lse = found if problem.wants_lse else (found, None)
    if lse is not None:
        lse = (lse if natural else lse * LN2).view(batch, q_len, heads).mT
    return Result(out, lse)


def _by_pages(problem: Problem) -> dict[str, Any]:
    table, lengths = problem.block_table, problem.cache_seqlens
    assert table is not None
    assert lengths is not None
    unit = max(1, BLOCK_TOKENS // problem.pool.page_size)
    table = torch.nn.functional.pad(table, (0, -table.shape[1] % unit))
    return {"block_tables": table, "seq_lens": lengths, "max_seq_len": int(lengths.max())}


def _by_indices(problem: Problem) -> dict[str, Any]:
    assert problem.indices is not None
    topk = problem.indices.shape[2]
    lengths = lengths_or_full(problem, problem.topk_length, topk)
    found = {
        "block_tables": problem.indices,
        "seq_lens": lengths,
        "max_seq_len": topk,
        "sparse_mla_top_k": topk,
    }
    if problem.value_size == problem.pool.fmt.head_size:  # rope-free models name them once more
        found["sparse_mla_top_k_lens"] = lengths
    return found


def _dsv4(mla: Any, problem: Problem) -> Result:
    """The window's indices come first in one table. Without an extra pool, one cache is both."""
    assert problem.indices is not None
    table = problem.indices.flatten(0, 1)
    lengths = lengths_or_full(problem, problem.topk_length, table.shape[1])
    extra = problem.extra or problem.pool
    if problem.extra_indices is not None:
        lengths = table.shape[1] + lengths_or_full(
            problem, problem.extra_topk_length, problem.extra_indices.shape[2]
        )
        table = torch.cat((table, problem.extra_indices.flatten(0, 1)), 1)
    scale = problem.pool.tensor_scale or 1.0
    apart = "strided_pages" in problem.case.features
    arguments: dict[str, Any] = {
        "query": problem.q,
        "swa_kv_cache": problem.pool.rows().unsqueeze(1),
        "compressed_kv_cache": extra.rows().unsqueeze(1),
        "workspace_buffer": workspace(problem.q.device),
        "sparse_indices": table,
        "sparse_topk_lens": lengths.int(),
        # The whole window lies in the sequence.
        "seq_lens": lengths_or_full(problem, None, 1 << 20),
        "bmm1_scale": problem.score_scale * scale,
        "bmm2_scale": scale,
        "kv_layout": "HND",
        "backend": "trtllm-gen",
    }
    if apart:
        arguments["sparse_indices_are_storage_offsets"] = False
    if problem.sink is not None:
        arguments["sinks"] = problem.sink
    return Result(call_with(mla.trtllm_batch_decode_sparse_mla_dsv4, **arguments))


_FEATURES = frozenset({"attention_sink", "strided_pages", "lse"})

CALLERS = {
    "flashinfer.trtllm_decode": Caller(
        load, _decode, _FEATURES | {"causal"}, Needs(scales=True), dense=True
    ),
    "flashinfer.trtllm_sparse_decode": Caller(
        load, _decode, _FEATURES | {"topk_length"}, Needs(masks=False, scales=True), sparse=True
    ),
    "flashinfer.sparse_mla_dsv4": Caller(
        load,
        _dsv4,
        _FEATURES | {"topk_length", "extra_kv_pool"},
        Needs(scales=True, shortest=WINDOW, window=WINDOW),
        sparse=True,
    ),
}
