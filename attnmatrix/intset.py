"""Sets of positive integers as rows write them: any, values, and multiples within bounds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator


class Multiples:
    """Every multiple of `base` from `minimum` up to `maximum` (None: no bound)."""

    __slots__ = ("base", "minimum", "maximum")

    def __init__(self, base: int = 1, minimum: int = 1, maximum: int | None = None) -> None:
        put = object.__setattr__
        put(self, "base", base)
        put(self, "minimum", minimum)
        put(self, "maximum", maximum)

    base: int
    minimum: int
    maximum: int | None

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("Multiples are frozen")

    def __reduce__(self) -> tuple[type[Multiples], tuple[int, int, int | None]]:
        return Multiples, (self.base, self.minimum, self.maximum)

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
        if self.base == 1 and self.maximum is not None:
            return f"{self.first} to {self.maximum}"
        words = ["any" if self.base == 1 else f"multiples of {self.base}"]
        if self.first > self.base:
            words.append(f"from {self.first}")
        if self.maximum is not None:
            words.append(f"up to {self.maximum}")
        return " ".join(words)


class IntSet:
    """A union of single values and Multiples; runs that touch are joined. Frozen."""

    __slots__ = ("values", "multiples")

    def __init__(self, values: Iterable[int] = (), multiples: Iterable[Multiples] = ()) -> None:
        singles = set(values)
        runs: list[Multiples] = []
        for run in sorted(multiples, key=lambda m: (m.base, m.first)):
            if not run.empty:
                _add(run, runs, singles)
        values = sorted(v for v in singles if not any(v in m for m in runs))
        object.__setattr__(self, "multiples", tuple(runs))
        object.__setattr__(self, "values", tuple(values))

    values: tuple[int, ...]
    multiples: tuple[Multiples, ...]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("an IntSet is frozen")

    def __reduce__(self) -> tuple[type[IntSet], tuple[tuple[int, ...], tuple[Multiples, ...]]]:
        return IntSet, (self.values, self.multiples)

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

    def numbers(self) -> list[int] | None:
        """Every member in order; None where a run has no end."""
        found = set(self.values)
        for run in self.multiples:
            if run.maximum is None:
                return None
            found |= set(range(run.first, run.maximum + 1, run.base))
        return sorted(found)

    def describe(self) -> tuple[int | str, ...]:
        """Values as integers, then runs as words, such as (64, 'multiple of 128')."""
        return (*self.values, *map(str, self.multiples))

    def __iter__(self) -> Iterator[int | str]:
        return iter(self.describe())

    def __str__(self) -> str:
        return ", ".join(map(str, self.describe())) or "none"

    def __repr__(self) -> str:
        return f"<IntSet {self}>"


def _add(run: Multiples, runs: list[Multiples], singles: set[int]) -> None:
    """Adds a run: joined to the last one if they touch, and to the single values next to it."""
    first, last, base = run.first, run.maximum, run.base
    if runs and runs[-1].base == base:
        before = runs[-1]
        if before.maximum is None:
            return
        if first <= before.maximum // base * base + base:
            runs.pop()
            first = before.first
            last = None if last is None else max(last, before.maximum)
    while first > base and first - base in singles:
        first -= base
    while last is not None and last // base * base + base in singles:
        last = last // base * base + base
    if first == last:
        singles.add(first)
    else:
        runs.append(Multiples(base, first, last))


def union(sets: Iterable[IntSet]) -> IntSet:
    """Every integer that is in one of the sets."""
    found = IntSet()
    for each in sets:
        found |= each
    return found


_MANY = 100_000


def _covered(run: Multiples, other: IntSet) -> bool:
    if any(run.meet(m) == run for m in other.multiples):
        return True
    if run.maximum is None or (run.maximum - run.first) // run.base > _MANY:
        return False
    return all(value in other for value in range(run.first, run.maximum + 1, run.base))


ANY = IntSet(multiples=(Multiples(),))
"""Every positive integer."""

NONE = IntSet()
"""No integer: the axis does not exist there, as top-k on a dense kernel."""
