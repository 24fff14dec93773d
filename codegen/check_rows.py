"""Rules about a kernel's rows: none contradicts, none is covered by another."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from attnmatrix.intset import ANY, IntSet
from attnmatrix.versions import Specifier, Version, parse_version

from .gpus import all_points, meet
from .join import share_identity
from .matrix import Matrix
from .problems import Problem
from .schema import Row

_INT_AXES = ("head_sizes", "query_heads", "page_sizes", "topk")


def rows_agree(matrix: Matrix) -> Iterator[Problem]:
    """Two rows that answer one combination must give one answer, and each must be reachable."""
    for name, kernel in matrix.document.kernels.items():
        for (i, a), (j, b) in combinations(enumerate(kernel.rows), 2):
            first = matrix.source.place(("kernels", name, "rows", i))
            place = matrix.source.place(("kernels", name, "rows", j))
            others = ((first, "the other row"),)
            yield from _partly_shadowed(matrix, name, i, j)
            if not _equally_specific(a, b) or not _overlap(a, b):
                continue
            if (a.refuses is None) != (b.refuses is None):
                message = f"this row of {name} and another disagree: one takes what one refuses"
                hint = "narrow one of them, or give one a more specific compute capability"
                yield Problem(place, "conflicting-rows", message, hint, others)
            elif _covers(a, b) or _covers(b, a):
                later = place if _covers(a, b) else first
                earlier = first if _covers(a, b) else place
                message = f"another row of {name} takes all that this row takes"
                hint = "take it out, or narrow the wider one"
                places = ((earlier, "the wider row"),)
                yield Problem(later, "unreachable-row", message, hint, places)
            elif set(a.features.known) != set(b.features.known):
                only = sorted(set(a.features.known) ^ set(b.features.known))
                message = (
                    f"this row of {name} and another take the same combinations "
                    f"but disagree on {', '.join(only)}"
                )
                hint = "narrow one of them so that they share no combination"
                yield Problem(place, "conflicting-rows", message, hint, others)
        yield from _shadowed(matrix, name)


def _partly_shadowed(matrix: Matrix, name: str, i: int, j: int) -> Iterator[Problem]:
    """On the GPUs of a more specific row a wider one is silent, so it must not speak of more."""
    rows = matrix.document.kernels[name].rows
    for wide, narrow in ((i, j), (j, i)):
        a, b = rows[wide], rows[narrow]
        outranks = any(
            y.specificity > x.specificity and meet(x.text, y.text)
            for x in a.compute_capability
            for y in b.compute_capability
        )
        if a.refuses is not None or not outranks or not share_identity(a, b):
            continue
        more = []
        if b.dtypes != "any" and (isinstance(a.dtypes, str) or not set(a.dtypes) <= set(b.dtypes)):
            more.append("dtypes")
        if not _axis(a.head_sizes) <= _axis(b.head_sizes):
            more.append("head_sizes")
        if more:
            yield Problem(
                matrix.source.place(("kernels", name, "rows", wide)),
                "conflicting-rows",
                f"this row of {name} has {' and '.join(more)} that a more specific row leaves out; "
                "on that row's GPUs nothing would speak of them",
                "split this row, so that the specific row has all of one part, none of the other",
                ((matrix.source.place(("kernels", name, "rows", narrow)), "the specific row"),),
            )


def _shadowed(matrix: Matrix, name: str) -> Iterator[Problem]:
    """A row whose every GPU a more specific row answers for can never be reached."""
    rows = matrix.document.kernels[name].rows
    for i, row in enumerate(rows):
        left = all_points(row.compute_capability)
        for other in rows:
            if other is row or not share_identity(row, other):
                continue
            wider = all(
                other_axis == "any" or (not isinstance(axis, str) and set(axis) <= set(other_axis))
                for axis, other_axis in (
                    (row.kv_formats, other.kv_formats),
                    (row.dtypes, other.dtypes),
                )
            )
            if not wider or not _axis(row.head_sizes) <= _axis(other.head_sizes):
                continue
            for pattern in other.compute_capability:
                own = [p.specificity for p in row.compute_capability if meet(p.text, pattern.text)]
                if own and pattern.specificity > max(own):
                    left &= ~all_points([pattern])
        if not left:
            place = matrix.source.place(("kernels", name, "rows", i))
            message = f"more specific rows of {name} answer for every GPU of this row"
            yield Problem(place, "unreachable-row", message, "take it out")


def _equally_specific(a: Row, b: Row) -> bool:
    """Whether on some GPU neither row's pattern is more specific than the other's."""
    for x in a.compute_capability:
        for y in b.compute_capability:
            if x.specificity == y.specificity and meet(x.text, y.text):
                return True
    return False


def _axis(axis: IntSet | str) -> IntSet:
    return ANY if isinstance(axis, str) else axis


def _overlap(a: Row, b: Row) -> bool:
    """Whether some combination lies in both rows."""
    if not share_identity(a, b):
        return False
    for name in _INT_AXES:
        x, y = _axis(getattr(a, name)), _axis(getattr(b, name))
        if not (x & y or (not x and not y)):
            return False
    return any(
        _versions_meet(a.versions.get(name, "none"), b.versions.get(name, "none"))
        for name in {*a.versions, *b.versions}
    )


def _covers(a: Row, b: Row) -> bool:
    """Whether row a takes everything that row b takes."""
    if all_points(b.compute_capability) & ~all_points(a.compute_capability):
        return False
    for axis in ("kv_formats", "dtypes"):
        x, y = getattr(a, axis), getattr(b, axis)
        if x != "any" and (isinstance(y, str) or not set(y) <= set(x)):
            return False
    if not all(_axis(getattr(b, name)) <= _axis(getattr(a, name)) for name in _INT_AXES):
        return False
    if not set(b.features.known) <= set(a.features.known):
        return False
    return all(
        text in ("none", a.versions.get(name)) or _wider(a.versions.get(name, "none"), text)
        for name, text in b.versions.items()
    )


def _wider(a: str, b: str) -> bool:
    """Whether every version that b takes is taken by a."""
    if a == "any":
        return True
    if "none" in (a, b) or "unknown" in (a, b) or b == "any":
        return False
    wide, narrow = Specifier(a), Specifier(b)
    return all(wide.contains(v) for v in samples(wide, narrow) if narrow.contains(v))


def _versions_meet(a: str, b: str) -> bool:
    """Whether some version satisfies both; 'unknown' may be any."""
    if "none" in (a, b):
        return False
    specifiers = [Specifier(text) for text in (a, b) if text not in ("any", "unknown")]
    if len(specifiers) < 2:
        return True
    return any(all(s.contains(v) for s in specifiers) for v in samples(*specifiers))


def samples(*specifiers: Specifier) -> Iterator[Version]:
    """Versions at, just before and just after every bound: between them nothing changes."""
    bounds = {bound.text for s in specifiers for _, bound, _ in s.clauses}
    for text in (
        "0.0",
        "999999",
        *(b + end for b in bounds for end in ("", ".1", ".dev0", ".post9")),
    ):
        try:
            yield parse_version(text)
        except ValueError:  # a suffix on a suffix
            continue
