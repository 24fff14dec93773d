"""GPU names as people type them."""

from __future__ import annotations

import re
from importlib import import_module

from .capability import DEVICES, Capability, parse_capability
from .errors import RequestError
from .libraries import BUILT_IN
from .sentences import sentence
from .spelling import did_you_mean

VENDOR = r"(?:(?:nvidia|geforce|tesla|amd)\s)*"
"""What may stand before a GPU's name, as a regular expression."""

DEVICE_NAMES = {"none": "none", "cpu": "none", "rocm": "rocm", "xpu": "xpu", "intelxpu": "xpu"}
"""What people type for a device without a compute capability, folded, and its own name."""

NOISE = r"nvidia|geforce|tesla|amd|[\s_-]+"
"""What does not matter in a GPU's name, as a regular expression."""


def fold(name: str) -> str:
    """A GPU name without what does not matter: case, spaces, hyphens, the vendor."""
    return re.sub(NOISE, "", name, flags=re.IGNORECASE).casefold()


def gpu_names(matrix: str = BUILT_IN) -> tuple[str, ...]:
    """Every GPU name of the matrix, in its order."""
    return tuple(_gpus(matrix))


def _gpus(matrix: str) -> dict[str, str]:
    """The built-in names, and those of another repository's matrix, which come first."""
    built_in: dict[str, str] = import_module(f"{BUILT_IN}.gpus").GPUS
    if matrix == BUILT_IN:
        return built_in
    own: dict[str, str] = import_module(f"{matrix}.gpus").GPUS
    return {**own, **{k: v for k, v in built_in.items() if fold(k) not in map(fold, own)}}


def gpu_capability(name: str, matrix: str = BUILT_IN) -> tuple[str, Capability]:
    """The matrix's spelling of a GPU name and its compute capability; 'none' is a machine without,
    'rocm' any AMD GPU, 'xpu' any Intel GPU.

    Case, spaces, hyphens and a vendor's name do not matter, nor does what follows the model
    ('NVIDIA H100 80GB HBM3' is an H100). Raises RequestError for an unknown name, with the known.
    """
    if not isinstance(name, str):
        raise RequestError("gpu", f"{name!r} is not a name, such as 'H200'")
    wanted = fold(name)
    if device := DEVICE_NAMES.get(wanted):
        return device, DEVICES[device]
    gpus = _gpus(matrix)
    folded = {fold(known): known for known in gpus}
    found = folded.get(wanted)
    if found is None:
        # The longest known name that the typed one begins with, at a word's end: a driver
        # reports 'NVIDIA A100-SXM4-80GB'. A number must not go on: 'L40' is no 'L4'.
        words = " ".join(re.split(r"[\s_-]+", name.strip()))
        starts = [
            known
            for known in gpus
            if re.match(rf"{VENDOR}{re.escape(known)}(?:\s|$)", words, re.IGNORECASE)
        ]
        found = max(starts, key=len, default=None)
    if found is None:
        raise RequestError(
            "gpu",
            sentence("not_in_matrix", value=repr(name), hint=did_you_mean(name, gpus))
            + f"; known: {', '.join(gpus)}; {sentence('other_gpu')}",
        )
    return found, parse_capability(gpus[found])
