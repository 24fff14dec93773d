"""Sets of GPUs: how capability patterns meet, and whether some cover another.

A pattern is compared through the capabilities that it matches among all that could exist.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from attnmatrix.capability import NO_GPU, Capability, CapabilityPattern, format_capability

_UNIVERSE: tuple[Capability, ...] = (
    NO_GPU,
    *((major, minor) for major in range(1, 40) for minor in range(10)),
)


@lru_cache(maxsize=4096)
def points(text: str) -> frozenset[Capability]:
    """The capabilities that a pattern matches."""
    pattern = CapabilityPattern(text)
    return frozenset(c for c in _UNIVERSE if pattern.matches(c))


def all_points(patterns: Iterable[CapabilityPattern]) -> frozenset[Capability]:
    """The capabilities that any of the patterns matches."""
    return _union(tuple(pattern.text for pattern in patterns))


@lru_cache(maxsize=4096)
def _union(texts: tuple[str, ...]) -> frozenset[Capability]:
    return frozenset().union(*(points(text) for text in texts))


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
