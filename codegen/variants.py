"""What a variant's KV-cache dtypes stand for, aliases followed."""

from __future__ import annotations

from .scalars import MODEL_DTYPE
from .schema import Backend, Stored, Variant


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


def claimed_dtypes(backend: Backend, variant: Variant) -> list[str]:
    """The model dtypes that a variant claims."""
    return variant.dtypes or backend.dtypes


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
