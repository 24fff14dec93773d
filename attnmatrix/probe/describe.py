"""Findings in words, and the outcomes of a kernel's cases by axis."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ..evidence import OUTCOMES
from ..libraries import BUILT_IN
from .finding import NEEDLESS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .case import Case
    from .finding import Finding, Judged

_AXES = (
    "kv_format",
    "dtype",
    "head_size",
    "query_heads",
    "page_size",
    "topk",
    "extra_kv_format",
    "features",
)


def reproduction(case: Case, distribution: str, matrix: str = BUILT_IN) -> str:
    """The command that tries one case alone."""
    other = "" if matrix == BUILT_IN else f" --matrix {matrix}"
    return f"attnmatrix probe --provider {distribution}{other} --case {case.key()}"


def cause(finding: Finding) -> str:
    """What sets a finding's cases apart: 'kv_format ds_mla_v4, dtype bfloat16, query_heads 96'."""
    if finding.standing == NEEDLESS:
        return f'"{finding.note}"'
    return ", ".join(f"{axis} {value}" for axis, value in finding.where.items())


def extent(finding: Finding) -> str:
    """How many cases, and what came of them: '12 of 40 claimed cases: refused 10, wrong 2'."""
    if finding.standing == NEEDLESS:
        return f"none of its {len(finding.cases)} cases needs it"
    outcomes = finding.outcomes()
    counted = ", ".join(f"{name} {outcomes[name]}" for name in OUTCOMES if outcomes[name])
    kind = "claimed" if finding.standing == "overclaim" else "unclaimed"
    of = f"{finding.of} {kind} case{'s' if finding.of != 1 else ''}"
    some = f"{len(finding.cases)} of {of}" if len(finding.cases) != finding.of else of
    return f"{some}: {counted}"


def words(judged: Judged) -> str:
    """What the library said to a case, or how far it was off."""
    answer = judged.answer
    error = f"relative error {answer.error:.1e}" if answer.error is not None else ""
    return "; ".join(filter(None, (error, answer.message)))


def outcomes_by_axis(cases: Sequence[Judged]) -> dict[str, dict[Any, Counter[str]]]:
    """By axis, its values in order with the outcomes of their cases; axes of one value left out.

    A set of features is one value: 'lse+strided_pages', or 'none'.
    """
    table: dict[str, dict[Any, Counter[str]]] = {}
    for axis in _AXES:
        counted: dict[Any, Counter[str]] = {}
        for judged in cases:
            value = getattr(judged.case, axis)
            if axis == "features":
                value = "+".join(value) or "none"
            counted.setdefault(value, Counter())[judged.answer.outcome] += 1
        if len(counted) > 1:
            table[axis] = dict(sorted(counted.items(), key=_by_value))
    return table


def _by_value(item: tuple[Any, Any]) -> tuple[bool, int, str]:
    value = item[0]
    return (value is not None, value if isinstance(value, int) else 0, str(value))
