"""Modules that FlashInfer compiles at their first use: built before the cases' time begins."""

from __future__ import annotations

import contextlib
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import torch

from attnmatrix.kernels.rows import capability_of
from attnmatrix.registry import get_kv_format

from .caller import NotExpressible
from .failure import answer_to
from .flashinfer import CALLERS, load, plan_batch_mla
from .inputs import build

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..case import Case

FLASHINFER = "flashinfer-python"

_GENERATORS = {
    10: ("flashinfer.jit.attention.modules", "gen_trtllm_gen_fmha_module"),
    12: ("flashinfer.jit.mla", "gen_sparse_mla_sm120_module"),
}
"""By major compute capability: what generates the one module of its kernels."""


def jobs(cases: Iterable[Case], provider: tuple[str, str]) -> list[Callable[[], None]]:
    """What builds the modules of FlashInfer's cases; jobs may run side by side, on a GPU alone."""
    if provider[0] != FLASHINFER or not torch.cuda.is_available():
        return []
    device = torch.device("cuda")
    found: dict[Any, Callable[[], None]] = {}
    major = capability_of(device)[0]
    for case in cases:
        if case.kernel in CALLERS:
            plain = case._replace(features=(), extra_kv_format=None, page_size=64, query_heads=64)
            key = (case.dtype, get_kv_format(case.kv_format))
            found.setdefault(key, partial(_build_batch_mla, plain, device))
        elif major in _GENERATORS:
            found.setdefault(major, partial(_generate, *_GENERATORS[major]))
    return list(found.values())


def _build_batch_mla(case: Case, device: torch.device) -> None:
    """Plans a case: that builds its module, or refuses it."""
    problem = build(case, CALLERS[case.kernel].needs, device)
    try:
        plan_batch_mla(load(FLASHINFER), problem)
    except NotExpressible:
        return
    except Exception as error:
        if answer_to(error).outcome != "refused":
            raise


def _generate(module: str, name: str) -> None:
    with contextlib.suppress(ImportError, AttributeError):  # another release: its cases will build
        getattr(import_module(module), name)().build_and_load()
