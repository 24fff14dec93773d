"""What libraries said when a probe was refused, sorted by the kernel and told once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from .schema import LibraryError

VARIES = "…"
"""What stands in an error of the matrix for the part that varies."""


class Probed(Protocol):
    """What is read of a probe's record."""

    @property
    def kernel(self) -> str: ...  # noqa: D102

    @property
    def outcome(self) -> str: ...  # noqa: D102

    @property
    def message(self) -> str | None: ...  # noqa: D102


class Words(NamedTuple):
    """A library's words as first met, how often they were (numbers apart), and the field of a
    request that they are about, where the matrix has an error of these words."""

    says: str
    times: int
    field: str | None


def library_words(
    records: Iterable[Probed], errors: Sequence[LibraryError]
) -> dict[str, list[Words]]:
    """The words of refused records by kernel, in the order in which they were first met."""
    patterns = [(_pattern(error.says), error.field) for error in errors]
    met: dict[str, dict[str, list[str]]] = {}
    for record in records:
        if record.outcome == "refused" and record.message:
            words = " ".join(record.message.split())
            met.setdefault(record.kernel, {}).setdefault(re.sub(r"\d+", "0", words), []).append(
                words
            )
    return {
        kernel: [
            Words(
                said[0],
                len(said),
                next((field for pattern, field in patterns if pattern.search(said[0])), None),
            )
            for said in groups.values()
        ]
        for kernel, groups in met.items()
    }


def _pattern(says: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(part) for part in says.split(VARIES)))
