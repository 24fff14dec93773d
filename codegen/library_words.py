"""What libraries said when a probe was refused, sorted by the kernel and told once."""

from __future__ import annotations

import re
from collections import Counter
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
    refused = (r for r in records if r.outcome == "refused" and r.message)
    counted = Counter((record.kernel, record.message or "") for record in refused)
    met: dict[str, dict[str, tuple[str, int]]] = {}
    for (kernel, message), times in counted.items():
        words = " ".join(message.split())
        alike = met.setdefault(kernel, {})
        first, before = alike.get(like := re.sub(r"\d+", "0", words), (words, 0))
        alike[like] = (first, before + times)
    return {
        kernel: [
            Words(
                said,
                times,
                next((field for pattern, field in patterns if pattern.search(said)), None),
            )
            for said, times in alike.values()
        ]
        for kernel, alike in met.items()
    }


def _pattern(says: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(part) for part in says.split(VARIES)))
