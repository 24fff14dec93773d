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
    assert bool(x & y) or not (s & t)
    if x <= y:
        assert s <= t


@given(described)
def test_every_set_lies_within_itself_and_any(a) -> None:  # type: ignore[no-untyped-def]
    x = ours(*a)
    assert x <= x
    assert x <= ANY
    assert x >= NONE


def test_runs_that_touch_are_joined() -> None:
    assert IntSet([64, 128], [Multiples(64, 192)]) == IntSet(multiples=[Multiples(64)])
    assert IntSet(multiples=[Multiples(1, 1, 16), Multiples(1, 17)]) == ANY
    assert IntSet(multiples=[Multiples(64)]) <= IntSet([64], [Multiples(64, 128)])
    assert IntSet(multiples=[Multiples(64, 128, 128)]) == IntSet([128])


def test_words() -> None:
    heads = IntSet([64, 128], [Multiples(64, 192), Multiples(1, 1, 16)])
    assert str(heads) == "1 to 16, multiples of 64"
    assert str(NONE) == "none"
    assert str(ANY) == "any"


def test_the_numbers_of_a_set_with_an_end() -> None:
    assert IntSet([512, 20], [Multiples(8, maximum=30)]).numbers() == [8, 16, 20, 24, 512]
    assert IntSet([7]).numbers() == [7]
    assert IntSet([7], [Multiples(8)]).numbers() is None
