"""The command `attnmatrix probe`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UnknownName
from ..evidence import write as write_evidence
from ..libraries import normalize
from ..spelling import did_you_mean
from ..whole import write_whole
from .case import BadCase, Case, axis_value
from .grid import Narrowing
from .journal import Journal, JournalError
from .machine import NoMachine, find_machine
from .report import github_lines, text_lines, to_json
from .run import Settings, evidence_of, hold, run
from .target import Wanted, find_targets

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from .machine import Machine
    from .run import Probed


CALLERS = "attnmatrix.probe.callers"
"""The module that calls the libraries; see `worker` for what it holds."""


class Usage(Exception):
    """Bad usage: what is wrong and what is accepted."""


def probe(arguments: argparse.Namespace) -> int:
    """Probes, reports, and writes what was asked for.

    Returns 0 where the matrix and the GPU agree, 1 where they do not, 2 where nothing could be
    tried, of all or of one library.
    """
    try:
        wanted = _wanted(arguments)
        settings = Settings(arguments.time_limit, arguments.workers, CALLERS)
        machine = find_machine(arguments.matrix)
        probed = _probe(arguments, wanted, machine, settings)
        _report(arguments, machine, probed)
        if arguments.write:
            _write(arguments.out, machine, probed)
    except (Usage, BadCase, UnknownName, NoMachine, JournalError, OSError) as error:
        return _fail(error)
    except KeyboardInterrupt:
        kept = f": --resume {arguments.resume} goes on" if arguments.resume else ""
        return _fail(f"stopped{kept}")
    if any(item.disagrees for item in probed):
        return 1
    return 0 if all(item.tried for item in probed) else 2


def _probe(
    arguments: argparse.Namespace, wanted: Wanted, machine: Machine, settings: Settings
) -> list[Probed]:
    targets, missing = find_targets(wanted, machine, arguments.matrix)
    for line in missing:
        print(f"probe: {line}", file=sys.stderr)
    journal = Journal(Path(arguments.resume), machine) if arguments.resume else None
    try:
        answers = run(targets, machine, settings, journal, sys.stderr)
    finally:
        if journal is not None:
            journal.close()
    return [hold(target, machine, answers, whole=wanted.whole) for target in targets]


def _report(arguments: argparse.Namespace, machine: Machine, probed: Sequence[Probed]) -> None:
    if arguments.report is not None:
        from .markdown import page

        write_whole(Path(arguments.report), page(machine, probed, arguments.matrix))
    if arguments.format == "json":
        print(to_json(machine, probed, arguments.matrix))
    elif arguments.format == "github":
        _print(github_lines(probed, arguments.matrix))
    else:
        _print(text_lines(machine, probed, arguments.matrix))


def _write(folder: str, machine: Machine, probed: Sequence[Probed]) -> None:
    for item in probed:
        provider = "==".join(item.target.provider)
        if machine.gpu == "none" or not item.tried:
            print(f"probe: nothing was tried of {provider}: not written", file=sys.stderr)
        else:
            path = write_evidence(folder, evidence_of(item, machine))
            print(f"probe: wrote {path}", file=sys.stderr)


def _wanted(arguments: argparse.Namespace) -> Wanted:
    vary, values = set(), {}
    for text in arguments.axis:
        name, equals, listed = text.partition("=")
        axes = Case._fields[1:]
        if name not in axes:
            raise Usage(
                f"--axis: there is no {name!r}{did_you_mean(name, axes)}; {', '.join(axes)}"
            )
        if equals:
            values[name] = tuple(axis_value(name, value) for value in listed.split(","))
        else:
            vary.add(name)
    wanted = Wanted(
        arguments.kernel,
        [normalize(name) for name in arguments.provider],
        [Case.parse(key) for key in arguments.case],
        Narrowing(frozenset(vary), values, arguments.quick),
    )
    if wanted.cases and (arguments.kernel or wanted.narrowing.narrows):
        raise Usage("--case names the whole case: drop --kernel, --axis and --quick")
    if arguments.write and (arguments.kernel or not wanted.whole):
        raise Usage("--write stores whole grids: drop --kernel, --axis, --quick and --case")
    if arguments.time_limit <= 0 or arguments.workers < 0:
        raise Usage("--time-limit and --workers take positive numbers")
    return wanted


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)


def _fail(error: Any) -> int:
    print(f"attnmatrix: error: {error}", file=sys.stderr)
    return 2
