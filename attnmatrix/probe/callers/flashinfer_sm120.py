"""Calls of FlashInfer's functions for packed records on 12.x."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from attnmatrix.kernels.flashinfer_sm120 import DSV4_NAMES
from attnmatrix.kernels.softmax import LN2

from .arguments import call_with
from .caller import CALL_HAS_NO, Caller, Needs, NotExpressible, Result
from .flashinfer import lengths_or_full, load, workspace
from .inputs import Problem
from .pools import Pool

PREFILL_TOKENS = 80
"""Query tokens of a call that the library gives to its prefill kernel: more than 64."""


def _packed(mla: Any, problem: Problem) -> Result:
    """V4 and V4.1 records have a function of their own; what is none of either tries by width."""
    extra = None if problem.extra is None else problem.extra.fmt.name
    name = DSV4_NAMES.get((problem.pool.fmt.name, extra))
    if name is not None:
        return _dsv4(mla, problem, name)
    if problem.case.head_size == 576 or _is_rope_free(problem):
        return _v32(mla, problem)
    return _dsv4(mla, problem, "fp8")


def _dsv4(mla: Any, problem: Problem, name: str) -> Result:
    arguments: dict[str, Any] = {
        "query": problem.q,
        "swa_kv_cache": problem.pool.rows().unsqueeze(2),
        "workspace_buffer": workspace(problem.q.device),
        "sparse_indices": _named(name, problem.pool, problem.indices),
        "swa_topk_lens": _lengths(problem, problem.indices, problem.topk_length),
        "bmm1_scale": problem.score_scale,
        "kv_layout": "NHD",
        "backend": "sparse",
    }
    if problem.extra is not None:
        arguments |= {
            "compressed_kv_cache": problem.extra.rows().unsqueeze(2),
            "extra_sparse_indices": _named(name, problem.extra, problem.extra_indices),
            "extra_sparse_topk_lens": _lengths(
                problem, problem.extra_indices, problem.extra_topk_length
            ),
        }
    if problem.sink is not None:
        arguments["sinks"] = problem.sink
    if name != "fp8":
        arguments["kv_cache_format"] = name
    return Result(call_with(mla.trtllm_batch_decode_sparse_mla_dsv4, **arguments))


def _v32(mla: Any, problem: Problem) -> Result:
    if problem.extra is not None:
        raise NotExpressible(f"{CALL_HAS_NO} an extra KV pool of V3.2 records")
    assert problem.indices is not None
    batch, q_len, heads, _ = problem.q.shape
    topk = problem.indices.shape[2]
    arguments: dict[str, Any] = {
        "query": problem.q,
        "kv_cache": problem.pool.rows().unsqueeze(1),
        "workspace_buffer": workspace(problem.q.device),
        "qk_nope_head_dim": 128,
        "kv_lora_rank": problem.value_size,
        "qk_rope_head_dim": problem.case.head_size - problem.value_size,
        "block_tables": problem.indices,
        "seq_lens": _lengths(problem, problem.indices, problem.topk_length),
        "max_seq_len": topk,
        "sparse_mla_top_k": topk,
        "bmm1_scale": problem.score_scale,
        "backend": "sparse",
        "kv_scale_format": "arbitrary_fp32" if _is_rope_free(problem) else "auto",
    }
    if problem.wants_lse:
        arguments["return_lse"] = True
    if problem.sink is not None:
        arguments["sinks"] = [problem.sink]
    found = call_with(mla.trtllm_batch_decode_with_kv_cache_mla, **arguments)
    if not problem.wants_lse:
        return Result(found)
    out, lse = found
    return Result(out, (lse * LN2).view(batch, q_len, heads).mT, lse_has_sink=True)


def _named(name: str, pool: Pool, indices: Tensor | None) -> Tensor:
    """Slots as the library numbers them: of records with scales inside, rows of the whole cache."""
    assert indices is not None
    if "inline" not in name:
        return indices
    rows_a_page = pool.cache.stride(0) // pool.fmt.bytes_per_token
    moved = indices // pool.page_size * rows_a_page + indices % pool.page_size
    return moved.where(indices >= 0, indices)


def _is_rope_free(problem: Problem) -> bool:
    return problem.pool.fmt.name.startswith("ds_mla_v32_nope")


def _lengths(problem: Problem, indices: Tensor | None, given: Tensor | None) -> Tensor:
    """One length a query."""
    assert indices is not None
    return lengths_or_full(problem, given, indices.shape[2])


_FEATURES = frozenset({"attention_sink", "topk_length", "extra_kv_pool", "strided_pages", "lse"})

CALLERS = {
    "flashinfer.sparse_mla_sm120": Caller(load, _packed, _FEATURES, sparse=True),
    "flashinfer.sparse_mla_sm120_prefill": Caller(
        load, _packed, _FEATURES, Needs(batch=PREFILL_TOKENS), sparse=True
    ),
}
