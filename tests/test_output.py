"""A pipe that closes, a full disk, no output at all: exit codes stay what they mean."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from attnmatrix.cli import main
from tests.sources import BASE

ROOT = Path(__file__).parents[1]
COMMANDS = {
    0: ["explain", "--gpu", "H200"],
    1: ["explain", "REFERENCE", "--head-size", "7"],
}


def start(arguments: list[str], stdout: int | None) -> subprocess.CompletedProcess[str]:
    """Runs a command in its own process; stdout None closes it."""
    return subprocess.run(
        [sys.executable, "-m", "attnmatrix", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        preexec_fn=None if stdout is not None else lambda: os.close(1),
    )


@pytest.fixture
def closed_pipe():
    reading, writing = os.pipe()
    os.close(reading)
    yield writing
    os.close(writing)


@pytest.fixture
def drifted(tmp_path) -> list[str]:
    """A check that finds differences, whose diff is longer than any buffer."""
    (tmp_path / "capabilities.yaml").write_text(BASE, encoding="utf-8")
    return ["gen", "--check", "--source", str(tmp_path / "capabilities.yaml")]


@pytest.mark.parametrize("code", COMMANDS)
def test_a_closed_pipe_leaves_the_exit_code(closed_pipe, code):
    done = start(COMMANDS[code], closed_pipe)
    assert (done.returncode, done.stderr) == (code, "")


def test_a_closed_pipe_hides_no_drift(closed_pipe, drifted):
    done = start(drifted, closed_pipe)
    assert (done.returncode, done.stderr) == (1, "")


def test_a_closed_pipe_when_all_is_written(closed_pipe, drifted):
    done = start([drifted[0], *drifted[2:]], closed_pipe)
    assert (done.returncode, done.stderr) == (0, "")
    done = start(drifted, closed_pipe)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("which", ["explain", "gen"])
def test_a_full_disk_is_an_error(which, drifted):
    with open("/dev/full", "wb") as full:  # noqa: PTH123 - a device
        done = start(COMMANDS[0] if which == "explain" else drifted, full.fileno())
    assert done.returncode == 2
    assert done.stderr == "attnmatrix: error: cannot print: No space left on device\n"


@pytest.mark.skipif(os.name != "posix", reason="closes a descriptor")
@pytest.mark.parametrize("which", ["explain", "gen"])
def test_no_output_is_an_error(which, drifted):
    done = start(COMMANDS[0] if which == "explain" else drifted, None)
    assert done.returncode == 2
    assert done.stderr == "attnmatrix: error: cannot print: standard output is closed\n"


def test_output_is_given_back(capsys):
    before = sys.stdout
    assert main(COMMANDS[0]) == 0
    assert sys.stdout is before
    assert "supported" in capsys.readouterr().out
