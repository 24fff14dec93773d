"""What came and went with the versions of a library: claims by release, from rows' specifiers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from attnmatrix.versions import Specifier, Version

_WORDS = {
    "any": "every version",
    "unknown": "version not established",
}


class Event(NamedTuple):
    """One line of a history: `claims` begin (or end) to hold for `distribution` at `when`."""

    distribution: str
    when: str
    change: str
    claims: tuple[str, ...]


def history(claims: Iterable[tuple[Mapping[str, str], str]]) -> list[Event]:
    """The events of claims, each with its specifier by distribution; oldest release first.

    `none` (a distribution without the claim) makes no event. A specifier that is no plain range
    is shown as it stands, in the place of its first version.
    """
    found: dict[tuple[str, tuple[object, ...], str, str], list[str]] = {}
    for versions, claim in claims:
        for distribution, specifier in versions.items():
            for key, when, change in _events(specifier):
                held = found.setdefault((distribution, key, when, change), [])
                if claim not in held:
                    held.append(claim)
    for (distribution, key, when, change), held in found.items():
        if change == "gains":  # what one row ends, another may go on with
            lost = found.get((distribution, key, when, "loses"), [])
            on = [claim for claim in held if claim in lost]
            for claim in on:
                held.remove(claim)
                lost.remove(claim)
    order = {name: i for i, name in enumerate(dict.fromkeys(d for d, *_ in found))}
    events = sorted(found.items(), key=lambda item: (order[item[0][0]], item[0][1], item[0][3]))
    return [Event(d, when, change, tuple(held)) for (d, _, when, change), held in events if held]


@lru_cache(maxsize=1024)
def _events(specifier: str) -> tuple[tuple[tuple[object, ...], str, str], ...]:
    """When a specifier begins and ends to hold, each with a key to sort by."""
    if specifier == "none":
        return ()
    if specifier in _WORDS:
        return (((0, ()), _WORDS[specifier], "has"),)
    clauses = Specifier(specifier).clauses
    ends = {"<": "loses", ">=": "gains"}
    if all(operator in ends and not wildcard for operator, _, wildcard in clauses):
        found = [(_key(bound), bound.text, ends[operator]) for operator, bound, _ in clauses]
        if not any(change == "gains" for *_, change in found):
            found.append(((0, ()), _WORDS["any"], "has"))
        return tuple(found)
    return ((_key(clauses[0][1]), specifier, "has"),)


def _key(version: Version) -> tuple[object, ...]:
    return 1, version.key
