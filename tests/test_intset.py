"""Sets of integers, held against Python's own sets within a window."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from attnmatrix.intset import ANY, NONE, IntSet, Multiples

WINDOW = range(1, 400)
small = st.integers(1, 40)
runs = st.builds(
    lambda base, low, high: (base, low, None if high is None else low + high),
    small,
    small,
    st.none() | st.integers(0, 80),
)
described = st.tuples(st.frozensets(small, max_size=4), st.lists(runs, max_size=3))


def ours(values: frozenset[int], parts: list[tuple[int, int, int | None]]) -> IntSet:
    return IntSet(values, [Multiples(*part) for part in parts])


def theirs(values: frozenset[int], parts: list[tuple[int, int, int | None]]) -> set[int]:
    return set(values) | {
        n
        for base, low, high in parts
        for n in WINDOW
        if n % base == 0 and n >= low and (high is None or n <= high)
    }


@given(described, described)
def test_algebra_is_that_of_sets(a, b) -> None:  # type: ignore[no-untyped-def]
    x, y, s, t = ours(*a), ours(*b), theirs(*a), theirs(*b)
    assert {n for n in WINDOW if n in x} == s
    assert {n for n in WINDOW if n in (x & y)} == s & t
    assert {n for n in WINDOW if n in (x | y)} == s | t
    assert bool(x & y) == bool(x & y)
    if x <= y:
        assert s <= t


@given(described)
def test_every_set_lies_within_itself_and_any(a) -> None:  # type: ignore[no-untyped-def]
    x = ours(*a)
    assert x <= x
    assert x <= ANY
    assert x >= NONE


def test_words() -> None:
    heads = IntSet([64, 128], [Multiples(64, 192), Multiples(1, 1, 16)])
    assert str(heads) == "64, 128, multiple of 64 from 192, any up to 16"
    assert str(NONE) == "none"
    assert str(ANY) == "any"
