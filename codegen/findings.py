"""Records of evidence files as the probe's findings: cases that stand alike, by their cause."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from attnmatrix.probe.case import Answer, Case
from attnmatrix.probe.claims import Claims
from attnmatrix.probe.finding import Finding, findings
from attnmatrix.probe.finding import Judged as ProbeJudged

from .evidence import Probed

if TYPE_CHECKING:
    from .matrix import Matrix

_CLAIMED = ("verified", "overclaim")


def findings_of(
    matrix: Matrix, probed: Probed, *standings: str
) -> Iterator[tuple[Finding, list[dict[str, Any]]]]:
    """The findings of these standings in one file's records of a kernel, with the records' cases.

    An overclaim's cause is told from what else is claimed, so that is looked at as well. What is
    excepted is an underclaim to the probe.
    """
    wanted = {*standings, *(_CLAIMED if "overclaim" in standings else ())}
    judged: list[ProbeJudged] = []
    cases: dict[Case, dict[str, Any]] = {}
    for _, record, standing, *_ in probed.of(*wanted):
        case = Case.of(record.kernel, record.case)
        cases[case] = record.case
        answer = Answer(record.outcome, record.error, record.message)
        standing = "underclaim" if standing == "excepted" else standing
        judged.append(ProbeJudged(case, answer, standing in _CLAIMED, standing))
    kernel = matrix.document.kernels[probed.kernel]
    rows, exceptions = matrix.rows[probed.kernel], matrix.exceptions[probed.kernel]
    claims = Claims(probed.kernel, kernel.library, rows, exceptions)
    evidence = probed.file.evidence
    for finding in findings(claims, evidence.capability, evidence.provider, judged, whole=False):
        yield finding, [cases[found.case] for found in finding.cases]
