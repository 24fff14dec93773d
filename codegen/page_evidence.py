"""What pages show of evidence: the files, hazards, and each kernel's outcomes by axis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from attnmatrix.evidence import AXES, OUTCOMES, Record
from attnmatrix.verified import Verified, describe

from .evidence import File, Probed
from .text import markdown

if TYPE_CHECKING:
    from .matrix import Matrix

_BEST = ("right", "wrong", "crashed", "refused", "untested")
"""Outcomes in the order in which one of a value's cases decides where the value is listed."""

Told = dict[tuple[str, str], list[dict[str, Any]]]
"""Findings in words, by file and kernel."""

_SINGLE = AXES[:-1]
_COUNTED = ("verified", "excepted", "hazard")


def evidence_words(words: Sequence[Verified]) -> str:
    """What a claim rests on, for a table's cell: `cited`, or what verified it. Markdown."""
    fresh = [f"verified on {_verified(word)}" for word in words if not word.stale]
    stale = [f"stale: verified on {_verified(word)}" for word in words if word.stale]
    return "; ".join([*fresh, *(stale if fresh else ["cited", *stale])]) if words else "cited"


def _verified(word: Verified) -> str:
    cases = f"{word.right} case{'s' * (word.right != 1)}"
    return f"{markdown(describe(word.to_json()))} ({cases})"


def evidence_page(matrix: Matrix) -> dict[str, Any]:
    """The files, each with its machine and counts."""
    standings: dict[str, Counter[str]] = {file.path: Counter() for file in matrix.files}
    for probed in matrix.probed:
        standings[probed.file.path].update(probed.standings)
    return {
        "outcomes": OUTCOMES,
        "standings": _COUNTED,
        "files": [
            {
                "file": file,
                "outcomes": Counter(record.outcome for record in file.evidence.records),
                "standings": standings[file.path],
            }
            for file in matrix.files
        ],
    }


def told_findings(matrix: Matrix, standing: str) -> Told:
    """The records that stand so, by cause and in words; by file and kernel."""
    found: Told = {}
    for probed in matrix.probed:
        if standing in probed.standings:
            found[probed.file.path, probed.kernel] = _told(matrix, probed, standing)
    return found


def hazards_page(matrix: Matrix, hazards: Told) -> dict[str, Any]:
    """What nothing claims and no library refuses, by cause."""
    machines = {file.path: machine(file) for file in matrix.files}
    return {
        "hazards": [
            {"kernel": kernel, "by": machines[path], **finding}
            for (path, kernel), findings in hazards.items()
            for finding in findings
        ]
    }


def kernel_evidence(
    matrix: Matrix, kernel: str, hazards: Told, excepted: Told
) -> list[dict[str, Any]]:
    """Each file's records of a kernel: what asks for attention first, then outcomes by axis."""
    return [
        {
            "by": machine(probed.file),
            "file": probed.file.path,
            "date": probed.file.evidence.date,
            "counts": counts(record.outcome for record in probed.records),
            "excepted": excepted.get((probed.file.path, kernel), []),
            "hazards": hazards.get((probed.file.path, kernel), []),
            "axes": _axes(probed),
        }
        for probed in matrix.probed
        if probed.kernel == kernel
    ]


def machine(file: File) -> str:
    """Where a file's records were made, in words."""
    evidence = file.evidence
    distribution, version = evidence.provider
    return f"{evidence.gpu} ({evidence.compute_capability}), {distribution} {version}"


def repeat(kernel: str, record: Record, file: File) -> str:
    """The command that runs a record's case again."""
    from attnmatrix.probe.case import Case
    from attnmatrix.probe.describe import reproduction

    return reproduction(Case.of(kernel, record.case), file.evidence.provider[0])


def counts(outcomes: Iterable[str]) -> str:
    """How many came out in each way, in words."""
    counted = Counter(outcomes)
    return ", ".join(f"{name} {counted[name]}" for name in OUTCOMES if counted[name])


def _told(matrix: Matrix, probed: Probed, standing: str) -> list[dict[str, Any]]:
    from attnmatrix.probe.describe import cause, extent, reproduction, words

    from .findings import findings_of

    return [
        {
            "cause": cause(finding),
            "extent": extent(finding),
            "words": words(finding.cases[0]),
            "again": reproduction(finding.cases[0].case, probed.file.evidence.provider[0]),
        }
        for finding, _ in findings_of(matrix, probed, standing)
    ]


def _axes(probed: Probed) -> list[tuple[str, dict[str, str]]]:
    """For each axis with several values: those values by the best outcome of a case with them."""
    cases: dict[str, list[dict[str, Any]]] = {name: [] for name in _BEST}
    for record in probed.records:
        cases[record.outcome].append(record.case)
    found = []
    for axis in AXES:
        seen: set[Any] = set()
        listed: dict[str, str] = {}
        for outcome, some in cases.items():
            values = {case[axis] for case in some} if axis in _SINGLE else _sets(some)
            new = sorted(
                values - seen, key=lambda v: (v is not None, v if type(v) is int else 0, str(v))
            )
            seen |= values
            listed[outcome] = ", ".join("none" if value is None else str(value) for value in new)
        if len(seen) > 1:
            found.append((axis, listed))
    return found


def _sets(cases: Iterable[dict[str, Any]]) -> set[str]:
    """Each set of features as one value."""
    return {"+".join(names) or "none" for names in {tuple(case["features"]) for case in cases}}
