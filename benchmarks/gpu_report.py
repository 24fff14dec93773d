"""The GPU benchmark's numbers as Markdown and as a plot."""

from __future__ import annotations

from importlib import metadata
from typing import Any

WIDTH, HEIGHT, LEFT, TOP = 720, 420, 70, 30
COLOURS = {
    "flash_mla.sparse_decode": "#1b6ca8",
    "flash_mla.dense_decode": "#d1603d",
    "flashinfer.batch_mla": "#3a7d44",
}


def providers() -> dict[str, str]:
    """Versions of the distributions that the adapters call."""
    found = {}
    for name in ("vllm", "sglang-kernel", "flash-mla", "flashinfer-python", "triton"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def markdown(report: dict[str, Any]) -> str:
    """The tables, goals beside them."""
    cases = report["cases"]
    top = report["ceilings"]
    gpu = [c["gpu_ratio"] for c in cases]
    host = [c["host_us_more"] for c in cases]
    more = [c["kernels"]["ours"] - c["kernels"]["bare"] for c in cases]
    versions = ", ".join(f"{name} {version}" for name, version in report["providers"].items())
    lines = [
        "# GPU benchmark",
        "",
        f"Written by `{report['command']}` on one {report['gpu']}: CUDA {report['cuda']}, "
        f"torch {report['torch']}, Python {report['python']}, {versions}.",
        f"Ceilings measured in the same run: {top['gbps']:.0f} GB/s (a copy, bytes read and "
        f"written), {top['tflops']:.0f} TFLOP/s (bf16, 8192 x 8192 x 8192).",
        "",
        f"| Adapter against the bare call, {len(cases)} cases | Median | Worst | Within the goal "
        "| Goal |",
        "|---|---|---|---|---|",
        _goal("GPU time, ratio", gpu, 1.01, 3),
        _goal("host time, µs more", host, 3, 2),
        _goal("GPU kernels more", more, 0, 0),
        "",
        "Host time follows the machine's processor: here the bare calls take a median of "
        + ", ".join(f"{value:.0f} µs ({name})" for name, value in _bare(cases).items())
        + ".",
        "",
        "![Rate by intensity](gpu.svg)",
        "",
        "| Writing 64k tokens | µs | Time over that of moving the bytes | Goal |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {w['kv_format']} | {w['us']:.1f} | {w['ratio']:.2f} | ≤ 1.25 |"
        for w in report["writers"]
    ]
    lines += [
        "",
        "| Kernel | KV format | Shape | GPU µs | Ratio | Host µs | More | Kernels | TFLOP/s "
        "| GB/s |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for c in cases:
        lines.append(
            f"| {c['kernel']} | {c['kv_format']} | {c['shape']} | {c['gpu_us']['ours']:.1f} | "
            f"{c['gpu_ratio']:.3f} | {c['host_us']['ours']:.1f} | {c['host_us_more']:.1f} | "
            f"{c['kernels']['ours']} | {c['tflops']:.0f} | {c['gbps']:.0f} |"
        )
    notes = [
        "",
        "Shapes are batch x query heads, one query token a sequence. Bytes are those of the rows "
        "that queries select, counted once a query, and of q and out: where queries share rows, "
        "caches serve some of them. The bare call is the library's operator (FlashMLA) or its "
        "wrapper's `run` (FlashInfer), with `out` given. Ratios and differences are medians over "
        "pairs of runs, one of each side in turn.",
    ]
    return "\n".join(lines + notes) + "\n"


def _bare(cases: list[dict[str, Any]]) -> dict[str, float]:
    """Each kernel's median host time of a bare call."""
    found: dict[str, list[float]] = {}
    for case in cases:
        found.setdefault(case["kernel"], []).append(case["host_us"]["bare"])
    return {name: _median(values) for name, values in found.items()}


def _goal(name: str, values: list[float], goal: float, digits: int) -> str:
    middle, worst = (f"{value:.{digits}f}" for value in (_median(values), max(values)))
    within = sum(value <= goal for value in values)
    return f"| {name} | {middle} | {worst} | {within} | ≤ {goal} |"


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def svg(report: dict[str, Any]) -> str:
    """Achieved rate against FLOP per byte, both logarithmic, under the two ceilings."""
    from math import log10

    top = report["ceilings"]
    low_x, high_x, low_y, high_y = 1.0, 3.2, -0.5, 3.2

    def place(x: float, y: float) -> str:
        across = LEFT + (x - low_x) / (high_x - low_x) * (WIDTH - LEFT - 20)
        down = TOP + (high_y - y) / (high_y - low_y) * (HEIGHT - TOP - 50)
        return f"{across:.1f},{down:.1f}"

    def roof(x: float) -> float:
        return min(log10(top["tflops"]), x + log10(top["gbps"] / 1e3))

    knee = log10(top["tflops"] / top["gbps"] * 1e3)
    corners = " ".join(place(x, roof(x)) for x in (low_x, knee, high_x))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<polyline points="{corners}" fill="none" stroke="#444" stroke-width="2"/>',
    ]
    for x in range(1, 4):
        across, down = place(x, low_y).split(",")
        parts.append(f'<text x="{across}" y="{float(down) + 18:.1f}">{10**x} FLOP/B</text>')
    for y in range(4):
        across, down = place(low_x, y).split(",")
        parts.append(
            f'<line x1="{across}" x2="{WIDTH - 20}" y1="{down}" y2="{down}" stroke="#ddd"/>'
        )
        parts.append(f'<text x="4" y="{float(down) + 4:.1f}">{10**y} TFLOP/s</text>')
    for c in report["cases"]:
        x = log10(c["tflops"] / c["gbps"] * 1e3)
        across, down = place(x, max(low_y, log10(c["tflops"]))).split(",")
        label = f"{c['kernel']}, {c['kv_format']}, {c['shape']}: {c['tflops']:.0f} TFLOP/s"
        parts.append(
            f'<circle cx="{across}" cy="{down}" r="4" fill="{COLOURS[c["kernel"]]}" '
            f'fill-opacity="0.7"><title>{label}</title></circle>'
        )
    for number, (kernel, colour) in enumerate(COLOURS.items()):
        y = TOP + 16 * number
        parts.append(f'<circle cx="{LEFT + 20}" cy="{y}" r="5" fill="{colour}"/>')
        parts.append(f'<text x="{LEFT + 32}" y="{y + 4}">{kernel}</text>')
    title = f"{report['gpu']}: measured ceilings, and each shape under them"
    parts.append(f'<text x="{LEFT + 240}" y="{TOP - 10}">{title}</text></svg>')
    return "\n".join(parts) + "\n"
