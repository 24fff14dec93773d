"""What the probe saw, as text, JSON or GitHub annotations."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from ..annotation import annotation
from ..capability import format_capability
from ..evidence import text as evidence_text
from ..libraries import BUILT_IN
from .describe import cause, extent, outcomes_by_axis, reproduction, words
from .finding import DISAGREES, NEEDLESS, STANDINGS
from .run import evidence_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .finding import Finding, Judged
    from .machine import Machine
    from .run import Probed

SHOWN = 40
"""Findings of a kind that a terminal shows; a report file has them all."""


def machine_line(machine: Machine) -> str:
    """The GPU and the versions beside it."""
    gpu = f"{machine.gpu} ({format_capability(machine.capability)})"
    if machine.gpu == "none":
        gpu = "no GPU"
    return f"{gpu}, driver {machine.driver}, CUDA {machine.cuda}, PyTorch {machine.torch}"


def text_lines(machine: Machine, probed: Sequence[Probed], matrix: str) -> Iterator[str]:
    """Lines for people: what disagrees, hazards, then each kernel's outcomes by axis."""
    yield machine_line(machine)
    for item in probed:
        yield ""
        yield from _target_lines(item, matrix)
    yield ""
    yield summary(probed)


def summary(probed: Sequence[Probed]) -> str:
    """One line: whether the matrix and the GPU agree."""
    found = [finding for item in probed for finding in item.findings]
    counts = Counter(finding.standing for finding in found)
    disagreeing = [
        f"{counts[kind]} {kind}{'s' if counts[kind] != 1 else ''}"
        for kind in DISAGREES
        if counts[kind]
    ]
    if disagreeing:
        return f"the matrix and the GPU disagree: {', '.join(disagreeing)}"
    if not any(item.tried for item in probed):
        return "nothing could be tried"
    return "the matrix and the GPU agree"


def _target_lines(item: Probed, matrix: str) -> Iterator[str]:
    distribution, version = item.target.provider
    yield f"{item.target.library} from {distribution} {version}"
    rows: list[tuple[str, ...]] = [("kernel", "cases", *STANDINGS)]
    for kernel, cases in item.judged.items():
        if cases:
            counts = Counter(judged.standing for judged in cases)
            shown = (str(counts[standing] or "-") for standing in STANDINGS)
            rows.append((kernel, str(len(cases)), *shown))
    yield from _table(rows)
    for standing in (*DISAGREES, "hazard"):
        alike = [finding for finding in item.findings if finding.standing == standing]
        for finding in alike[:SHOWN]:
            yield from _finding_lines(finding, distribution, matrix)
        if len(alike) > SHOWN:
            yield f"  and {len(alike) - SHOWN} more of {standing}: --report FILE.md lists them all"
    why = Counter(
        judged.answer.message
        for cases in item.judged.values()
        for judged in cases
        if judged.standing == "untested"
    )
    for message, number in why.most_common(SHOWN):
        yield f"  untested, {number}: {message}"
    for kernel, cases in item.judged.items():
        if any(judged.answer.outcome != "untested" for judged in cases):
            yield f"  {kernel}"
            yield from _axis_lines(cases)


def _finding_lines(finding: Finding, distribution: str, matrix: str) -> Iterator[str]:
    first = finding.cases[0]
    yield f"  {finding.standing}: {finding.kernel}: {cause(finding)}: {extent(finding)}"
    if finding.standing != NEEDLESS and words(first):
        yield f"    {words(first)}"
    yield f"    {reproduction(first.case, distribution, matrix)}"


def _axis_lines(cases: Sequence[Judged]) -> Iterator[str]:
    """An axis a line: its values by the best that came of any case with them."""
    best = ("right", "wrong", "crashed", "refused", "untested")
    for axis, values in outcomes_by_axis(cases).items():
        groups: dict[str, list[str]] = {outcome: [] for outcome in best}
        for value, counts in values.items():
            groups[next(name for name in best if counts[name])].append(str(value))
        listed = (f"{name} {', '.join(group)}" for name, group in groups.items() if group)
        yield f"    {axis}: {'; '.join(listed)}"


def _table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *numbers in rows:
        cells = (cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=True))
        yield f"  {name.ljust(widths[0])}  {'  '.join(cells)}"


def to_json(machine: Machine, probed: Sequence[Probed], matrix: str = BUILT_IN) -> str:
    """The object of `probe --json`.

    `agrees`: null where nothing could be tried; `evidence`: the files that --write would write;
    `standings`: how many cases stand how, by distribution and kernel; `findings`: what disagrees,
    and hazards, each with its first case.
    """
    agrees = not any(item.disagrees for item in probed)
    known = any(item.tried for item in probed)
    data: dict[str, Any] = {"agrees": agrees if known else None, "standings": {}}
    for item in probed:
        data["standings"][item.target.provider[0]] = {
            kernel: dict(Counter(judged.standing for judged in cases))
            for kernel, cases in item.judged.items()
            if cases
        }
    data["findings"] = [
        {
            "standing": finding.standing,
            "kernel": finding.kernel,
            "provider": "==".join(item.target.provider),
            "where": finding.where,
            "reason": finding.note or None,
            "cases": len(finding.cases),
            "of": finding.of,
            "outcomes": dict(finding.outcomes()),
            "first": finding.cases[0].case.axes(),
            "message": words(finding.cases[0]) or None,
            "command": reproduction(finding.cases[0].case, item.target.provider[0], matrix),
        }
        for item in probed
        for finding in item.findings
    ]
    data["evidence"] = [json.loads(evidence_text(evidence_of(item, machine))) for item in probed]
    return json.dumps(data, indent=1)


def github_lines(probed: Sequence[Probed], matrix: str) -> Iterator[str]:
    """Workflow commands: an error for what disagrees, a warning for a hazard."""
    for item in probed:
        for finding in item.findings:
            level = "error" if finding.standing in DISAGREES else "warning"
            title = f"{finding.standing}: {finding.kernel}"
            command = reproduction(finding.cases[0].case, item.target.provider[0], matrix)
            said = f"{cause(finding)}: {extent(finding)}; {words(finding.cases[0])}\n{command}"
            yield annotation(level, title, said, None)
    yield summary(probed)
