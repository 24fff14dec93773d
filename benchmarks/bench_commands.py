"""Whole processes: start, work, end. Warm: files in the page cache, bytecode written."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "capabilities.yaml"


def process(benchmark: Any, *arguments: str) -> None:
    command = [sys.executable, *arguments]
    benchmark.pedantic(
        subprocess.run,
        (command,),
        {"check": True, "stdout": subprocess.DEVNULL, "cwd": ROOT},
        rounds=20,
        warmup_rounds=3,
    )


def bench_python(benchmark: Any) -> None:
    """bare Python, to compare"""
    process(benchmark, "-c", "pass")


def bench_import(benchmark: Any) -> None:
    """Python with import attnmatrix"""
    process(benchmark, "-c", "import attnmatrix")


def bench_explain(benchmark: Any) -> None:
    """attnmatrix explain, all backends"""
    code = "from attnmatrix.cli import main; main(['explain', '--gpu', 'H200'])"
    process(benchmark, "-c", code)


def bench_gen(benchmark: Any) -> None:
    """attnmatrix gen, nothing to change"""
    process(benchmark, "-c", "from attnmatrix.cli import main; main(['gen'])")


def bench_gen_edited(benchmark: Any, tmp_path: Path) -> None:
    """attnmatrix gen, a line of one backend edited since"""
    source = tmp_path / SOURCE.name
    shutil.copytree(ROOT / "evidence", tmp_path / "evidence")
    text = SOURCE.read_text(encoding="utf-8")
    line = "summary: DeepSeek-V4 sparse MLA through FlashMLA\n"
    assert line in text
    edits = iter(range(1000))
    code = f"from attnmatrix.cli import main; main(['gen', '--source', {str(source)!r}])"

    def edit() -> None:
        edited = text.replace(line, f"summary: Number {next(edits)}\n", 1)
        source.write_text(edited, encoding="utf-8")

    def run() -> None:
        subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)

    benchmark.pedantic(run, setup=edit, rounds=20, warmup_rounds=3)


def bench_check(benchmark: Any) -> None:
    """attnmatrix gen --check"""
    process(benchmark, "-c", "from attnmatrix.cli import main; main(['gen', '--check'])")


def made_up(backends: int) -> str:
    """The matrix with copies of one backend added, each with a name of its own."""
    text = SOURCE.read_text(encoding="utf-8")
    head, rest = text.split("\nbackends:\n", 1)
    body, _ = rest.split("\npriorities:\n", 1)
    start = body.index("  FLASHMLA_SPARSE_DSV4:\n")
    lines = body[start:].splitlines(keepends=True)
    end = next(i for i, line in enumerate(lines[1:], 1) if line.startswith("  ") and line[2] != " ")
    entry = "".join(lines[:end])
    copies = [entry.replace("FLASHMLA_SPARSE_DSV4", f"MADE_UP_{i}") for i in range(backends)]
    return f"{head}\nbackends:\n{body}\n{''.join(copies)}"


@pytest.mark.parametrize("backends", [250, 500, 1000])
def bench_gen_many(benchmark: Any, backends: int, tmp_path: Path) -> None:
    """attnmatrix gen, N backends, everything to write"""
    source = tmp_path / "many.yaml"
    source.write_text(made_up(backends), encoding="utf-8")
    code = (
        "import resource, sys; from attnmatrix.cli import main; "
        f"main(['gen', '--source', {str(source)!r}, '--out', sys.argv[1]]); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )

    def run(out: Path) -> int:
        done = subprocess.run(
            [sys.executable, "-c", code, str(out)], check=True, capture_output=True, text=True
        )
        return int(done.stdout.split()[-1])

    rounds = iter(range(10))
    kibibytes = benchmark.pedantic(
        run, setup=lambda: (((tmp_path / f"out{next(rounds)}"),), {}), rounds=3, warmup_rounds=0
    )
    benchmark.extra_info["MB"] = round(kibibytes * 1024 / 1e6)
