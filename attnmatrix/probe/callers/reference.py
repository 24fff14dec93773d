"""The call of the reference kernel, in float32: what can be probed where there is no GPU."""

from __future__ import annotations

import torch

from attnmatrix.kernels.errors import KernelError

from .caller import Caller, Needs, Result
from .expected import run_reference
from .inputs import Problem


def _load(distribution: str) -> None:
    """Nothing: it comes with us."""


def _decode(library: None, problem: Problem) -> Result:
    try:
        return Result(*run_reference(problem, problem.q, torch.float32))
    except KernelError as error:  # here it is the kernel's own word
        raise ValueError(str(error)) from error


CALLERS = {
    "reference.decode": Caller(
        _load,
        _decode,
        frozenset(
            {"attention_sink", "topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"}
        ),
        Needs(scales=True),
        sparse=True,
        dense=True,
    ),
}
