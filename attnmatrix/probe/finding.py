"""What the answers say of the matrix: cases held against rows, and what disagrees, by its cause."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from ..evidence import standing_of
from ..rows import judge
from ..standings import excepted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..capability import Capability
    from .case import Answer, Case
    from .claims import Claims

STANDINGS = (
    "overclaim",
    "underclaim",
    "hazard",
    "excepted",
    "verified",
    "agreed",
    "untested",
)
"""As `attnmatrix.evidence.stand` has them, those that ask for attention first."""

NEEDLESS = "needless exception"
DISAGREES = ("overclaim", "underclaim", NEEDLESS)
"""Findings that the matrix has to be corrected for."""

_CAUSES = ("head_size", "query_heads", "page_size", "topk", "extra_kv_format")


class Judged(NamedTuple):
    """A case, what came of it, whether a row takes it, and how that stands."""

    case: Case
    answer: Answer
    claimed: bool
    standing: str


class Finding(NamedTuple):
    """Cases that stand alike, for one cause.

    where: what they share, by axis, as far as it sets them apart. cases: in the order of the grid.
    of: how many cases that share it were claimed (overclaims) or not (the others). note: the
    reason of a needless exception.
    """

    standing: str
    kernel: str
    where: dict[str, Any]
    cases: tuple[Judged, ...]
    of: int = 0
    note: str = ""

    def outcomes(self) -> Counter[str]:
        """How many cases came out in each way."""
        return Counter(judged.answer.outcome for judged in self.cases)


def judge_cases(
    claims: Claims,
    capability: Capability,
    provider: tuple[str, str],
    answers: Iterable[tuple[Case, bool, Answer]],
) -> list[Judged]:
    """Each case, with whether it is claimed and its answer, held against the kernel's rows."""
    found = []
    for case, claimed, answer in answers:
        standing = standing_of(answer.outcome, claimed)
        if standing == "underclaim":
            call = case.call(capability, provider)
            if excepted(claims.exceptions, call) is not None:
                standing = "excepted"
        found.append(Judged(case, answer, claimed, standing))
    return found


def findings(
    claims: Claims,
    capability: Capability,
    provider: tuple[str, str],
    cases: Sequence[Judged],
    *,
    whole: bool,
) -> list[Finding]:
    """What disagrees, and what is hazardous, by cause.

    whole: whether the whole grid was tried; an exception is called needless only then.
    """
    tried = [judged for judged in cases if judged.answer.outcome != "untested"]
    found = list(_overclaims(claims.kernel, [judged for judged in tried if judged.claimed]))
    for standing in ("underclaim", "hazard"):
        alike = [judged for judged in tried if judged.standing == standing]
        found += _unclaimed(claims, capability, provider, standing, alike)
    return [*found, *(_needless(claims, capability, provider, tried) if whole else ())]


def _overclaims(kernel: str, claimed: Sequence[Judged]) -> Iterator[Finding]:
    """By KV format and dtype: the values all of whose claimed cases fail, then what is left."""
    for identity, members in _grouped(claimed):
        left = [judged for judged in members if judged.standing == "overclaim"]
        if len(left) == len(members):
            yield Finding("overclaim", kernel, identity, tuple(left), len(members))
            continue
        while left:
            cause, failing, of = _widest_cause(members, left)
            yield Finding("overclaim", kernel, identity | cause, tuple(failing), of)
            gone = {judged.case for judged in failing}
            left = [judged for judged in left if judged.case not in gone]


def _widest_cause(
    members: Sequence[Judged], left: Sequence[Judged]
) -> tuple[dict[str, Any], list[Judged], int]:
    """The value that explains most of what is left; without one, all that is left as it is."""
    total = Counter(item for judged in members for item in _values(judged.case))
    failed = Counter(
        item
        for judged in members
        if judged.standing == "overclaim"
        for item in _values(judged.case)
    )
    gains = Counter(item for judged in left for item in _values(judged.case))
    causes = [item for item in gains if failed[item] == total[item]]
    if not causes:
        return {}, list(left), len(members)
    axis, value = best = max(causes, key=lambda item: gains[item])
    explained = [judged for judged in left if best in _values(judged.case)]
    return {axis: value}, explained, total[best]


def _unclaimed(
    claims: Claims,
    capability: Capability,
    provider: tuple[str, str],
    standing: str,
    alike: Sequence[Judged],
) -> Iterator[Finding]:
    """Cases that no row takes, by what the nearest row does not take."""
    for identity, members in _grouped(alike):
        by_cause: dict[tuple[Any, ...], list[Judged]] = {}
        for judged in members:
            nearest = judge(claims.rows, judged.case.call(capability, provider)).nearest
            values = {f.field: f.value for f in nearest if f.field in (*_CAUSES, "features")}
            by_cause.setdefault(tuple(values.items()), []).append(judged)
        for cause, cases in by_cause.items():
            yield Finding(standing, claims.kernel, identity | dict(cause), tuple(cases), len(cases))


def _needless(
    claims: Claims,
    capability: Capability,
    provider: tuple[str, str],
    tried: Sequence[Judged],
) -> Iterator[Finding]:
    """Exceptions under which cases fall, but none that needs one."""
    under: dict[int, list[Judged]] = {}
    for judged in tried:
        place = excepted(claims.exceptions, judged.case.call(capability, provider))
        if place is not None:
            under.setdefault(place, []).append(judged)
    for place, cases in under.items():
        if not any(judged.standing == "excepted" for judged in cases):
            reason = claims.exceptions[place]["reason"]
            yield Finding(NEEDLESS, claims.kernel, {}, tuple(cases), len(cases), reason)


def _grouped(cases: Iterable[Judged]) -> Iterator[tuple[dict[str, Any], list[Judged]]]:
    groups: dict[tuple[str, str], list[Judged]] = {}
    for judged in cases:
        groups.setdefault((judged.case.kv_format, judged.case.dtype), []).append(judged)
    for (kv_format, dtype), members in groups.items():
        yield {"kv_format": kv_format, "dtype": dtype}, members


def _values(case: Case) -> list[tuple[str, Any]]:
    """What may be the cause: each axis with its value, each feature by itself, in that order."""
    found = [(axis, getattr(case, axis)) for axis in _CAUSES]
    found += [("features", feature) for feature in case.features]
    return [(axis, value) for axis, value in found if value is not None]
