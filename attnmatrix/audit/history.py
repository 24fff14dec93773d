"""What changed between two releases, in terms of claims."""

from __future__ import annotations

from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .reading import Reading

_LISTS = ("dtypes", "kv_cache_dtypes", "block_sizes", "head_sizes", "compute_capabilities")


@dataclass(frozen=True)
class Change:
    """One change of a backend's claims.

    field: a declared field, `backend` (it came or went) or `combinations`. capabilities: the GPUs
    it is about; empty for all. lost and gained: values of a list, or (dtype, KV-cache dtype, head
    size) of combinations; before and after: the whole answers.
    """

    backend: str
    field: str
    capabilities: tuple[str, ...]
    before: Any
    after: Any
    lost: tuple[Any, ...] = ()
    gained: tuple[Any, ...] = ()

    @property
    def message(self) -> str:
        """The change in a sentence."""
        where = f" on {', '.join(self.capabilities)}" if self.capabilities else ""
        if self.field == "backend":
            return "new" if self.after else "removed"
        if not self.lost and not self.gained:
            return f"{self.field}{where}: {_shown(self.before)} -> {_shown(self.after)}"
        parts = [
            f"{word} {', '.join(map(_shown, values[:6]))}"
            + (f" and {len(values) - 6} more" if len(values) > 6 else "")
            for word, values in (("lost", self.lost), ("gained", self.gained))
            if values
        ]
        return f"{self.field}{where}: {'; '.join(parts)}"

    def to_json(self) -> dict[str, Any]:
        """The object under `changes`."""
        return {
            "backend": self.backend,
            "field": self.field,
            "compute_capabilities": list(self.capabilities) or None,
            "before": self.before,
            "after": self.after,
            "lost": list(self.lost),
            "gained": list(self.gained),
            "message": f"{self.backend}: {self.message}",
        }


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        dtype, spelling, size = value
        return f"{dtype} × {spelling} × head size {size}"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "any"
    return {True: "yes", False: "no"}.get(value, str(value)) if type(value) is bool else str(value)


def changes(before: Reading, after: Reading) -> list[Change]:
    """What the later release claims otherwise than the earlier; not what either leaves unknown."""
    found: list[Change] = []
    for name in sorted({*before.declared, *after.declared}):
        if name not in before.declared or name not in after.declared:
            there = name in after.declared
            found.append(Change(name, "backend", (), not there, there))
            continue
        fields = list(_fields(before, after, name))
        found += fields
        found += _combinations(before, after, name, fields)
    return found


def _fields(before: Reading, after: Reading, name: str) -> Iterator[Change]:
    for field, old in before.declared[name].items():
        new = after.declared[name][field]
        keys = list(old) if isinstance(old, dict) else list(new) if isinstance(new, dict) else [""]
        groups: dict[str, tuple[Any, Any, list[str]]] = {}
        for key in keys:
            pair = (before.at(name, field, key), after.at(name, field, key))
            if None not in pair and not _same(*pair):
                groups.setdefault(repr(pair), (*pair, []))[2].append(key)
        for was, now, where in groups.values():
            gpus = () if where == [""] or len(where) == len(keys) else tuple(where)
            lost: tuple[Any, ...] = ()
            gained: tuple[Any, ...] = ()
            if field in _LISTS and not (field == "head_sizes" and [] in (was, now)):
                lost = tuple(value for value in was if value not in now)
                gained = tuple(value for value in now if value not in was)
            yield Change(name, field, gpus, was, now, lost, gained)


def _same(was: Any, now: Any) -> bool:
    if isinstance(was, list) and isinstance(now, list):
        return {repr(value) for value in was} == {
            repr(value) for value in now
        }  # order says nothing
    return bool(was == now)


def _combinations(
    before: Reading, after: Reading, name: str, fields: list[Change]
) -> Iterator[Change]:
    """Combinations that both releases list and answer otherwise."""

    def answers(reading: Reading) -> dict[tuple[str, tuple[Any, ...]], bool | None]:
        return {
            (
                row["compute_capability"],
                (row["dtype"], row["kv_cache_dtype"], row["head_size"]),
            ): None if row["reasons"] is None else not row["reasons"]
            for row in reading.combinations.get(name, ())
        }

    old, new = answers(before), answers(after)
    groups: dict[tuple[tuple[Any, ...], ...], list[str]] = {}
    for gpu in dict.fromkeys(gpu for gpu, _ in old):
        pairs = {axes: (old[gpu, axes], new.get((gpu, axes))) for g, axes in old if g == gpu}
        lost = tuple(axes for axes, pair in pairs.items() if pair == (True, False))
        gained = tuple(axes for axes, pair in pairs.items() if pair == (False, True))
        if lost or gained:
            groups.setdefault((lost, gained), []).append(gpu)
    for (lost, gained), gpus in groups.items():
        yield Change(name, "combinations", tuple(gpus), None, None, lost, gained)
