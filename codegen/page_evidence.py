"""What pages show of evidence: the files, hazards, and each kernel's outcomes by axis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from attnmatrix.evidence import AXES, OUTCOMES
from attnmatrix.verified import Verified, describe

from .evidence import File, Judged, Probed
from .text import markdown

if TYPE_CHECKING:
    from .matrix import Matrix

_BEST = ("right", "wrong", "crashed", "refused", "untested")
"""Outcomes in the order in which one of a value's cases decides where the value is listed."""

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
    by_file: dict[str, list[Judged]] = {file.path: [] for file in matrix.files}
    for probed in matrix.probed:
        by_file[probed.file.path] += probed.judged
    return {
        "outcomes": OUTCOMES,
        "standings": _COUNTED,
        "files": [
            {
                "file": file,
                "outcomes": Counter(item.record.outcome for item in by_file[file.path]),
                "standings": Counter(item.standing for item in by_file[file.path]),
            }
            for file in matrix.files
        ],
    }


def hazards_page(matrix: Matrix) -> dict[str, Any]:
    """What nothing claims and no library refuses, by cause."""
    return {
        "hazards": [
            {"kernel": probed.kernel, "by": _machine(probed.file), **finding}
            for probed in matrix.probed
            for finding in _findings(matrix, probed, "hazard")
        ]
    }


def kernel_evidence(matrix: Matrix, kernel: str) -> list[dict[str, Any]]:
    """Each file's records of a kernel: what asks for attention first, then outcomes by axis."""
    return [
        {
            "by": _machine(probed.file),
            "file": probed.file.path,
            "date": probed.file.evidence.date,
            "counts": _counts(item.record.outcome for item in probed.judged),
            "excepted": _findings(matrix, probed, "excepted"),
            "hazards": _findings(matrix, probed, "hazard"),
            "axes": _axes(probed),
        }
        for probed in matrix.probed
        if probed.kernel == kernel
    ]


def _machine(file: File) -> str:
    evidence = file.evidence
    distribution, version = evidence.provider
    return f"{evidence.gpu} ({evidence.compute_capability}), {distribution} {version}"


def _counts(outcomes: Iterable[str]) -> str:
    counted = Counter(outcomes)
    return ", ".join(f"{name} {counted[name]}" for name in OUTCOMES if counted[name])


def _findings(matrix: Matrix, probed: Probed, standing: str) -> list[dict[str, Any]]:
    if not probed.of(standing):
        return []
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
    for item in probed.judged:
        cases[item.record.outcome].append(item.record.case)
    found = []
    for axis in AXES:
        seen: set[Any] = set()
        listed: dict[str, str] = {}
        for outcome, some in cases.items():
            values = {case[axis] for case in some} if axis in _SINGLE else _sets(some)
            new = sorted(values - seen, key=lambda v: (v is not None, v if type(v) is int else 0, str(v)))
            seen |= values
            listed[outcome] = ", ".join("none" if value is None else str(value) for value in new)
        if len(seen) > 1:
            found.append((axis, listed))
    return found


def _sets(cases: Iterable[dict[str, Any]]) -> set[str]:
    """Each set of features as one value."""
    return {"+".join(names) or "none" for names in {tuple(case["features"]) for case in cases}}
