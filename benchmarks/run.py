"""Runs the CPU benchmarks and writes their table, benchmarks/README.md."""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
GOALS = {
    "bench_accepted": "≤ 2 µs",
    "bench_refused": "≤ 4 µs",
    "bench_select": "≤ 14 µs",
    "bench_import": "≤ 10 ms over bare Python",
    "bench_explain": "≤ 60 ms",
    "bench_gen": "≤ 350 ms",
    "bench_picker": "≤ 100 ms",
    "bench_gen_many[1000]": "≤ 6 s, ≤ 500 MB",
}
UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def measure() -> list[dict[str, object]]:
    """The results of pytest-benchmark, one a benchmark, in the order in which they ran."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = ["-m", "pytest", str(HERE), f"--benchmark-json={report}", "-p", "no:xdist"]
        collect = ["-o", "python_files=bench_*.py", "-o", "python_functions=bench_*"]
        subprocess.run([sys.executable, *command, *collect, "--benchmark-only"], check=True)
        found: list[dict[str, object]] = json.loads(report.read_text())["benchmarks"]
        return found


def describe(name: str) -> str:
    """The first line of a benchmark's docstring."""
    function, _, parameter = name.partition("[")
    for path in HERE.glob("bench_*.py"):
        match = re.search(rf'def {function}\(.*?"""(.*?)"""', path.read_text(), re.DOTALL)
        if match:
            return match[1].replace(" N ", f" {parameter.rstrip(']')} ")
    return name


def shown(seconds: float) -> str:
    """A time in the unit that leaves one to three digits before the point."""
    size, unit = next((u for u in UNITS if seconds >= u[0]), UNITS[-1])
    return f"{seconds / size:.3g} {unit}"


def table(results: list[dict[str, object]]) -> str:
    """The results as Markdown."""
    lines = ["| What | Median | Fastest | Goal |", "|---|---|---|---|"]
    for result in results:
        stats, extra = result["stats"], result["extra_info"]
        assert isinstance(stats, dict)
        assert isinstance(extra, dict)
        name = str(result["name"])
        memory = f", {extra['MB']} MB" if "MB" in extra else ""
        lines.append(
            f"| {describe(name)} | {shown(stats['median'])}{memory} | {shown(stats['min'])} "
            f"| {GOALS.get(name, '')} |"
        )
    return "\n".join(lines)


def processor() -> str:
    """The processor's name, as Linux gives it."""
    try:
        info = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor()
    match = re.search(r"model name\s*: (.*)", info)
    return match[1] if match else platform.machine()


def main() -> None:
    """Measures, and writes the table."""
    text = f"""# Benchmarks

Written by `make bench` (pytest-benchmark; a whole process for commands, warm). Measured on
{processor()}, Python {platform.python_version()}.

{table(measure())}
"""
    (HERE / "README.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
