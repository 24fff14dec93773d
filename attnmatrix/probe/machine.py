"""The GPU at hand, and the libraries installed beside it.

PyTorch is asked in a process of its own: started as `python -m attnmatrix.probe.machine`, this
module prints what it knows as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Any, NamedTuple

from ..capability import NO_GPU, Capability
from ..errors import RequestError
from ..gpus import gpu_capability
from ..libraries import BUILT_IN
from .surroundings import child_environment

LIMIT_S = 120.0


class NoMachine(RuntimeError):
    """Nothing can be probed here, and why."""


class Machine(NamedTuple):
    """Where the probe runs.

    gpu: its name in the matrix, or the driver's where the matrix lacks it; 'none' without one.
    device: what PyTorch calls it. memory: bytes free on the GPU. driver, cuda, torch: versions.
    """

    gpu: str
    capability: Capability
    device: str
    memory: int
    driver: str
    cuda: str
    torch: str


def find_machine(matrix: str = BUILT_IN) -> Machine:
    """The machine, as PyTorch sees it. Raises NoMachine if PyTorch is missing or fails."""
    command = [sys.executable, "-m", __name__]
    try:
        done = subprocess.run(  # noqa: S603 - our own module
            command, capture_output=True, text=True, timeout=LIMIT_S, env=child_environment()
        )
    except subprocess.TimeoutExpired:
        raise NoMachine(f"PyTorch gave no answer within {LIMIT_S:g} s") from None
    if done.returncode:
        last = done.stderr.strip().rpartition("\n")[2]
        raise NoMachine(f"PyTorch cannot be used: {last or f'exit code {done.returncode}'}")
    seen = json.loads(done.stdout.rpartition("\n{")[2] or done.stdout)
    return _named(seen, matrix)


def providers(library: str, matrix: str = BUILT_IN) -> dict[str, str]:
    """The version of each installed distribution that ships a library."""
    found = {}
    for name, how in import_module(f"{matrix}.libraries").LIBRARIES[library]["providers"].items():
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            if "module" in how and find_spec(how["module"]) is not None:
                found[name] = "0+unknown"  # a source tree on the path
    return found


def _named(seen: dict[str, Any], matrix: str) -> Machine:
    capability = tuple(seen.pop("capability"))
    name = seen.pop("name")
    try:
        gpu = gpu_capability(name, matrix)[0]
    except RequestError:
        gpu = name
    return Machine(gpu=gpu, capability=capability, **seen)


def _look() -> dict[str, Any]:
    import torch

    seen: dict[str, Any] = {"torch": torch.__version__, "cuda": torch.version.cuda or "none"}
    if not torch.cuda.is_available():
        return seen | {
            "name": "none",
            "capability": NO_GPU,
            "device": "cpu",
            "memory": 0,
            "driver": "none",
        }
    return seen | {
        "name": torch.cuda.get_device_name(0),
        "capability": torch.cuda.get_device_capability(0),
        "device": "cuda:0",
        "memory": torch.cuda.mem_get_info(0)[0],
        "driver": _driver(),
    }


def _driver() -> str:
    """The driver's version as nvidia-smi has it, or 'unknown'."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command
            command, capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return done.stdout.split("\n")[0].strip() or "unknown"


if __name__ == "__main__":
    print(json.dumps(_look()))
