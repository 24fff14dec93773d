"""Evidence against claims: what records name must be there, and what they saw must be claimed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from attnmatrix.capability import parse_capability
from attnmatrix.gpus import fold
from attnmatrix.request import FEATURES
from attnmatrix.spelling import did_you_mean

from .axes import DTYPES
from .declarations import held
from .evidence import File, Probed
from .matrix import Matrix
from .problems import Place, Problem

if TYPE_CHECKING:
    from attnmatrix.probe.finding import Finding

_SHOWN = 3
"""Records of a finding that are named."""


def evidence_names(matrix: Matrix) -> Iterator[Problem]:
    """Every name in an evidence file must lead to an entry of the matrix."""
    for file in matrix.files:
        yield from _header_names(matrix, file)
        yield from _record_names(matrix, file)


def _header_names(matrix: Matrix, file: File) -> Iterator[Problem]:
    document, evidence = matrix.document, file.evidence
    place = Place(file.shown)
    library = document.libraries.get(evidence.library)
    if library is None:
        yield _unknown(place, "library", evidence.library, document.libraries)
    elif evidence.provider[0] not in library.providers:
        kind = f"provider of {evidence.library}"
        yield _unknown(place, kind, evidence.provider[0], library.providers)
    known = {fold(name): capability for name, capability in document.gpus.items()}
    capability = known.get(fold(evidence.gpu))
    if known and capability is None and evidence.gpu != "none":
        yield _unknown(place, "GPU", evidence.gpu, document.gpus)
    elif capability and parse_capability(capability) != evidence.capability:
        message = f"{evidence.gpu} is probed as {evidence.compute_capability}"
        hint = f"gpus says {capability}: one of the two is wrong"
        yield Problem(place, "not-evidence", message, hint)


def _record_names(matrix: Matrix, file: File) -> Iterator[Problem]:
    """One problem a name that leads nowhere, at the first record that has it."""
    document, records = matrix.document, file.evidence.records
    cases = [record.case for record in records]
    named: tuple[tuple[str, Iterable[Any], Iterable[str]], ...] = (
        ("kernel", [record.kernel for record in records], document.kernels),
        ("KV format", [case["kv_format"] for case in cases], document.kv_formats),
        ("KV format", [case["extra_kv_format"] for case in cases], document.kv_formats),
        ("dtype", [case["dtype"] for case in cases], DTYPES),
        ("feature", [name for case in cases for name in case["features"]], FEATURES),
    )
    found: list[tuple[int, str, str, Iterable[str]]] = []
    for kind, names, known in named:
        for name in sorted({*names} - {*known, None}):
            first = next(
                i
                for i, record in enumerate(records)
                if name == record.kernel or name in _names(record.case)
            )
            found.append((first, kind, name, known))
    for kernel in sorted({record.kernel for record in records} & {*document.kernels}):
        if document.kernels[kernel].library != file.evidence.library:
            first = next(i for i, record in enumerate(records) if record.kernel == kernel)
            found.append((first, f"kernel of {file.evidence.library}", kernel, ()))
    for number, kind, name, known in found:
        (place,) = file.places([number])
        yield _unknown(place, kind, name, known)


def _names(case: dict[str, Any]) -> list[Any]:
    return [case["kv_format"], case["extra_kv_format"], case["dtype"], *case["features"]]


def _unknown(place: Place, kind: str, name: str, known: Iterable[str]) -> Problem:
    names = list(known)
    hint = f"known: {', '.join(names)}" if names else "probe it again with this matrix"
    message = f"there is no {kind} {name!r}{did_you_mean(name, names)}"
    return Problem(place, "unknown-name", message, hint)


def evidence_agrees(matrix: Matrix) -> Iterator[Problem]:
    """What a record saw to fail must not be claimed; what it saw to be right must be, or excepted;
    an exception must be needed; and an engine that the matrix sets right must not be right."""
    for probed in matrix.probed:
        if probed.of("overclaim", "underclaim"):
            yield from _contradictions(matrix, probed)
    yield from _unneeded(matrix)
    yield from _confirmed(matrix)


def _contradictions(matrix: Matrix, probed: Probed) -> Iterator[Problem]:
    """A problem for each cause, as the probe finds causes."""
    from attnmatrix.probe.describe import cause, extent, words

    from .findings import findings_of

    evidence = probed.file.evidence
    where = f"{evidence.gpu} ({evidence.compute_capability})"
    by = f"{' '.join(evidence.provider)} on {where}"
    numbers = {id(r.case): probed.first + i for i, r in enumerate(probed.records)}
    for finding, cases in findings_of(matrix, probed, "overclaim", "underclaim"):
        places = probed.file.places([numbers[id(case)] for case in cases[:_SHOWN]])
        said = [words(judged) for judged in finding.cases[:_SHOWN]]
        others = tuple(
            (place, f"{judged.answer.outcome}{f': {text}' if text else ''}")
            for place, judged, text in zip(places, finding.cases, said, strict=False)
        )
        about = f"{probed.kernel}: {cause(finding)}: {extent(finding)}"
        if finding.standing == "overclaim":
            message = f"a row claims what {by} shows not to hold: {about}"
            hint = "narrow the row, or give that GPU or version a row of its own"
        else:
            message = f"no row claims what {by} shows to be right: {about}"
            hint = "widen a row, or say in the kernel's exceptions why it is left unclaimed"
        yield Problem(_place(matrix, probed, finding), finding.standing, message, hint, others)


def _place(matrix: Matrix, probed: Probed, finding: Finding) -> Place:
    """The row that claims the first case; of an underclaim, the kernel."""
    from attnmatrix.rows import judge

    evidence = probed.file.evidence
    call = finding.cases[0].case.call(evidence.capability, evidence.provider)
    row = judge(matrix.rows[probed.kernel], call).row
    path = ("kernels", probed.kernel)
    return matrix.source.place(path if row is None else (*path, "rows", row), key=True)


def _unneeded(matrix: Matrix) -> Iterator[Problem]:
    for name, kernel in matrix.document.kernels.items():
        here = [probed for probed in matrix.probed if probed.kernel == name]
        for number in range(len(kernel.exceptions)):
            under = [(probed.file, item) for probed in here for item in probed.under(number)]
            if not under or any(item.standing == "excepted" for _, item in under):
                continue
            place = matrix.source.place(("kernels", name, "exceptions", number))
            cases = f"{len(under)} case{'s' * (len(under) != 1)}"
            message = f"nothing is right and unclaimed among the {cases} under this exception"
            others = tuple(
                (file.places([item.number])[0], f"{item.record.outcome}, {item.standing}")
                for file, item in under[:_SHOWN]
            )
            yield Problem(place, "unneeded-exception", message, "take it out", others)


def _confirmed(matrix: Matrix) -> Iterator[Problem]:
    for item in held(matrix):
        for seen in item.confirmed:
            evidence = seen.file.evidence
            says = "run" if item.declared.runs else "not run"
            by = f"{' '.join(evidence.provider)} on {evidence.gpu} ({evidence.compute_capability})"
            message = f"{item.difference.engine} declares that {item.declared.kernel} does {says} "
            message += f"there, and {by} shows that it is so"
            others = tuple(
                (place, record.outcome)
                for place, record in zip(
                    seen.file.places(seen.numbers[:_SHOWN]), seen.records, strict=False
                )
            )
            hint = "name the axes on which the engine is wrong, or take the declaration out"
            place = matrix.source.place(item.path)
            yield Problem(place, "unneeded-declaration", message, hint, others)
