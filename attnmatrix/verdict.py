"""The verdict: one function that code, commands, docs and tests all ask.

`judge(backend, request)` answers supported, unsupported or unknown, with every failing field.
"""

from __future__ import annotations

from operator import itemgetter

from .cell import Cell
from .index import FIELDS
from .reasons import accepted_values, reason_message, shown_value, unknown_message
from .request import Request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .backend import Backend

    _Fields = tuple[Any, ...]
else:
    _Fields = tuple

SUPPORTED = "supported"
UNSUPPORTED = "unsupported"
UNKNOWN = "unknown"


class Reason(_Fields):
    """One field that stands against a request.

    field: as Request names it, or `engine` for a release without the backend; value: what was asked
    for; accepted: what the nearest cells take in its place (every other failing field put right
    too); message: all of it, and what to do.
    """

    __slots__ = ()

    if TYPE_CHECKING:
        field: str
        verdict: Verdict
    else:  # a bare tuple is made three times as fast as an object with attributes
        field = property(itemgetter(0), doc="The field, as Request names it.")
        verdict = property(itemgetter(2), doc="The verdict that it belongs to.")

    @property
    def value(self) -> Any:
        """What was asked for."""
        return getattr(self.verdict.request, self.field) if self[1] is None else self[1]

    @property
    def unknown(self) -> bool:
        """Whether it says that nobody has established the answer, not that it is no."""
        return self.verdict.status == UNKNOWN

    @property
    def accepted(self) -> tuple[Any, ...]:
        """The values that would be accepted; empty where nobody has established any."""
        verdict = self.verdict
        return () if self.unknown else accepted_values(self.field, self.value, verdict.cells)

    @property
    def message(self) -> str:
        """What was wrong, what is accepted and what to do, in one line."""
        verdict = self.verdict
        if self.unknown:
            return unknown_message(self.field, self.value, verdict.request)
        return reason_message(
            self.field, self.value, verdict.cells, verdict.backend.name, verdict.request
        )

    def to_json(self) -> dict[str, Any]:
        """`field`, `value`, `accepted` and `message`, as `explain --json` prints them."""
        return {
            "field": self.field,
            "value": shown_value(self.field, self.value),
            "accepted": list(self.accepted),
            "message": self.message,
        }

    def __str__(self) -> str:
        return self.message

    def __repr__(self) -> str:
        return f"<Reason {self.field}: {self.message}>"


