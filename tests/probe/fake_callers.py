"""A kernel library that is not there: it behaves as the built-in matrix says, or as a test bids.

A file named by FAKE_LIBRARY holds a list of [axes, behaviour]: the first whose axes a case has, all
of them, decides. It runs in the probe's worker processes, and can end them.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from attnmatrix.probe.case import Answer, Case
from attnmatrix.probe.claims import load_claims
from attnmatrix.rows import Call, judge
from attnmatrix.standings import excepted

H200 = (9, 0)
_claims = cache(load_claims)  # the built-in matrix changes with the code alone


class FatalError(RuntimeError):
    """What a CUDA error becomes: the process is of no further use."""


def bidden() -> dict[str, Any]:
    """What the test wrote for this run."""
    file = os.environ.get("FAKE_LIBRARY")
    return json.loads(Path(file).read_text()) if file else {}


def examine(case: Case, provider: tuple[str, str], device: str) -> Answer:
    """Answers as the matrix says, unless the test bids otherwise."""
    bids = bidden()
    _note(bids, f"try {case.key()}")
    for axes, behaviour in bids.get("rules", []):
        has = case.axes() | {"kernel": case.kernel}
        if all(has[axis] == value for axis, value in axes.items()):
            return BEHAVIOURS[behaviour](case)
    time.sleep(bids.get("seconds", 0))
    call: Call = case.call(H200, provider)
    claims = _claims(case.kernel)
    if judge(claims.rows, call).row is not None or excepted(claims.exceptions, call) is not None:
        return right(case)
    return Answer("refused", None, "fake: not built for this")


def warm(provider: tuple[str, str]) -> None:
    """Loads as long, and ends as, the test bids."""
    bids = bidden()
    _note(bids, f"load {provider[0]}")
    time.sleep(bids.get("load_seconds", 0))
    if provider[0] in bids.get("load_fails", []):
        raise ImportError("undefined symbol")
    if provider[0] in bids.get("load_aborts", []):
        os.abort()


def compile_jobs(cases: Sequence[Case], provider: tuple[str, str]) -> list[Callable[[], None]]:
    """One job a kernel; those that the test names fail, or end the process."""
    bids = bidden()

    def build(kernel: str) -> Callable[[], None]:
        def job() -> None:
            _note(bids, f"build {kernel}")
            if kernel in bids.get("builds_fail", []):
                raise RuntimeError(f"nvcc does not know {kernel}")
            if kernel in bids.get("builds_abort", []):
                os.abort()

        return job

    return [build(kernel) for kernel in dict.fromkeys(case.kernel for case in cases)]


def _note(bids: dict[str, Any], line: str) -> None:
    if "log" in bids:
        with Path(bids["log"]).open("a") as log:
            log.write(f"{os.getpid()} {line}\n")


def right(case: Case) -> Answer:
    return Answer("right", 0.00123456, None)


def wrong(case: Case) -> Answer:
    return Answer("wrong", 1.0, "larger than 4.0e-03")


def not_a_number(case: Case) -> Answer:
    return Answer("wrong", float("nan"), None)


def refused(case: Case) -> Answer:
    return Answer(
        "refused", None, "RuntimeError: key must have dtype fp8_e4m3fn\nat 0x7f00deadbeef"
    )


def untested(case: Case) -> Answer:
    return Answer("untested", None, "ImportError: undefined symbol")


def out_of_memory(case: Case) -> Answer:
    raise MemoryError


def fault(case: Case) -> Answer:
    raise IndexError("a mistake of the probe's own")


def fatal(case: Case) -> Answer:
    raise FatalError("CUDA error: an illegal memory access was encountered")


def hang(case: Case) -> Answer:
    print("waiting for a barrier", flush=True)
    time.sleep(3600)
    return right(case)


def hang_deaf(case: Case) -> Answer:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(3600)


def abort(case: Case) -> Answer:
    print("Assertion failed: k_block_size == 64", file=sys.stderr, flush=True)
    os.abort()


def leave(case: Case) -> Answer:
    os._exit(3)


def leave_politely(case: Case) -> Answer:
    sys.exit(0)


def segfault(case: Case) -> Answer:
    ctypes.string_at(0)
    return right(case)


def close_everything(case: Case) -> Answer:
    os.closerange(3, 256)
    time.sleep(3600)
    return right(case)


def orphan(case: Case) -> Answer:
    if os.fork() == 0:  # what keeps all pipes open while its parent is gone
        time.sleep(3600)
    os._exit(4)


def chatter(case: Case) -> Answer:
    os.write(1, b"\xff\x00 not JSON\n" * 10_000)
    return right(case)


BEHAVIOURS: dict[str, Callable[[Case], Answer]] = {
    each.__name__: each
    for each in (
        right,
        wrong,
        not_a_number,
        refused,
        untested,
        out_of_memory,
        fault,
        fatal,
        hang,
        hang_deaf,
        abort,
        leave,
        leave_politely,
        segfault,
        close_everything,
        orphan,
        chatter,
    )
}
