"""A probe that is ended goes on where it was, whatever ended it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.probe.bench import H200, SPARSE, Bench, case_key, keys
from tests.probe.test_outcomes import group_is_alive

ROOT = Path(__file__).parents[2]
OPTIONS = ("--kernel", SPARSE, "--resume", "journal", "--json")


def start(bench: Bench, *options: str) -> subprocess.Popen[bytes]:
    path = os.pathsep.join((str(ROOT), str(bench.site)))
    return subprocess.Popen(
        [sys.executable, "-m", "tests.probe.probing", *options],
        env={**os.environ, "PYTHONPATH": path},
        cwd=bench.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def wait_for(log: Path, lines: int) -> None:
    for _ in range(200):
        if log.exists() and log.read_text().count("\n") >= lines:
            return
        time.sleep(0.05)
    raise AssertionError("the probe does not get on")


def tried(log: Path) -> list[str]:
    return [line.split()[2] for line in log.read_text().splitlines() if " try " in line]


def test_after_kill_9(bench: Bench) -> None:
    log = bench.bid(seconds=0.005)
    probing = start(bench, *OPTIONS)
    wait_for(log, 100)
    probing.kill()
    probing.communicate()
    workers = {int(line.split()[0]) for line in log.read_text().splitlines()}
    assert not [number for number in workers if group_is_alive(number)]
    before = tried(log)
    known = len((bench.folder / "journal").read_text().splitlines()) - 1
    assert 50 < known <= len(before)
    bench.bid()
    ran = bench.probe(*OPTIONS)
    assert ran.code == 0
    again = [key for key in tried(log)[len(before) :] if key in before]
    assert len(again) == len(before) - known <= 2  # those in the hands of the two workers
    assert len(ran.records) == len({*tried(log)})
    whole = bench.probe("--kernel", SPARSE, "--json")
    assert whole.records == ran.records


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_after_a_signal(bench: Bench, ending: signal.Signals) -> None:
    log = bench.bid(seconds=0.005)
    probing = start(bench, *OPTIONS)
    wait_for(log, 50)
    probing.send_signal(ending)
    _, err = probing.communicate(timeout=20)
    if ending is signal.SIGINT:
        assert probing.returncode == 2
        assert b"stopped: --resume journal goes on" in err
    workers = {int(line.split()[0]) for line in log.read_text().splitlines()}
    assert not [number for number in workers if group_is_alive(number)]
    assert len((bench.folder / "journal").read_text().splitlines()) > 20


def test_a_torn_last_line_is_tried_again(bench: Bench) -> None:
    log = bench.bid()
    cases = keys([{"query_heads": heads} for heads in (64, 96, 128)])
    bench.probe("--resume", "journal", *cases)
    journal = bench.folder / "journal"
    whole = journal.read_bytes()
    for cut in range(1, len(whole.splitlines()[-1])):
        journal.write_bytes(whole[:-cut])
        log.unlink()
        assert bench.probe("--resume", "journal", *cases).code == 0
        assert len(tried(log)) == 1
        assert {*journal.read_bytes().splitlines()} == {*whole.splitlines()}
        if cut > 3:
            break


def test_what_was_untested_is_tried_again(bench: Bench) -> None:
    bench.bid(({}, "out_of_memory"))
    assert bench.probe("--resume", "journal", "--case", case_key()).code == 2
    bench.bid()
    assert bench.probe("--resume", "journal", "--case", case_key()).code == 0


def test_what_is_answered_starts_no_worker(bench: Bench) -> None:
    log = bench.bid()
    bench.probe("--resume", "journal", "--case", case_key())
    log.unlink()
    ran = bench.probe("--resume", "journal", "--case", case_key())
    assert ran.code == 0
    assert not log.exists()


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("gpu", "B200", "its answers are from gpu H200, and this is B200"),
        ("driver", "999", "its answers are from driver 580.1, and this is 999"),
        ("torch", "3.0", "its answers are from torch 2.11.0, and this is 3.0"),
    ],
)
def test_another_machines_journal(bench: Bench, field: str, value: Any, words: str) -> None:
    bench.bid()
    bench.probe("--resume", "journal", "--case", case_key())
    before = (bench.folder / "journal").read_bytes()
    bench.machine(H200._replace(**{field: value}))
    ran = bench.probe("--resume", "journal", "--case", case_key())
    assert ran.code == 2
    assert words in ran.err
    assert (bench.folder / "journal").read_bytes() == before


@pytest.mark.parametrize(
    "content",
    [b"kernels:\n  mine: 1", b"kernels:\n  mine: 1\n", b"{}\n", b"[1]\n", b'{"journal"', b"\xff\n"],
)
def test_a_file_that_is_no_journal_stays_as_it_is(bench: Bench, content: bytes) -> None:
    file = bench.folder / "mine.yaml"
    file.write_bytes(content)
    ran = bench.probe("--resume", "mine.yaml", "--case", case_key())
    if content == b'{"journal"':  # a first line that was torn
        assert ran.code == 0
        return
    assert ran.code == 2
    assert "this is no" in ran.err
    assert "name another file" in ran.err
    assert file.read_bytes() == content


def test_a_bad_line_is_named(bench: Bench) -> None:
    bench.bid()
    bench.probe("--resume", "journal", "--case", case_key())
    journal = bench.folder / "journal"
    journal.write_text(journal.read_text() + json.dumps({"case": "x"}) + "\n")
    ran = bench.probe("--resume", "journal", "--case", case_key())
    assert ran.code == 2
    assert "journal:3: this is no line of a journal" in ran.err


def test_two_probes_do_not_share_a_journal(bench: Bench) -> None:
    log = bench.bid(seconds=0.05)
    probing = start(bench, *OPTIONS)
    try:
        wait_for(log, 5)
        ran = bench.probe(*OPTIONS)
    finally:
        probing.kill()
        probing.communicate()
    assert ran.code == 2
    assert "journal: another probe writes it" in ran.err
