"""Sets of GPUs: how capability patterns meet, and whether some cover another.

A pattern is compared through the capabilities that it matches among all that could exist. Such a
set is a number with one bit for each, least capability first: | joins, & meets, & ~ takes away.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from attnmatrix.capability import DEVICES, Capability, CapabilityPattern, format_capability

_UNIVERSE: tuple[Capability, ...] = (
    *DEVICES.values(),
    *((major, minor) for major in range(1, 40) for minor in range(10)),
)


@lru_cache(maxsize=4096)
def points(text: str) -> int:
    """The capabilities that a pattern matches."""
    pattern = CapabilityPattern(text)
    return sum(1 << i for i, c in enumerate(_UNIVERSE) if pattern.matches(c))


def all_points(patterns: Iterable[CapabilityPattern]) -> int:
    """The capabilities that any of the patterns matches."""
    return union_of(pattern.text for pattern in patterns)


def union_of(texts: Iterable[str]) -> int:
    """The same, of patterns as texts."""
    found = 0
    for text in texts:
        found |= points(text)
    return found


def least(gpus: int) -> Capability:
    """The least capability of a set that is not empty."""
    return _UNIVERSE[(gpus & -gpus).bit_length() - 1]


def members(gpus: int) -> list[Capability]:
    """The capabilities of a set, in order."""
    return [capability for i, capability in enumerate(_UNIVERSE) if gpus >> i & 1]


def alike(gpus: int, others: Iterable[int]) -> list[int]:
    """The parts of a set whose members lie in the same ones of the others, by least member."""
    groups = [gpus] if gpus else []
    for other in others:
        parts = [part for group in groups for part in (group & other, group & ~other)]
        groups = [part for part in parts if part]
    return sorted(groups, key=least)


@lru_cache(maxsize=4096)
def meet(a: str, b: str) -> str | None:
    """The pattern for GPUs that both match, or None if there are none."""
    common = points(a) & points(b)
    if not common:
        return None
    if common == points(a):
        return a
    if common == points(b):
        return b
    return f"{_bounds(a)},{_bounds(b)}"


def _bounds(text: str) -> str:
    if text.endswith(".x"):
        major = int(text[:-2])
        return f">={major}.0,<{major + 1}.0"
    return text


def meets(a: Iterable[CapabilityPattern], b: Iterable[CapabilityPattern]) -> tuple[str, ...]:
    """The distinct meetings of two lists of patterns, in order."""
    others = list(b)
    found = [meet(x.text, y.text) for x in a for y in others]
    return tuple(dict.fromkeys(text for text in found if text is not None))


def shown(pattern: CapabilityPattern, gpu: Capability) -> str:
    """A pattern in words, with an example of the GPUs that it matches where it has several."""
    if pattern.specificity in (0, 3):
        return pattern.text
    return f"{pattern.text} (such as {format_capability(gpu)})"
