"""Verdict and selection, in process."""

from __future__ import annotations

from typing import Any

import attnmatrix
from attnmatrix import Request
from attnmatrix.selection import candidate_backends, select
from attnmatrix.verdict import judge

ACCEPTED = Request(
    compute_capability="9.0",
    dtype="bfloat16",
    kv_cache_dtype="fp8",
    head_size=512,
    block_size=256,
    query_heads=64,
    mla=True,
    sparse=True,
    sink=True,
)
REFUSED = ACCEPTED.replace(kv_cache_dtype="bfloat16", head_size=576, block_size=100)
SEVEN = Request(compute_capability="10.0", dtype="bfloat16", head_size=576, mla=True, sparse=True)


def timed(benchmark: Any, function: Any, *arguments: Any) -> Any:
    return benchmark.pedantic(function, arguments, iterations=2000, rounds=40, warmup_rounds=2)


def bench_accepted(benchmark: Any) -> None:
    """verdict for one backend, accepted"""
    backend = attnmatrix.get_backend("FLASHMLA_SPARSE_DSV4")
    assert timed(benchmark, judge, backend, ACCEPTED).status == "supported"


def bench_refused(benchmark: Any) -> None:
    """verdict for one backend, refused for three reasons"""
    backend = attnmatrix.get_backend("FLASHMLA_SPARSE_DSV4")
    assert len(timed(benchmark, lambda: judge(backend, REFUSED).reasons)) == 3


def bench_select(benchmark: Any) -> None:
    """select over 7 candidates"""
    assert len(candidate_backends(SEVEN)) == 7
    assert timed(benchmark, select, SEVEN).selected.name == "FLASHMLA_SPARSE"
