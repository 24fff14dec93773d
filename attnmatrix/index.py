"""Cells turned inside out: for each field, which cells take a value, as bits of one integer.

A request is judged by one look-up a field and an `&`, whatever the number of cells. Cell i has two
bits: bit i says that it surely takes the value, bit n + i that it surely or possibly does (an axis
that nobody has established). Everything here is derived from immutable cells, so what the tables
remember cannot go stale.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from .capability import Capability, CapabilityPattern, matches_any
from .cell import UNKNOWN, Cell
from .intset import IntSet, union
from .libraries import Absent
from .request import FEATURES
from .versions import Specifier, Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .request import Request

FIELDS = (
    "phase",
    "mla",
    "sparse",
    "compute_capability",
    "kv_cache_dtype",
    "dtype",
    "head_size",
    "block_size",
    "query_heads",
    "topk",
    "sink",
)
"""Request fields in the order in which they decide which cell is nearest: what a user cannot
change comes first. `features` and `libraries` follow them."""

_REMEMBERED = 4096


class Index:
    """The tables of one backend. `tables` follows FIELDS."""

    __slots__ = (
        "cells",
        "sure",
        "possible",
        "shift",
        "tables",
        "_work_out",
        "_feature_bits",
        "_engines",
        "_versions",
    )

    def __init__(self, cells: tuple[Cell, ...], mla: bool | None, sparse: bool | None) -> None:
        self.cells = cells
        self.shift = len(cells)
        self.sure = (1 << self.shift) - 1
        self.possible = self.sure << self.shift
        self._engines = [_compiled(cell.engines) for cell in cells]
        self._versions = [_compiled(cell.versions) for cell in cells]
        sinks = [_feature_state(cell, "attention_sink") for cell in cells]
        decide: dict[str, Callable[[Cell, Any], bool | None]] = {
            "phase": lambda cell, value: cell.phase == value,
            "mla": lambda cell, value: mla in (None, value),
            "sparse": lambda cell, value: (bool(cell.topk) if sparse is None else sparse) == value,
            "kv_cache_dtype": lambda cell, value: value in cell.spellings,
            "dtype": _axis("dtypes"),
            "head_size": _axis("head_sizes"),
            "block_size": _axis("block_sizes"),
            "query_heads": _axis("query_heads"),
            "topk": _axis("topk"),
        }
        self._work_out: tuple[Callable[[Any], int], ...] = tuple(
            self._capability_bits()
            if field == "compute_capability"
            else (lambda value: self._bits(sinks) if value else self._all)
            if field == "sink"
            else self._bits_by(decide[field])
            for field in FIELDS
        )
        self.tables: tuple[dict[Any, int], ...] = tuple({None: self._all} for _ in FIELDS)
        self._feature_bits = {
            name: self._bits(_feature_state(cell, name) for cell in cells) for name in FEATURES
        }

    @property
    def _all(self) -> int:
        return self.sure | self.possible

    def _bits(self, answers: Iterable[bool | None]) -> int:
        """Bits from one answer a cell: True, False, or None for not established."""
        bits = 0
        for i, answer in enumerate(answers):
            if answer:
                bits |= 1 << i | 1 << (self.shift + i)
            elif answer is None:
                bits |= 1 << (self.shift + i)
        return bits

    def _bits_by(self, decide: Callable[[Cell, Any], bool | None]) -> Callable[[Any], int]:
        return lambda value: self._bits(decide(cell, value) for cell in self.cells)

    def _capability_bits(self) -> Callable[[Capability], int]:
        compiled = [
            (
                [CapabilityPattern(text) for text in cell.compute_capability],
                [CapabilityPattern(text) for text in cell.except_capability],
            )
            for cell in self.cells
        ]
        return lambda capability: self._bits(
            matches_any(takes, capability) and not matches_any(leaves, capability)
            for takes, leaves in compiled
        )

    def masks(self, request: Request) -> tuple[int, ...]:
        """The bits of each of FIELDS; works out, and remembers, those of values not yet seen."""
        found = []
        for field, table, work_out in zip(FIELDS, self.tables, self._work_out, strict=True):
            value = getattr(request, field)
            bits = table.get(value)
            if bits is None:
                bits = work_out(value)
                if len(table) < _REMEMBERED:
                    table[value] = bits
            found.append(bits)
        return tuple(found)

    def further(self, request: Request) -> tuple[tuple[str, Any, int], ...]:
        """Field, value and bits of what a request names beside FIELDS.

        `engine`: whether a release has the backend; `libraries`: whether one of the named
        distributions has the kernel. A cell that none of them concerns is not judged by them.
        """
        found: list[tuple[str, Any, int]] = [
            ("features", name, self._feature_bits[name]) for name in request.features
        ]
        for field, versions in (("engine", self._engines), ("libraries", self._versions)):
            named = tuple(pair for pair in request.libraries if any(pair[0] in v for v in versions))
            if named:
                bits = self._bits(_library_answer(accepted, named) for accepted in versions)
                found.append((field, named, bits))
        return tuple(found)

    def members(self, bits: int) -> list[Cell]:
        """The cells that `bits` holds, surely or possibly, in their order."""
        both = (bits | bits >> self.shift) & self.sure
        return [cell for i, cell in enumerate(self.cells) if both >> i & 1]


def _axis(name: str) -> Callable[[Cell, Any], bool | None]:
    def decide(cell: Cell, value: Any) -> bool | None:
        if value not in getattr(cell, name):
            return False  # outside the backend's own claim
        return None if name in cell.unknown else True

    return decide


def _feature_state(cell: Cell, feature: str) -> bool | None:
    if feature in cell.unknown_features or "features" in cell.unknown:
        return None
    return feature in cell.features


def _compiled(versions: Mapping[str, str] | None) -> dict[str, Specifier | str]:
    return {
        name: text if text in ("any", "none", UNKNOWN) else Specifier(text)
        for name, text in (versions or {}).items()
    }


def _library_answer(
    versions: dict[str, Specifier | str], libraries: tuple[tuple[str, Version | Absent], ...]
) -> bool | None:
    """Whether one of the named distributions is accepted; True where none of them is concerned."""
    answers = [version_answer(versions[name], v) for name, v in libraries if name in versions]
    if not answers or True in answers:
        return True
    return None if None in answers else False


def version_answer(accepted: Specifier | str, version: Version | Absent) -> bool | None:
    """Whether a distribution's version is accepted; None where nobody knows."""
    if isinstance(version, Absent) or accepted == "none":
        return False
    if isinstance(accepted, str):
        return True if accepted == "any" else None
    return accepted.contains(version)


def describe_ints(sets: Iterable[IntSet]) -> tuple[int | str, ...]:
    """The union of the sets: values, then runs of multiples as words."""
    return union(sets).describe()
