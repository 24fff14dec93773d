"""Head sizes as a list or as a rule, and what either holds."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_HEAD_SIZE = 1024
"""Head sizes up to here, in elements, are tried where a method and no list decides."""


def summary(accepted: list[int]) -> list[int | str]:
    """Accepted numbers of 1 to MAX_HEAD_SIZE as a rule where one fits, else one by one."""
    if not accepted:
        return ["none"]
    if len(accepted) == MAX_HEAD_SIZE:
        return []
    if len(accepted) < 4:
        return list(accepted)
    step, first, last = accepted[1] - accepted[0], accepted[0], accepted[-1]
    if first % step or accepted != list(range(first, last + 1, step)):
        return list(accepted)
    rule = [f"%{step}"] if step > 1 else []
    rule += [f">={first}"] if first > step else []
    rule += [f"<={last}"] if last + step <= MAX_HEAD_SIZE else []
    return [",".join(rule)]


def expand(sizes: list[int | str], samples: Sequence[int]) -> list[int]:
    """Head sizes to try: those that are named, and the samples that a rule holds."""
    if not sizes:
        return list(samples)
    found = [size for size in sizes if isinstance(size, int)]
    for rule in (size for size in sizes if isinstance(size, str) and size != "none"):
        found += [size for size in samples if holds(rule, size)]
    return found


def bounds(rule: str) -> list[tuple[str, int]]:
    """The parts of a rule that `summary` wrote: `%8,<=256` is ('%', 8) and ('<=', 256)."""
    return [(part.rstrip("0123456789"), int(part.lstrip("%<>="))) for part in rule.split(",")]


def holds(rule: str, size: int) -> bool:
    """Whether such a rule holds a head size."""
    tests = {"%": lambda n: size % n == 0, ">=": lambda n: size >= n, "<=": lambda n: size <= n}
    return all(tests[sign](number) for sign, number in bounds(rule))


def includes(sizes: list[int | str], size: int) -> bool:
    """Whether declared head sizes, of which none means any, hold one."""
    return not sizes or any(
        item == size if isinstance(item, int) else item != "none" and holds(item, size)
        for item in sizes
    )
