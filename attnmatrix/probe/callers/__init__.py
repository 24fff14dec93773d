"""Kernels called one case at a time, below the adapters and their checks.

An adapter refuses what the matrix does not claim; these calls hand a library any case, as an engine
would hand it, and hold what comes back against float64. They run in the probe's worker processes,
which name this module: see `attnmatrix.probe.worker`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from attnmatrix.kernels.providers import HOMES

from ..case import Answer
from . import (
    building,
    expected,
    flash_mla,
    flashinfer,
    flashinfer_sm120,
    flashinfer_trtllm,
    reference,
)
from .caller import NotExpressible, Unavailable, require_expressible
from .compare import compare
from .failure import FatalError, answer_to, require_alive, settle
from .inputs import build

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..case import Case
    from .caller import Caller, Result
    from .inputs import Problem

__all__ = ["CALLERS", "FatalError", "compile_jobs", "examine", "warm"]

_LIBRARIES = (flash_mla, flashinfer, flashinfer_trtllm, flashinfer_sm120, reference)

CALLERS: dict[str, Caller] = {
    kernel: caller for library in _LIBRARIES for kernel, caller in library.CALLERS.items()
}
"""How each kernel is called, by its name in the matrix."""


def examine(case: Case, provider: tuple[str, str], device: str) -> Answer:
    """What a kernel answers to a case, called in this process.

    provider: a distribution and its version. Raises FatalError if the CUDA context is broken, and
    whatever goes wrong outside the library.
    """
    caller = CALLERS.get(case.kernel)
    if caller is None:
        return Answer("untested", None, f"the probe has no call of {case.kernel}")
    try:
        library = caller.load(provider[0])
        require_expressible(caller, case)
        problem = build(case, caller.needs, torch.device(device))
        want = expected.answer(problem)
    except Unavailable as why:
        return Answer("untested", None, str(why))
    except NotExpressible as why:
        return Answer("refused", None, str(why))
    except torch.OutOfMemoryError:
        return Answer("untested", None, "out of memory")
    settle(torch.device(device))  # what goes wrong from here on is the library's
    result = _call(caller, library, problem)
    return result if isinstance(result, Answer) else compare(problem, result, want)


def _call(caller: Caller, library: object, problem: Problem) -> Result | Answer:
    """The library's result, or the answer that its exception makes."""
    device = problem.q.device
    _spoil_free_memory(problem)
    try:
        result = caller.call(library, problem)
        settle(device)
    except NotExpressible as why:
        return Answer("refused", None, str(why))
    except FatalError:
        raise
    except Exception as error:
        require_alive(device)
        return answer_to(error)
    return result


def _spoil_free_memory(problem: Problem) -> None:
    """Leaves NaN where the library will likely allocate, so that what it does not write shows."""
    shape = (*problem.q.shape[:3], problem.value_size)
    for dtype in (torch.bfloat16, torch.float32):
        torch.full(shape, torch.nan, dtype=dtype, device=problem.q.device)


def warm(provider: tuple[str, str]) -> None:
    """Loads what a provider's cases will need, and what the reference needs. Raises what fails."""
    if provider[0] in HOMES:
        flash_mla.load(provider[0])
    elif provider[0] == building.FLASHINFER:
        flashinfer.load(provider[0])
    device = "cuda" if torch.cuda.is_available() else "cpu"
    ones = torch.ones(2, 2, dtype=torch.float64, device=device)
    (ones @ ones).sum().item()


def compile_jobs(cases: Sequence[Case], provider: tuple[str, str]) -> list[Callable[[], None]]:
    """What builds the modules that these cases need, each once; jobs may run side by side."""
    return building.jobs(cases, provider)
