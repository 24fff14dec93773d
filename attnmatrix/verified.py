"""What probes have verified of a claim, and what a claim rests on for one request."""

from __future__ import annotations

from .capability import parse_capability
from .versions import Version, parse_version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from .cell import Cell
    from .request import Request

VERIFIED = "verified"
CITED = "cited"
NONE = "none"


class Verified:
    """One evidence file's word for a claim: cases of it that came out right. Frozen.

    file: its path in the repository. gpu, compute_capability, date: where and when it was probed.
    provider: the distribution that shipped the library, and its version. dtypes: the model dtypes,
    and features: the features, that a right case had. right: the number of such cases. stale: the
    claim is for a later version too that is known of, and that this file says nothing of.
    """

    __slots__ = (
        "file",
        "gpu",
        "compute_capability",
        "provider",
        "date",
        "dtypes",
        "features",
        "right",
        "stale",
    )

    def __init__(
        self,
        file: str,
        *,
        gpu: str,
        compute_capability: str,
        provider: tuple[str, str],
        date: str,
        dtypes: tuple[str, ...],
        features: tuple[str, ...] = (),
        right: int,
        stale: bool = False,
    ) -> None:
        values: dict[str, Any] = dict(locals())
        for name in self.__slots__:
            object.__setattr__(self, name, values[name])

    file: str
    gpu: str
    compute_capability: str
    provider: tuple[str, str]
    date: str
    dtypes: tuple[str, ...]
    features: tuple[str, ...]
    right: int
    stale: bool

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("what was verified is frozen")

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, ({name: getattr(self, name) for name in self.__slots__},)

    def to_json(self) -> dict[str, Any]:
        """Every attribute, the provider as `distribution` and `version`."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        fields["provider"] = dict(zip(("distribution", "version"), self.provider, strict=True))
        return {k: list(v) if isinstance(v, tuple) else v for k, v in fields.items()}

    def stale_for(self, request: Request) -> bool | None:
        """Whether it is too old for a request; None if it has no bearing on it.

        It has none on another GPU, on a dtype or feature that none of its right cases had, and on
        an earlier version of its distribution than it was probed with.
        """
        capability = request.compute_capability
        if capability not in (None, parse_capability(self.compute_capability)):
            return None
        wanted = {*request.features, *(("attention_sink",) if request.sink else ())}
        if request.dtype not in (None, *self.dtypes) or not wanted <= {*self.features}:
            return None
        distribution, version = self.provider
        for name, asked in request.libraries:
            if name == distribution and isinstance(asked, Version):
                probed = parse_version(version)
                if asked.public == probed.public:
                    return False
                return True if asked.public > probed.public else None
        return self.stale


def _restored(fields: dict[str, Any]) -> Verified:
    return Verified(**fields)


def evidence_of(cells: Iterable[Cell], request: Request) -> dict[str, Any]:
    """What the claims of cells rest on, as `explain --json` shows it.

    status: 'verified' if each cell is, by a record that bears on the request and is not stale; else
    'cited' if there are sources; else 'none'. sources: of all cells. records: those that bear on
    the request.
    """
    sources: dict[str, None] = {}
    records: dict[str, dict[str, Any]] = {}
    verified = True
    for cell in cells:
        sources.update(dict.fromkeys(cell.sources))
        fresh = False
        for word in cell.evidence:
            stale = word.stale_for(request)
            if stale is not None:
                fresh = fresh or not stale
                known = records.setdefault(word.file, {**_shown(word), "stale": stale})
                known["stale"] = known["stale"] and stale
        verified = verified and fresh
    status = VERIFIED if verified else CITED if sources else NONE
    return {"status": status, "sources": list(sources), "records": list(records.values())}


def _shown(word: Verified) -> dict[str, Any]:
    kept = ("gpu", "compute_capability", "provider", "date", "file")
    fields = word.to_json()
    return {name: fields[name] for name in kept}


def words(evidence: dict[str, Any]) -> Iterator[str]:
    """What `evidence_of` found, line by line."""
    status, sources = evidence["status"], evidence["sources"]
    for record in evidence["records"]:
        if not record["stale"]:
            part = "" if status == VERIFIED else "in part "
            yield f"{part}verified on {describe(record)}"
        elif status != VERIFIED:
            yield f"stale: verified on {describe(record)}, but not with a later version"
    if status != VERIFIED:
        more = f" and {len(sources) - 1} more" if sources[1:] else ""
        yield status + (f": {sources[0]}{more}" if sources else "")


def describe(record: dict[str, Any]) -> str:
    """A record in words: 'H200 (9.0) with vllm 0.33.0, 2026-12-03'."""
    provider = record["provider"]
    return (
        f"{record['gpu']} ({record['compute_capability']}) with "
        f"{provider['distribution']} {provider['version']}, {record['date']}"
    )
