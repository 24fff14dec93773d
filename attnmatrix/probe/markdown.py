"""What the probe saw, as a Markdown page: what disagrees first, then outcomes by axis."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ..codegen.text import code, markdown
from ..evidence import OUTCOMES
from .describe import cause, extent, outcomes_by_axis, reproduction, words
from .finding import DISAGREES, STANDINGS
from .report import machine_line, summary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .finding import Finding, Judged
    from .machine import Machine
    from .run import Probed


def page(machine: Machine, probed: Sequence[Probed], matrix: str) -> str:
    """The page's text."""
    return "\n".join(_lines(machine, probed, matrix)) + "\n"


def _lines(machine: Machine, probed: Sequence[Probed], matrix: str) -> Iterator[str]:
    yield "# What the probe saw"
    yield ""
    yield f"{machine_line(machine)}. {summary(probed).capitalize()}."
    for item in probed:
        distribution, version = item.target.provider
        yield ""
        yield f"## {item.target.library} from {distribution} {version}"
        yield ""
        counted = [
            (code(kernel), len(cases), *_counts((j.standing for j in cases), STANDINGS))
            for kernel, cases in item.judged.items()
            if cases
        ]
        yield from _table(("Kernel", "Cases", *STANDINGS), counted)
        for title, kinds in (("Disagreements", DISAGREES), ("Hazards", ("hazard",))):
            found = [
                finding for kind in kinds for finding in item.findings if finding.standing == kind
            ]
            if found:
                yield ""
                yield f"### {title}"
                yield ""
                if kinds == ("hazard",):
                    yield "Accepted, but wrong; or it ends the process. Nothing claims these."
                    yield ""
                yield from _table(
                    ("What", "Kernel", "Where", "Cases", "The library's words", "Once more"),
                    (_finding_row(finding, distribution, matrix) for finding in found),
                )
        for kernel, cases in item.judged.items():
            if any(judged.answer.outcome != "untested" for judged in cases):
                yield ""
                yield f"### {kernel}: outcomes by axis"
                yield ""
                yield from _table(("Axis", "Value", *OUTCOMES), _axis_rows(cases))


def _finding_row(finding: Finding, distribution: str, matrix: str) -> tuple[str, ...]:
    first = finding.cases[0]
    return (
        finding.standing,
        code(finding.kernel),
        markdown(cause(finding)),
        extent(finding),
        markdown(words(first)),
        code(reproduction(first.case, distribution, matrix)),
    )


def _axis_rows(cases: Sequence[Judged]) -> Iterator[tuple[Any, ...]]:
    for axis, values in outcomes_by_axis(cases).items():
        for value, counts in values.items():
            shown = "none" if value is None else str(value)
            yield (axis, markdown(shown), *_counts(counts.elements(), OUTCOMES))


def _counts(items: Iterable[str], names: Sequence[str]) -> tuple[int | str, ...]:
    counts = Counter(items)
    return tuple(counts[name] or "" for name in names)


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(map(str, row))} |"
