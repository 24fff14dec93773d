"""What is wrong with a YAML file: every problem at once, each with its place and its cure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

CODES: dict[str, str] = {
    "alias-cycle": "an alias leads back to itself",
    "alias-dead-end": "an alias leads to a name that the variant does not define",
    "claim-outside-backend": "a variant claims what its backend's own lists leave out",
    "claim-outside-kernel": "a backend claims what no row of its kernel allows",
    "conflicting-rows": "two equally specific rows of a kernel answer one combination differently",
    "duplicate-claim": "two variants define one KV-cache dtype on one GPU",
    "duplicate-key": "a key stands twice in one mapping",
    "duplicate-name": "two names differ in case or punctuation alone",
    "format-size": "the parts of a KV format do not add up to its bytes",
    "invalid-value": "a value is not of the form that its key takes",
    "misleading-name": "a KV-cache dtype is named after a dtype that its format does not store",
    "missing-key": "a required key is absent",
    "missing-source": "a claim names no source",
    "model-refused": "a model names a backend that does not take it",
    "not-evidence": "an evidence file is not of the form that the probe writes",
    "not-yaml": "the text is not YAML, or uses a part of it that this file leaves out",
    "overclaim": "a row takes what a probe record shows to be refused, wrong or crashing",
    "underclaim": "a probe record shows right what no row takes and no exception explains",
    "unknown-key": "a key that nothing reads",
    "unknown-name": "a name that refers to nothing",
    "unquoted-value": "a plain scalar that YAML would read as something else",
    "unreachable-row": "a row that earlier rows of the kernel cover",
    "unneeded-exception": "no probe record needs the exception, and some fall under it",
    "unneeded-declaration": "probe records show what the engine declares, not what the matrix says",
    "unused-entry": "an entry that nothing uses",
    "wrong-type": "a value of another type than its key takes",
}
"""Every code, with what it stands for. Codes are stable: scripts and suppressions may name them."""


@dataclass(frozen=True, order=True)
class Place:
    """A position in a file; line and column count from 1."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Problem:
    """One finding. `others` are further places that belong to it, such as the other row of two."""

    place: Place
    code: str
    message: str
    hint: str = ""
    others: tuple[tuple[Place, str], ...] = ()

    def __post_init__(self) -> None:
        assert self.code in CODES, self.code

    def __str__(self) -> str:
        lines = [f"{self.place}: error[{self.code}]: {self.message}"]
        lines += [f"    {place}: {text}" for place, text in self.others]
        if self.hint:
            lines.append(f"    help: {self.hint}")
        return "\n".join(lines)


class InvalidSource(Exception):
    """A YAML file that cannot be generated from. `problems` lists all that was found, in order."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(
            sorted(dict.fromkeys(problems), key=lambda p: (p.place, p.code, p.message))
        )
        super().__init__("\n".join(map(str, self.problems)))

    def __iter__(self) -> Iterator[Problem]:
        return iter(self.problems)
