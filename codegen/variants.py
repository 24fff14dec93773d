"""What a variant's KV-cache dtypes stand for, aliases followed."""

from __future__ import annotations

from typing import Any

from attnmatrix.intset import ANY, IntSet

from .scalars import MODEL_DTYPE
from .schema import Backend, Stored, Variant
from .source import Path_


def resolve(variant: Variant, name: str) -> str | None:
    """Follows aliases from a KV-cache dtype to the one with a format of its own, or MODEL_DTYPE.

    None where they lead nowhere or in a circle.
    """
    seen = set()
    while name not in seen:
        seen.add(name)
        if name == MODEL_DTYPE:
            return name
        target = variant.kv_cache_dtypes.get(name)
        if isinstance(target, Stored):
            return name
        if target is None:
            return None
        name = target
    return None


def claimed(backend: Backend, variant: Variant, axis: str) -> Any:
    """What a variant claims on an axis that it may narrow: its own list, or else its backend's."""
    own = getattr(variant, axis)
    return getattr(backend, axis) if own is None else own


def size_set(sizes: list[int] | IntSet | str) -> IntSet:
    """Claimed head sizes as a set, whichever way they are written."""
    if isinstance(sizes, IntSet):
        return sizes
    return IntSet(sizes) if isinstance(sizes, list) else ANY


def claim_path(name: str, number: int, variant: Variant, axis: str) -> Path_:
    """Where that claim stands."""
    if getattr(variant, axis) is None:
        return ("backends", name, axis)
    return ("backends", name, "variants", number, axis)


def formats_read(variant: Variant, stored: Stored, phase: str) -> tuple[str, str | None]:
    """The formats of the main cache and the extra pool that a phase's kernel reads."""
    if phase == "prefill" and variant.kernels.prefill_format is not None:
        return variant.kernels.prefill_format, None
    return stored.format, stored.extra_format


def stored_dtypes(variant: Variant) -> dict[str, tuple[Stored, list[str]]]:
    """The KV-cache dtypes with a format of their own, each with every spelling that leads to it."""
    found: dict[str, tuple[Stored, list[str]]] = {}
    for name, target in variant.kv_cache_dtypes.items():
        if isinstance(target, Stored):
            found[name] = (target, [])
    for name in variant.kv_cache_dtypes:
        resolved = resolve(variant, name)
        if resolved in found:
            found[resolved][1].append(name)
    return found
