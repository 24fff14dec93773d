"""What is to be probed: the kernels of each library that is installed, and their cases."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from ..capability import NO_GPU
from ..errors import UnknownName
from ..libraries import BUILT_IN
from ..registry import get_kernel, get_kv_format, kernel_names, kv_format_names
from ..rows import is_for
from ..spelling import did_you_mean
from .claims import load_claims
from .grid import Grid, Narrowing
from .machine import NoMachine, providers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .case import Case
    from .machine import Machine

REFERENCE = "torch"
"""The library of the kernel that the others are held against: probed only when it is named."""


class Wanted(NamedTuple):
    """What a user asks for: kernels, distributions and single cases by name; empty is all."""

    kernels: Sequence[str] = ()
    providers: Sequence[str] = ()
    cases: Sequence[Case] = ()
    narrowing: Narrowing = Narrowing()

    @property
    def whole(self) -> bool:
        """Whether each kernel's whole grid is tried."""
        return not (self.cases or self.narrowing.narrows)


class Target(NamedTuple):
    """One library as one distribution ships it, with the grid and the cases of each kernel."""

    library: str
    provider: tuple[str, str]
    grids: Mapping[str, Grid]
    cases: Sequence[Case]


def find_targets(
    wanted: Wanted, machine: Machine, matrix: str = BUILT_IN
) -> tuple[list[Target], list[str]]:
    """What can be probed, and in words which libraries cannot, for they are not installed.

    Raises UnknownName for a name that the matrix lacks, NoMachine if nothing can be probed.
    """
    libraries: dict[str, Any] = import_module(f"{matrix}.libraries").LIBRARIES
    known = [name for library in libraries.values() for name in library["providers"]]
    for name in wanted.providers:
        if name not in known:
            hint = did_you_mean(name, known)
            raise UnknownName(f"there is no provider {name!r}{hint}; known: {', '.join(known)}")
    names = list(wanted.kernels) or [case.kernel for case in wanted.cases]
    kernels = [get_kernel(name, matrix) for name in dict.fromkeys(names or kernel_names(matrix))]
    formats = {name: get_kv_format(name, matrix).head_size for name in kv_format_names(matrix)}
    _require_formats(wanted, formats)
    targets: list[Target] = []
    missing: list[str] = []
    for library in dict.fromkeys(kernel.library for kernel in kernels):
        if library == REFERENCE and not names:
            continue
        asked = [n for n in libraries[library]["providers"] if n in (wanted.providers or known)]
        found = {name: v for name, v in providers(library, matrix).items() if name in asked}
        if asked and not found:
            missing.append(f"{library}: not installed ({', '.join(asked)})")
        for provider in found.items():
            grids = {
                kernel.name: Grid(
                    load_claims(kernel.name, matrix),
                    machine.capability,
                    provider,
                    formats,
                    wanted.narrowing,
                )
                for kernel in kernels
                if kernel.library == library
            }
            cases = [case for case in wanted.cases if case.kernel in grids]
            if not wanted.cases:
                cases = [case for grid in grids.values() for case in grid.cases()]
            targets.append(Target(library, provider, grids, cases))
    if not any(target.cases for target in targets):
        raise NoMachine("; ".join(missing) or "no case is left: name fewer axes and values")
    return targets, missing


def runs_here(grid: Grid, machine: Machine) -> bool:
    """Whether there is a GPU, or the kernel may be called without one."""
    return machine.capability != NO_GPU or any(is_for(row, NO_GPU) for row in grid.claims.rows)


def _require_formats(wanted: Wanted, formats: Mapping[str, int]) -> None:
    named = [case.kv_format for case in wanted.cases]
    named += [case.extra_kv_format for case in wanted.cases if case.extra_kv_format]
    named += wanted.narrowing.values.get("kv_format", ())
    for name in named:
        if name not in formats:
            hint = did_you_mean(name, formats)
            raise UnknownName(f"there is no KV format {name!r}{hint}; known: {', '.join(formats)}")
