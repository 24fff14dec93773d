"""Tries the cases of targets, and holds the answers against the matrix."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from .. import __version__
from ..evidence import Evidence, Record
from .case import Answer
from .finding import DISAGREES, Finding, Judged, findings, judge_cases
from .pool import Job, Pool
from .progress import Progress
from .target import runs_here

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

    from .journal import Journal
    from .machine import Machine
    from .target import Target

WORKER_BYTES = 3 << 30
"""GPU memory that a worker is reckoned to need at most."""


class Settings(NamedTuple):
    """How cases are run.

    limit_s: seconds a case may take. workers: at work at once; 0 chooses. callers: the module that
    calls the libraries.
    """

    limit_s: float
    workers: int
    callers: str


class Probed(NamedTuple):
    """What came of a target: its cases by kernel, and the findings."""

    target: Target
    judged: dict[str, list[Judged]]
    findings: list[Finding]

    @property
    def disagrees(self) -> bool:
        """Whether the matrix has to be corrected."""
        return any(finding.standing in DISAGREES for finding in self.findings)

    @property
    def tried(self) -> bool:
        """Whether any case could be tried at all."""
        cases = (judged for cases in self.judged.values() for judged in cases)
        return any(judged.answer.outcome != "untested" for judged in cases)


def run(
    targets: Sequence[Target],
    machine: Machine,
    settings: Settings,
    journal: Journal | None,
    stream: TextIO,
) -> dict[Job, Answer]:
    """The answer to every case, from the journal or by trying it. Progress goes to the stream.

    Raises NoMachine if workers do not start.
    """
    answers: dict[Job, Answer] = {}
    jobs = []
    known = journal.answers if journal else {}
    for target in targets:
        for case in target.cases:
            job = Job(case, target.provider)
            if job in known:
                answers[job] = known[job]
            elif runs_here(target.grids[case.kernel], machine):
                jobs.append(job)
            else:
                answers[job] = Answer("untested", None, "no GPU")
    if not jobs:
        return answers
    counts = Counter(answer.outcome for answer in answers.values())
    progress = Progress(stream, len(answers) + len(jobs), counts)
    size, spare = _workers(settings, machine)
    pool = Pool(
        settings.callers,
        machine.device,
        size=size,
        spare=spare,
        limit_s=settings.limit_s,
        warn=progress.say,
    )
    try:
        with closing(pool.run(jobs)) as answered:
            for job, answer in answered:
                answers[job] = answer
                if journal is not None:
                    journal.add(job, answer)
                progress.add(answer.outcome, job.case.kernel)
    finally:
        progress.close()
    return answers


def hold(target: Target, machine: Machine, answers: dict[Job, Answer], *, whole: bool) -> Probed:
    """The answers to a target's cases, held against the rows of its kernels."""
    judged: dict[str, list[Judged]] = {}
    found: list[Finding] = []
    for kernel, grid in target.grids.items():
        cases = (case for case in target.cases if case.kernel == kernel)
        answered = ((c, grid.claimed(c), answers[Job(c, target.provider)]) for c in cases)
        about = (grid.claims, machine.capability, target.provider)
        judged[kernel] = judge_cases(*about, answered)
        found += findings(*about, judged[kernel], whole=whole)
    return Probed(target, judged, found)


def evidence_of(probed: Probed, machine: Machine) -> Evidence:
    """What `--write` keeps of a target."""
    target = probed.target
    records = [
        Record(kernel, j.case.axes(), j.answer.outcome, j.claimed, _rounded(j), j.answer.message)
        for kernel, cases in probed.judged.items()
        for j in cases
    ]
    major, minor = machine.capability
    return Evidence(
        gpu=machine.gpu,
        compute_capability=f"{major}.{minor}",
        driver=machine.driver,
        cuda=machine.cuda,
        torch=machine.torch,
        library=target.library,
        provider=target.provider,
        command=f"attnmatrix probe --provider {target.provider[0]} --write",
        date=datetime.now(UTC).date().isoformat(),
        attnmatrix=__version__,
        records=records,
    )


def _rounded(judged: Judged) -> float | None:
    """The error to three digits: the rest is another at every run."""
    error = judged.answer.error
    return None if error is None else float(f"{error:.2e}")


def _workers(settings: Settings, machine: Machine) -> tuple[int, int]:
    """Workers at work at once, and spare ones beside them."""
    size = settings.workers or min(12, max(1, (os.cpu_count() or 1) * 3 // 4))
    spare = max(1, size // 3)
    if machine.memory:
        fit = max(1, machine.memory // WORKER_BYTES)
        size = min(size, fit)
        spare = min(spare, fit - size)
    return size, spare
