"""Every outcome, through the command; what a library does costs the case alone."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.probe.bench import DENSE, NOTHING, SPARSE, Bench, case_key, keys

HEADS = (8, 16, 32, 64, 96, 128, 192, 256)

ENDINGS = {
    "refused": ("refused", "RuntimeError: key must have dtype fp8_e4m3fn at 0x…"),
    "wrong": ("wrong", "larger than 4.0e-03"),
    "not_a_number": ("wrong", "the answer holds NaN or infinity"),
    "untested": ("untested", "ImportError: undefined symbol"),
    "out_of_memory": ("untested", "out of memory"),
    "fault": ("untested", "the probe failed: IndexError: a mistake of the probe's own"),
    "fatal": ("crashed", "CUDA error: an illegal memory access was encountered"),
    "hang": ("crashed", "no answer within 2 s: waiting for a barrier"),
    "hang_deaf": ("crashed", "no answer within 2 s"),
    "abort": (
        "crashed",
        "the process ended with SIGABRT: Assertion failed: k_block_size == 64",
    ),
    "leave": ("crashed", "the process ended with exit code 3"),
    "leave_politely": ("crashed", "the process ended with exit code 0"),
    "segfault": ("crashed", "the process ended with SIGSEGV"),
    "close_everything": ("crashed", "the process closed its output"),
    "orphan": ("crashed", "the process ended with exit code 4"),
}


@pytest.mark.parametrize("behaviour", ENDINGS)
def test_what_a_library_does_costs_the_case_alone(bench: Bench, behaviour: str) -> None:
    bench.bid(({"query_heads": 64}, behaviour))
    cases = [{"query_heads": heads} for heads in HEADS]
    found = bench.outcomes("--time-limit", "2", *keys(cases))
    outcome, message = ENDINGS[behaviour]
    told = found.pop(64)
    assert (told["outcome"], told["message"]) == (outcome, message)
    assert told["claimed"]
    assert {heads: record["outcome"] for heads, record in found.items()} == {
        heads: "right" if heads == 128 else "refused" for heads in HEADS if heads != 64
    }


def test_several_bad_cases_at_once(bench: Bench) -> None:
    bids = dict(zip(HEADS, ("abort", "hang", "leave", "segfault", "fatal", "orphan"), strict=False))
    bench.bid(*(({"query_heads": heads}, bid) for heads, bid in bids.items()))
    found = bench.outcomes("--time-limit", "2", *keys([{"query_heads": h} for h in HEADS]))
    assert [found[heads]["outcome"] for heads in HEADS] == ["crashed"] * 6 + ["refused"] * 2


def test_no_process_is_left(bench: Bench) -> None:
    log = bench.bid(({"query_heads": 64}, "hang_deaf"), ({"query_heads": 8}, "orphan"))
    bench.outcomes("--time-limit", "1", *keys([{"query_heads": heads} for heads in HEADS]))
    for number in {line.split()[0] for line in log.read_text().splitlines()}:
        assert not group_is_alive(int(number))


def group_is_alive(group: int) -> bool:
    """Whether a process of that group runs; the killed may take a moment to go."""
    for _ in range(50):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        if all(_is_zombie(p) for p in Path("/proc").glob("[0-9]*") if _group(p) == group):
            return False
        time.sleep(0.1)
    return True


def _stat(process: Path) -> list[str]:
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _group(process: Path) -> int:
    stat = _stat(process)
    return int(stat[2]) if stat else 0


def _is_zombie(process: Path) -> bool:
    stat = _stat(process)
    return not stat or stat[0] in "ZX"


def test_a_healthy_worker_is_shared(bench: Bench) -> None:
    log = bench.bid()
    cases = [{"query_heads": heads, "page_size": p} for heads in HEADS for p in (16, 32, 64)]
    bench.probe(*keys(cases))
    tried = [line.split()[0] for line in log.read_text().splitlines() if " try " in line]
    assert len(tried) == len(cases)
    assert len(set(tried)) <= 3  # two at work, one spare


def test_after_a_wrong_answer_the_worker_is_replaced(bench: Bench) -> None:
    log = bench.bid(({"query_heads": 64}, "wrong"), ({"query_heads": 8}, "fatal"))
    bench.probe(*keys([{"query_heads": heads} for heads in HEADS]))
    lines = [line.split() for line in log.read_text().splitlines() if " try " in line]
    for number in {line[0] for line in lines}:
        mine = [line[2] for line in lines if line[0] == number]
        assert all("query_heads=64" not in key and "query_heads=8," not in key for key in mine[:-1])


def test_what_a_library_prints_is_no_answer(bench: Bench) -> None:
    bench.bid(({"query_heads": 64}, "chatter"))
    assert bench.outcomes(*keys([{}]))[64]["outcome"] == "right"


def test_modules_are_built_before_any_case(bench: Bench) -> None:
    log = bench.bid()
    cases = [{}, {"kernel": DENSE, "kv_format": "bf16_576", "head_size": 576, "topk": None}]
    bench.probe(*keys(cases))
    done = [line.split(maxsplit=1)[1] for line in log.read_text().splitlines()]
    assert {*done[:2]} == {f"build {SPARSE}", f"build {DENSE}"}
    assert not any(line.startswith("build ") for line in done[2:])


@pytest.mark.parametrize(
    ("bid", "words"),
    [
        ("builds_fail", f"RuntimeError: nvcc does not know {SPARSE}"),
        ("builds_abort", "the process ended with SIGABRT"),
    ],
)
def test_a_build_that_fails_is_told_and_the_cases_are_tried(
    bench: Bench, bid: str, words: str
) -> None:
    bench.bid(**{bid: [SPARSE]})
    ran = bench.probe("--case", case_key())
    assert f"building for vllm failed: {words}" in ran.err
    assert ran.code == 0


def test_loading_does_not_count_as_the_cases_time(bench: Bench) -> None:
    log = bench.bid(load_seconds=1.5)
    ran = bench.probe("--time-limit", "0.7", *keys([{}, {"query_heads": 128}]))
    assert ran.code == 0
    loads = [line.split()[0] for line in log.read_text().splitlines() if " load " in line]
    assert len(loads) == len({*loads})  # once a process


def test_a_library_that_ends_the_process_as_it_loads_is_untested(bench: Bench) -> None:
    log = bench.bid(load_aborts=["vllm"])
    bench.install("sglang-kernel", "0.4.10")
    ran = bench.probe("--json", "--kernel", SPARSE, "--quick")
    assert ran.code == 2
    theirs, ours = ran.data["standings"]["sglang-kernel"], ran.data["standings"]["vllm"]
    assert {*ours[SPARSE]} == {"untested"}
    assert theirs[SPARSE]["verified"] > 10
    messages = {record["message"] for record in ran.records if record["outcome"] == "untested"}
    assert messages == {"the library did not load: the process ended with SIGABRT"}
    assert log.read_text().count("load vllm") < 10


def test_a_library_that_does_not_import_is_asked_all_the_same(bench: Bench) -> None:
    bench.bid(({}, "untested"), load_fails=["vllm"])
    assert bench.outcomes(*keys([{}]))[64]["message"] == "ImportError: undefined symbol"


def test_workers_that_do_not_start(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attnmatrix.probe.command.CALLERS", "tests.probe.no_such_callers")
    ran = bench.probe("--case", case_key())
    assert ran.code == 2
    assert "worker processes do not start: ModuleNotFoundError: No module named" in ran.err


def test_a_grid_without_a_gpu_is_untested(bench: Bench) -> None:
    bench.machine(NOTHING)
    ran = bench.probe("--json", "--write")
    assert ran.code == 2
    assert {(record["outcome"], record["message"]) for record in ran.records} == {
        ("untested", "no GPU")
    }
    assert ran.data["findings"] == []
    assert ran.data["agrees"] is None
    assert not (bench.folder / "evidence").exists()


def test_nothing_installed(bench: Bench) -> None:
    ran = bench.probe("--kernel", "flashinfer.batch_mla")
    assert ran.code == 2
    assert "flashinfer: not installed (flashinfer-python)" in ran.err


def test_only_untested_is_exit_2(bench: Bench) -> None:
    bench.bid(({}, "untested"))
    ran = bench.probe("--kernel", SPARSE, "--quick")
    assert ran.code == 2
    assert "untested" in ran.out
    assert "ImportError: undefined symbol" in ran.out
