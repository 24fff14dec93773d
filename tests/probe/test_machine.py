"""Which machine this is, as PyTorch says in a process of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from attnmatrix.probe import machine
from attnmatrix.probe.machine import NoMachine, find_machine

TORCH = """
__version__ = "2.11.0+cu130"
class version: cuda = "13.0"
class cuda:
    is_available = lambda: {available}
    get_device_name = lambda number: "{name}"
    get_device_capability = lambda number: {capability}
    mem_get_info = lambda number: (150 << 30, 151 << 30)
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that child processes import from, with an nvidia-smi."""
    smi = tmp_path / "nvidia-smi"
    smi.write_text("#!/bin/sh\necho 580.95.05\n")
    smi.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


def put(site: Path, name: str = "", capability: tuple[int, int] = (9, 0)) -> None:
    text = TORCH.format(available=bool(name), name=name, capability=capability)
    (site / "torch.py").write_text(text)


def test_a_gpu_that_the_matrix_knows(site: Path) -> None:
    put(site, "NVIDIA H200")
    found = find_machine()
    assert found[:4] == ("H200", (9, 0), "cuda:0", 150 << 30)
    assert found[4:] == ("580.95.05", "13.0", "2.11.0+cu130")


def test_a_gpu_that_it_does_not_know(site: Path) -> None:
    put(site, "NVIDIA XYZ 1", (13, 0))
    found = find_machine()
    assert (found.gpu, found.capability) == ("NVIDIA XYZ 1", (13, 0))


def test_no_gpu(site: Path) -> None:
    put(site)
    found = find_machine()
    assert (found.gpu, found.capability, found.device) == ("none", (0, 0), "cpu")


def test_no_driver_tool(site: Path) -> None:
    (site / "nvidia-smi").unlink()
    put(site, "NVIDIA H200")
    assert find_machine().driver == "unknown"


def test_torch_that_fails(site: Path) -> None:
    (site / "torch.py").write_text("raise OSError('libcudart.so.13: cannot open')")
    with pytest.raises(NoMachine, match="PyTorch cannot be used: OSError: libcudart"):
        find_machine()


def test_torch_that_hangs(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (site / "torch.py").write_text("import time; time.sleep(60)")
    monkeypatch.setattr(machine, "LIMIT_S", 0.5)
    with pytest.raises(NoMachine, match="no answer within"):
        find_machine()
