"""GPU names as people type them."""

from __future__ import annotations

import re

from .capability import NO_GPU, Capability, parse_capability
from .errors import RequestError
from .spelling import did_you_mean

_NOISE = re.compile(r"nvidia|geforce|tesla|amd|[\s_-]+", re.IGNORECASE)


def fold(name: str) -> str:
    """A GPU name without what does not matter: case, spaces, hyphens, the vendor."""
    return _NOISE.sub("", name).casefold()


def gpu_names() -> tuple[str, ...]:
    """Every GPU name of the matrix, in its order."""
    from .generated.gpus import GPUS

    return tuple(GPUS)


def gpu_capability(name: str) -> tuple[str, Capability]:
    """The matrix's spelling of a GPU name and its compute capability; 'none' is a machine without.

    Case, spaces, hyphens and a vendor's name do not matter, nor does what follows the model
    ('NVIDIA H100 80GB HBM3' is an H100). Raises RequestError for an unknown name, with the known.
    """
    from .generated.gpus import GPUS

    wanted = fold(name)
    if wanted in ("none", "cpu"):
        return "none", NO_GPU
    folded = {fold(known): known for known in GPUS}
    found = folded.get(wanted)
    if found is None:
        # The longest known name that the typed one begins with, at a word's end: a driver
        # reports 'NVIDIA A100-SXM4-80GB'. A number must not go on: 'L40' is no 'L4'.
        words = " ".join(re.split(r"[\s_-]+", name.strip()))
        starts = [
            known
            for known in GPUS
            if re.match(rf"(?:\S+\s)*?{re.escape(known)}(?:\s|$)", words, re.IGNORECASE)
        ]
        found = max(starts, key=len, default=None)
    if found is None:
        raise RequestError(
            "gpu",
            f"{name!r} is not in the matrix{did_you_mean(name, GPUS)}; known: {', '.join(GPUS)}; "
            "for another, pass its compute capability",
        )
    return found, parse_capability(GPUS[found])
