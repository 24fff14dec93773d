"""A process that tries cases: started as `python -m attnmatrix.probe.worker FD CALLERS DEVICE`.

Requests come as lines of JSON on its input, answers leave as lines on the pipe FD. A case may end
this process, or hang it; whoever started it knows what it was asked last.

CALLERS names a module with `examine(case, provider, device) -> Answer`, `warm(provider)` to load a
library before the first case's time begins, `compile_jobs(cases, provider) -> callables`, and the
exception `FatalError`, after which the process is of no further use. provider: a distribution and
its version.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

from .case import Answer, Case


def main() -> None:
    """Answers requests until the input ends."""
    number, callers_name, device = sys.argv[1:]
    _die_with_parent()
    os.set_inheritable(int(number), False)
    answers = os.fdopen(int(number), "w", encoding="utf-8")

    def send(data: dict[str, Any]) -> None:
        answers.write(json.dumps(data) + "\n")
        answers.flush()

    try:
        callers = import_module(callers_name)
        if device.startswith("cuda"):
            _touch(device)
    except Exception as error:
        send({"failed": _words(error)})
        return
    send({"ready": True})
    met = set()
    for line in sys.stdin:
        request = json.loads(line)
        provider = (request["provider"][0], request["provider"][1])
        if "compile" in request:
            cases = [Case.of(kernel, axes) for kernel, axes in request["compile"]]
            send({"compiled": _compile(callers, cases, provider)})
            continue
        if provider not in met:
            met.add(provider)
            with contextlib.suppress(Exception):  # the case will tell why it is untested
                callers.warm(provider)
        send({"begun": True})
        answer = _examine(callers, Case.of(*request["case"]), provider, device)
        send({"answer": answer})


def _examine(callers: Any, case: Case, provider: tuple[str, str], device: str) -> Answer:
    try:
        outcome, error, message = callers.examine(case, provider, device)
    except callers.FatalError as fatal:
        return Answer("crashed", None, str(fatal) or type(fatal).__name__)
    except MemoryError:
        return Answer("untested", None, "out of memory")
    except Exception as fault:  # ours, not the library's: it says nothing about the library
        return Answer("untested", None, f"the probe failed: {_words(fault)}")
    if error is not None and not math.isfinite(error):
        return Answer(outcome, None, message or "the answer holds NaN or infinity")
    return Answer(outcome, error, message)


def _compile(callers: Any, cases: list[Case], provider: tuple[str, str]) -> list[str]:
    """Builds what the cases need, side by side; returns what went wrong."""
    try:
        jobs = callers.compile_jobs(cases, provider)
    except Exception as error:  # the cases will tell, each for itself
        return [_words(error)]
    if not jobs:
        return []
    with ThreadPoolExecutor(min(len(jobs), os.cpu_count() or 1)) as threads:
        done = [threads.submit(job) for job in jobs]
        errors = [future.exception() for future in done]
    return [_words(error) for error in errors if error is not None]


def _touch(device: str) -> None:
    """Uses the GPU, so that a lost one is not taken for a fault of the first case."""
    import torch

    torch.zeros(1, device=device).add_(1)
    torch.cuda.synchronize()


def _die_with_parent() -> None:
    """Has the kernel end this process when the probe ends in any way, where it can do so."""
    try:
        import ctypes
        import signal

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    except (ImportError, OSError, AttributeError):  # no Linux: it ends with its input
        pass


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


if __name__ == "__main__":
    main()
