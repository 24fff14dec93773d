"""A kernel's result against float64: right or wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ..case import Answer

if TYPE_CHECKING:
    from .caller import Result
    from .inputs import Problem

BY_OUTPUT = {
    torch.bfloat16: 4e-3,
    torch.float16: 1e-3,
    torch.float32: 1e-4,
    torch.float64: 1e-4,
}
"""Largest relative Frobenius error, by the output's dtype. Rounding it to bfloat16 alone makes
1.7e-3, and rounding the softmax's weights to it, as kernels do for their second product, about as
much; float16 has 8 times the precision. What is read in the wrong place makes 0.1 and more."""

COARSER = {
    # Weights of the softmax rounded to e4m3, with 3 bits, make 2.7e-2 at worst.
    ("flash_mla.dense_decode_fp8", "float8_e4m3fn"): 4e-2,
    ("flashinfer.trtllm_decode", "float8_e4m3fn"): 4e-2,
    ("flashinfer.trtllm_sparse_decode", "float8_e4m3fn"): 4e-2,
    ("flashinfer.sparse_mla_dsv4", "float8_e4m3fn"): 4e-2,
    # Queries rounded to e4m3 as well, and 4-bit records to it.
    ("flashinfer.sparse_mla_sm120", "float8_e4m3fn"): 8e-2,
    ("flashinfer.sparse_mla_sm120", "float4_e2m1fn"): 8e-2,
    ("flashinfer.sparse_mla_sm120_prefill", "float8_e4m3fn"): 8e-2,
    ("flashinfer.sparse_mla_sm120_prefill", "float4_e2m1fn"): 8e-2,
}
"""Limits of kernels that compute in fewer bits than their output has, by what records store."""

LSE_LIMIT = 4e-3
"""Largest difference of an LSE, relative to it where it is above 1."""


def limit_for(problem: Problem, dtype: torch.dtype) -> float:
    """The largest error that counts as right, of an output of this dtype."""
    coarse = COARSER.get((problem.case.kernel, problem.pool.fmt.values[0].dtype), 0.0)
    return max(BY_OUTPUT.get(dtype, BY_OUTPUT[torch.bfloat16]), coarse)


def compare(problem: Problem, got: Result, want: tuple[Tensor, Tensor] | None) -> Answer:
    """The answer that a result makes; want is None where the problem means nothing."""
    if want is None:
        return Answer("wrong", None, "accepted, though the two pools' records differ in width")
    out, lse = want
    if got.out.shape != out.shape:
        return _wrong(f"an output of shape {list(got.out.shape)} in place of {list(out.shape)}")
    values = got.out.double()
    unwritten = 1 - values.isfinite().double().mean().item()
    if unwritten:
        return _wrong(f"{max(unwritten, 1e-3):.1%} of the output is NaN or infinite")
    error = ((values - out).norm() / out.norm()).item()
    limit = limit_for(problem, got.out.dtype)
    if not error <= limit:
        return _wrong(f"relative error {error:.1e}, more than {limit:.0e}", error)
    if problem.wants_lse:
        return _with_lse(problem, got, lse, error)
    return Answer("right", error)


def _with_lse(problem: Problem, got: Result, want: Tensor, error: float) -> Answer:
    if got.lse is None:
        return Answer("refused", None, "the library's call returns no LSE")
    if got.lse_has_sink and problem.sink is not None:
        want = torch.logaddexp(want, problem.sink[:, None])
    if got.lse.shape != want.shape:
        return _wrong(
            f"an LSE of shape {list(got.lse.shape)} in place of {list(want.shape)}", error
        )
    difference = ((got.lse - want).abs() / want.abs().clamp_min(1.0)).max().item()
    if not difference <= LSE_LIMIT:
        return _wrong(f"the LSE is off by {difference:.1e}, more than {LSE_LIMIT:.0e}", error)
    return Answer("right", error)


def _wrong(words: str, error: float | None = None) -> Answer:
    return Answer("wrong", error, words)
