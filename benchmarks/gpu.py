"""Adapters beside the bare calls that they make, on a GPU: time there, time on the host, kernels.

    python benchmarks/gpu.py [--quick] [--out FOLDER]

writes gpu.json, gpu.md and gpu.svg to the folder (benchmarks/). Both sides run in turn, in one
process, on the same tensors.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import torch
from triton.testing import do_bench

from attnmatrix import get_kv_format
from attnmatrix.kernels import kv_cache

if __package__:
    from . import gpu_report
    from .gpu_cases import VARIANTS, Case, cases
else:
    import gpu_report
    from gpu_cases import VARIANTS, Case, cases

if TYPE_CHECKING:
    from collections.abc import Callable

WRITER_TOKENS = 1 << 16


def gpu_times(
    runs: dict[str, Callable[[int], Any]],
    loops: int,
    rounds: int,
    begin: Callable[[], Any] = lambda: None,
) -> dict[str, list[float]]:
    """Seconds of one run on the GPU, a number a round, from graphs of `loops` runs in turn."""
    graphs = {}
    for name, run in runs.items():
        run(0)
        torch.cuda.synchronize()
        graphs[name] = torch.cuda.CUDAGraph()
        begin()
        with torch.cuda.graph(graphs[name]):
            for i in range(loops):
                run(i % VARIANTS)
    times: dict[str, list[float]] = {name: [] for name in runs}
    for number in range(rounds + 2):
        for name, graph in _in_turn(graphs, number):
            start = torch.cuda.Event(enable_timing=True)
            end = torch.cuda.Event(enable_timing=True)
            start.record()
            graph.replay()
            end.record()
            torch.cuda.synchronize()
            if number > 1:
                times[name].append(start.elapsed_time(end) / loops / 1e3)
    return times


def host_times(
    runs: dict[str, Callable[[int], Any]], loops: int, rounds: int
) -> dict[str, list[float]]:
    """Seconds that one run keeps the host, a number a round, the sides in turn."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for number in range(rounds + 1):
        for name, run in _in_turn(runs, number):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for i in range(loops):
                run(i % VARIANTS)
            spent = (time.perf_counter() - start) / loops
            torch.cuda.synchronize()
            if number:
                times[name].append(spent)
    return times


def _in_turn(sides: dict[str, Any], number: int) -> list[tuple[str, Any]]:
    """The sides, in the other order at every other round."""
    return list(sides.items())[:: -1 if number % 2 else 1]


def kernel_count(run: Callable[[int], Any]) -> int:
    """Kernels and copies that one run puts on the GPU, as the profiler counts them."""
    run(0)
    torch.cuda.synchronize()
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        run(0)
        torch.cuda.synchronize()
    kind = torch.autograd.DeviceType.CUDA
    return sum(event.device_type == kind for event in profile.events())


def measure(case: Case, quick: bool) -> dict[str, Any]:
    """One case's numbers."""
    runs = {"ours": case.ours, "bare": case.bare}
    once = median(gpu_times({"bare": case.bare}, 4, 3, case.begin)["bare"])
    loops = max(4, min(40, int(4e-3 / once)))
    gpu = gpu_times(runs, loops, 5 if quick else 41, case.begin)
    case.begin()
    # Few enough that the queue to the GPU does not fill and hold the host up.
    host = host_times(runs, 50, 5 if quick else 31)
    pairs = list(zip(gpu["ours"], gpu["bare"], strict=True))
    waits = list(zip(host["ours"], host["bare"], strict=True))
    ours = median(gpu["ours"])
    return {
        "kernel": case.kernel,
        "kv_format": case.kv_format,
        "shape": case.shape,
        "gpu_us": {name: 1e6 * median(found) for name, found in gpu.items()},
        "gpu_ratio": median([ours / bare for ours, bare in pairs]),
        "host_us": {name: 1e6 * median(found) for name, found in host.items()},
        "host_us_more": 1e6 * median([ours - bare for ours, bare in waits]),
        "kernels": {name: kernel_count(run) for name, run in runs.items()},
        "tflops": case.flops / ours / 1e12,
        "gbps": case.bytes / ours / 1e9,
    }


def ceilings() -> dict[str, float]:
    """The chip's copy bandwidth (read and written, GB/s) and bf16 matrix rate (TFLOP/s)."""
    source = torch.empty(2 << 30, dtype=torch.uint8, device="cuda").random_(0, 256)
    target = torch.empty_like(source)
    copy = do_bench(lambda: target.copy_(source), return_mode="median") / 1e3
    a, b = (torch.randn(8192, 8192, device="cuda").bfloat16() for _ in range(2))
    c = torch.empty_like(a)
    product = do_bench(lambda: torch.mm(a, b, out=c), return_mode="median") / 1e3
    return {"gbps": 2 * source.numel() / copy / 1e9, "tflops": 2 * 8192**3 / product / 1e12}


def writers(bandwidth: float) -> list[dict[str, Any]]:
    """KV-cache writing of 64k tokens, pages in random order: time over that of moving its bytes."""
    found = []
    for name in ("ds_mla_v32", "ds_mla_v4", "bf16_576", "bf16_512", "e4m3_576"):
        fmt = get_kv_format(name)
        sets = []
        for _ in range(VARIANTS):
            kv = torch.randn(WRITER_TOKENS, fmt.head_size, device="cuda").bfloat16()
            pages = torch.randperm(WRITER_TOKENS // 64, device="cuda")
            slots = (pages[:, None] * 64 + torch.arange(64, device="cuda")).view(-1)
            sets.append((kv_cache.empty(fmt, WRITER_TOKENS // 64, 64, "cuda"), kv, slots))

        def run(i: int, fmt: Any = fmt, sets: Any = sets) -> None:
            cache, kv, slots = sets[i]
            kv_cache.write(fmt, cache, kv, slots, page_size=64)

        seconds = median(gpu_times({"write": run}, 8, 25)["write"])
        moved = WRITER_TOKENS * (2 * fmt.head_size + fmt.bytes_per_token + 8)
        floor = moved / bandwidth / 1e9
        found.append({"kv_format": name, "us": 1e6 * seconds, "ratio": seconds / floor})
    return found


def main() -> None:
    """Measure and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    options = parser.parse_args()
    top = ceilings()
    report: dict[str, Any] = {
        "gpu": torch.cuda.get_device_name(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "providers": gpu_report.providers(),
        "command": "python benchmarks/gpu.py" + (" --quick" if options.quick else ""),
        "ceilings": top,
        "writers": writers(top["gbps"]),
        "cases": [],
    }
    for case in cases():
        report["cases"].append(measure(case, options.quick))
        last = report["cases"][-1]
        print(last["kernel"], last["kv_format"], last["shape"], last["gpu_us"], last["host_us"])
        (options.out / "gpu.json").write_text(json.dumps(report, indent=1) + "\n")
    (options.out / "gpu.md").write_text(gpu_report.markdown(report))
    (options.out / "gpu.svg").write_text(gpu_report.svg(report))


if __name__ == "__main__":
    main()
