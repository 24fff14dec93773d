"""Calls of FlashMLA's operators, with what engines would hand them and no check of ours before."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from attnmatrix.kernels.flash_mla import SGLANG_NAMES
from attnmatrix.kernels.providers import FlashMLA, Operator, load_flash_mla
from attnmatrix.kernels.softmax import LN2
from attnmatrix.libraries import Absent

from .caller import CALL_HAS_NO, Caller, Needs, NotExpressible, Result, Unavailable
from .inputs import Problem


def load(distribution: str) -> FlashMLA:
    """FlashMLA's operators. Raises Unavailable."""
    found = load_flash_mla(distribution)
    if isinstance(found, Absent):
        raise Unavailable(f"{distribution} {found.reason}")
    return found


def _operator(library: FlashMLA, name: str) -> Operator:
    operator: Operator | None = getattr(library, name)
    if operator is None:
        raise NotExpressible(f"{library} has no {name}")
    return operator


def _last(operator: Operator, problem: Problem) -> tuple[Any, ...]:
    """The argument that some builds have at the end: no output of ours, or the format's name."""
    if operator.last == "kv_format":
        return (SGLANG_NAMES.get(problem.case.kv_format),)
    return (None,) if operator.last == "out" else ()


def _sparse_decode(library: FlashMLA, problem: Problem) -> Result:
    operator = _operator(library, "sparse_decode")
    extra = problem.extra
    out, lse, _, _ = operator.call(
        problem.q,
        problem.pool.rows().unsqueeze(2),
        problem.indices,
        problem.topk_length,
        problem.sink,
        None,
        None,
        None if extra is None else extra.rows().unsqueeze(2),
        problem.extra_indices,
        problem.extra_topk_length,
        problem.value_size,
        problem.score_scale,
        *_last(operator, problem),
    )
    return Result(out, lse)


def _sparse_prefill(library: FlashMLA, problem: Problem) -> Result:
    operator = _operator(library, "sparse_prefill")
    assert problem.indices is not None
    rows = problem.pool.rows()
    if problem.pool.page_size > 1:
        if "strided_pages" in problem.case.features:
            raise NotExpressible(f"{CALL_HAS_NO} pages, and so none for pages apart")
        rows = rows.reshape(-1, 1, rows.shape[2])
    out, _, lse = operator.call(
        problem.q.squeeze(1),
        rows,
        problem.indices,
        problem.score_scale,
        problem.value_size,
        problem.sink,
        problem.topk_length,
        *_last(operator, problem),
    )
    if library.distribution == "sglang-kernel":
        lse = lse * LN2  # which gives it in base 2
    return Result(out.unsqueeze(1), lse.unsqueeze(2))


def _dense_decode(library: FlashMLA, problem: Problem) -> Result:
    operator = _operator(library, "dense_decode")
    out, lse, _, _ = operator.call(
        problem.q,
        problem.pool.rows().unsqueeze(2),
        problem.value_size,
        problem.cache_seqlens,
        problem.block_table,
        problem.score_scale,
        problem.causal,
        None,
        None,
        *_last(operator, problem),
    )
    return Result(out, lse)


def _dense_decode_fp8(library: FlashMLA, problem: Problem) -> Result:
    operator = _operator(library, "dense_decode_fp8")
    make_schedule = _operator(library, "dense_fp8_schedule").call
    _, q_len, heads, _ = problem.q.shape
    schedule = make_schedule(problem.cache_seqlens, q_len * heads, 1)
    scale = problem.pool.tensor_scale
    out, lse = operator.call(
        problem.q,
        problem.pool.rows().unsqueeze(2),
        problem.value_size,
        problem.cache_seqlens,
        problem.block_table,
        problem.softmax_scale,
        problem.causal,
        *schedule,
        _one(problem, problem.q_scale),
        _one(problem, 1.0 if scale is None else scale),
    )
    return Result(out, lse)


def _one(problem: Problem, value: float) -> Tensor:
    return torch.full((1,), value, dtype=torch.float32, device=problem.q.device)


CALLERS = {
    "flash_mla.sparse_decode": Caller(
        load,
        _sparse_decode,
        frozenset({"attention_sink", "topk_length", "extra_kv_pool", "strided_pages", "lse"}),
        sparse=True,
    ),
    "flash_mla.sparse_prefill": Caller(
        load,
        _sparse_prefill,
        frozenset({"attention_sink", "topk_length", "strided_pages", "lse"}),
        sparse=True,
    ),
    "flash_mla.dense_decode": Caller(
        load, _dense_decode, frozenset({"causal", "strided_pages", "lse"}), dense=True
    ),
    "flash_mla.dense_decode_fp8": Caller(
        load,
        _dense_decode_fp8,
        frozenset({"causal", "strided_pages", "lse"}),
        Needs(scales=True),
        dense=True,
    ),
}
