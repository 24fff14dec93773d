"""Sets of positive integers as rows write them: any, values, and multiples within bounds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator


class Multiples:
    """Every multiple of `base` from `minimum` up to `maximum` (None: no bound)."""

    __slots__ = ("base", "minimum", "maximum")

    def __init__(self, base: int = 1, minimum: int = 1, maximum: int | None = None) -> None:
        self.base = base
        self.minimum = minimum
        self.maximum = maximum

    def __contains__(self, value: int) -> bool:
        return (
            value % self.base == 0
            and value >= self.minimum
            and (self.maximum is None or value <= self.maximum)
        )

    @property
    def first(self) -> int:
        """The smallest member, if there is one."""
        return -(-max(self.minimum, 1) // self.base) * self.base

    def meet(self, other: Multiples) -> Multiples:
        """The common members."""
        maxima = [bound for bound in (self.maximum, other.maximum) if bound is not None]
        return Multiples(
            math.lcm(self.base, other.base),
            max(self.minimum, other.minimum),
            min(maxima) if maxima else None,
        )

    @property
    def empty(self) -> bool:
        """Whether nothing lies within the bounds."""
        return self.maximum is not None and self.first > self.maximum

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Multiples) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[int, int, int | None]:
        top = None if self.maximum is None else self.maximum // self.base * self.base
        return self.base, self.first, top

    def __str__(self) -> str:
        text = "any" if self.base == 1 else f"multiple of {self.base}"
        if self.first > self.base:
            text += f" from {self.first}"
        return text if self.maximum is None else f"{text} up to {self.maximum}"


class IntSet:
    """A union of single values and Multiples. Immutable."""

    __slots__ = ("values", "multiples")

    def __init__(self, values: Iterable[int] = (), multiples: Iterable[Multiples] = ()) -> None:
        self.multiples = tuple(dict.fromkeys(m for m in multiples if not m.empty))
        self.values = tuple(sorted({v for v in values if not any(v in m for m in self.multiples)}))

    def __contains__(self, value: int) -> bool:
        return value in self.values or any(value in m for m in self.multiples)

    def __bool__(self) -> bool:
        return bool(self.values or self.multiples)

    def __and__(self, other: IntSet) -> IntSet:
        values = [v for v in self.values if v in other] + [v for v in other.values if v in self]
        return IntSet(values, (a.meet(b) for a in self.multiples for b in other.multiples))

    def __or__(self, other: IntSet) -> IntSet:
        return IntSet(self.values + other.values, self.multiples + other.multiples)

    def __le__(self, other: IntSet) -> bool:
        """Whether every member is in `other`.

        A run of multiples counts as covered if one of `other`'s runs covers it, or if it is
        bounded and each of its members is covered.
        """
        return all(v in other for v in self.values) and all(
            _covered(m, other) for m in self.multiples
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IntSet):
            return NotImplemented
        return self.values == other.values and set(self.multiples) == set(other.multiples)

    def __hash__(self) -> int:
        return hash((self.values, frozenset(self.multiples)))

    def describe(self) -> tuple[int | str, ...]:
        """Values as integers, then runs as words, such as (64, 'multiple of 128')."""
        return (*self.values, *map(str, self.multiples))

    def __iter__(self) -> Iterator[int | str]:
        return iter(self.describe())

    def __str__(self) -> str:
        return ", ".join(map(str, self.describe())) or "none"

    def __repr__(self) -> str:
        return f"<IntSet {self}>"


def _covered(run: Multiples, other: IntSet) -> bool:
    if any(run.meet(m) == run for m in other.multiples):
        return True
    if run.maximum is None:
        return False
    return all(value in other for value in range(run.first, run.maximum + 1, run.base))


ANY = IntSet(multiples=(Multiples(),))
"""Every positive integer."""

NONE = IntSet()
"""No integer: the axis does not exist there, as top-k on a dense kernel."""