class Verdict(_Fields):
    """The answer for one backend. Truthy if supported.

    status: 'supported', 'unsupported' or 'unknown'. reasons: every failing field (unsupported) or
    every field that nobody has established (unknown), and none when supported. The other attributes
    describe the cells that take the request; each is None where they differ or there are none.
    """

    __slots__ = ()

    if TYPE_CHECKING:
        backend: type[Backend]
        request: Request
        status: str
        _bits: int
        _masks: tuple[int, ...]
        _further: Sequence[tuple[str, Any, int]]
    else:
        backend = property(itemgetter(0), doc="The class that was asked.")
        request = property(itemgetter(1), doc="What was asked for, unchanged.")
        status = property(itemgetter(2), doc="'supported', 'unsupported' or 'unknown'.")
        _bits = property(itemgetter(3))  # the cells that take it, as the index numbers them
        _masks = property(itemgetter(4))  # those of each of FIELDS, and of what else is named
        _further = property(itemgetter(5))

    def __bool__(self) -> bool:
        return self.status == SUPPORTED

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Every failing field (unsupported) or field that nobody has established (unknown).

        Worked out when read: neither the request nor the cells can have changed since.
        """
        if self[2] == SUPPORTED:
            return ()
        failing, _ = self._failing()
        return tuple([Reason((field, value, self)) for field, value in failing])

    @property
    def cells(self) -> list[Cell]:
        """The cells that take the request, or of a refused one those that are nearest.

        Nearest cells agree on what they accept for each failing field but the last, so that any
        accepted values go together.
        """
        if self.status != UNSUPPORTED:
            return self.backend.index().members(self._bits)
        failing, left = self._failing()
        near = self.backend.index().members(left)
        for field, _ in failing[:-1]:
            wanted = accepted_values(field, None, near[:1])
            near = [cell for cell in near if accepted_values(field, None, [cell]) == wanted]
        return near

    def _failing(self) -> tuple[list[tuple[str, Any]], int]:
        """The fields that fail, and the nearest cells.

        Each field in turn keeps those of the cells left that take its value; one that would leave
        none has failed. What remains are the nearest cells.
        """
        backend, _, _, bits, masks, further = self
        index = backend.index()
        left = bits >> index.shift or index.possible
        failing: list[tuple[str, Any]] = []
        for field, mask in zip(FIELDS, masks):  # noqa: B905 - strict costs a tenth of it all
            if kept := left & mask:
                left = kept
            else:
                failing.append((field, None))
        for field, value, mask in further:
            if kept := left & mask:
                left = kept
            else:
                failing.append((field, value))
        return failing, left

    @property
    def kv_cache_dtype(self) -> str | None:
        """What the asked KV-cache dtype resolves to, aliases followed."""
        found: str | None = self._common("kv_cache_dtype")
        return found

    @property
    def kv_format(self) -> str | None:
        """The name of the KV format that the cache then holds."""
        found: str | None = self._common("kv_format")
        return found

    @property
    def bytes_per_token(self) -> int | None:
        """Stored bytes of one token in that format, page rounding left out."""
        found: int | None = self._common("bytes_per_token")
        return found

    @property
    def extra_kv_format(self) -> str | None:
        """The format of the extra pool, where it differs from the main cache's."""
        found: str | None = self._common("extra_kv_format")
        return found

    @property
    def kernel(self) -> str | None:
        """The kernel that the backend would call."""
        found: str | None = self._common("kernel")
        return found

    @property
    def padded_query_heads(self) -> int | None:
        """The head count the kernel is called with, if it differs from the asked one."""
        heads = self.request.query_heads
        if heads is None or self.status == UNSUPPORTED:
            return None
        padded = {cell.pad_query_heads(heads) for cell in self.cells}
        return padded.pop() if len(padded) == 1 and padded != {heads} else None

    @property
    def evidence(self) -> dict[str, Any] | None:
        """What the claim rests on: `status` (verified, cited, none), `sources`, and `records` of
        probes that bear on the request, each with `stale`; None if it is unsupported."""
        if self.status == UNSUPPORTED:
            return None
        from .verified import evidence_of

        return evidence_of(self.cells, self.request)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the matrix says of every cell that takes the request; of a refusal, the known
        failures that it meets."""
        if self.status != UNSUPPORTED:
            first, *others = self.cells
            return tuple(n for n in first.notes if all(n in cell.notes for cell in others))
        if not self.backend.refusals:
            return ()
        index = self.backend.refusal_index()
        bits = index.sure | index.possible
        for mask in (*index.masks(self.request), *(m for *_, m in index.further(self.request))):
            bits &= mask
        told = (f"{cell.kernel}: {cell.refuses}" for cell in index.members(bits))
        return tuple(dict.fromkeys(told))

    def _common(self, attribute: str) -> Any:
        cells = self.cells
        if self.status == UNSUPPORTED:
            asked = self.request.kv_cache_dtype
            cells = [c for c in cells if asked is not None and asked in c.spellings]
        values = {getattr(cell, attribute) for cell in cells}
        return values.pop() if len(values) == 1 else None

    def to_json(self) -> dict[str, Any]:
        """The object that `explain --json` prints for a backend."""
        return {
            "backend": self.backend.name,
            "verdict": self.status,
            "reasons": [reason.to_json() for reason in self.reasons],
            "kv_cache_dtype": self.kv_cache_dtype,
            "kv_format": self.kv_format,
            "extra_kv_format": self.extra_kv_format,
            "bytes_per_token": self.bytes_per_token,
            "kernel": self.kernel,
            "padded_query_heads": self.padded_query_heads,
            "evidence": self.evidence,
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        reasons = "; ".join(reason.message for reason in self.reasons)
        return f"<Verdict {self.backend.name}: {self.status}{': ' if reasons else ''}{reasons}>"


def judge(backend: type[Backend], request: Request) -> Verdict:
    """Whether the backend takes the request, and if not, every reason.

    The request is never changed; nothing is read but it and the backend's cells.
    """
    index = backend._index or backend.index()
    tables = index.tables
    try:
        masks: tuple[
            int, ...
        ] = (  # in the order of FIELDS; written out, since a loop takes twice as long
            tables[0][request.phase],
            tables[1][request.mla],
            tables[2][request.sparse],
            tables[3][request.compute_capability],
            tables[4][request.kv_cache_dtype],
            tables[5][request.dtype],
            tables[6][request.head_size],
            tables[7][request.block_size],
            tables[8][request.query_heads],
            tables[9][request.topk],
            tables[10][request.sink],
        )
    except KeyError:
        masks = index.masks(request)
    a, b, c, d, e, f, g, h, i, j, k = masks
    bits = a & b & c & d & e & f & g & h & i & j & k
    further: Sequence[tuple[str, Any, int]] = ()
    if request.features or request.libraries:
        further = index.further(request)
        for _, _, mask in further:
            bits &= mask
    if bits & index.sure:
        return Verdict((backend, request, SUPPORTED, bits & index.sure, masks, further))
    return Verdict((backend, request, UNKNOWN if bits else UNSUPPORTED, bits, masks, further))
