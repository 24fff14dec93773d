"""Cells: what remains of a backend's claim where its kernel's rows allow it.

The generator joins each backend's variants with its kernels' rows; a Cell is one such meeting:
one KV-cache dtype of one variant on one kernel row. A request is supported if a cell takes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .intset import ANY, IntSet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .verified import Verified

UNKNOWN = "unknown"


class Cell:
    """One supported region. Every axis is a set; `unknown` lists the axes nobody has established.

    spellings: KV-cache dtypes a user may type, aliases included; kv_cache_dtype: what they resolve
    to. versions: for each distribution that ships the kernel a specifier, 'any', 'none' (not in it)
    or 'unknown'; engines: a specifier for each engine of whose releases it is known which have the
    backend. padded_to: head counts that an engine pads up to. page_size: tokens a page that
    the kernel sees, if the engine cuts its blocks. unknown_features: features nobody has tried.
    evidence: what probes have verified of it. refuses: for a refusal, why; such a cell takes
    nothing and only explains.
    """

    __slots__ = (
        "phase",
        "compute_capability",
        "except_capability",
        "kernel",
        "spellings",
        "kv_cache_dtype",
        "kv_format",
        "extra_kv_format",
        "bytes_per_token",
        "dtypes",
        "head_sizes",
        "query_heads",
        "padded_to",
        "block_sizes",
        "page_size",
        "topk",
        "features",
        "unknown_features",
        "versions",
        "engines",
        "unknown",
        "sources",
        "evidence",
        "notes",
        "refuses",
    )

    def __init__(
        self,
        *,
        phase: str,
        compute_capability: tuple[str, ...],
        kernel: str | None,
        spellings: tuple[str, ...],
        kv_cache_dtype: str,
        kv_format: str | None,
        extra_kv_format: str | None = None,
        bytes_per_token: int | None = None,
        dtypes: tuple[str, ...],
        except_capability: tuple[str, ...] = (),
        head_sizes: IntSet = ANY,
        query_heads: IntSet = ANY,
        padded_to: tuple[int, ...] = (),
        block_sizes: IntSet = ANY,
        page_size: int | None = None,
        topk: IntSet = ANY,
        features: tuple[str, ...] = (),
        unknown_features: tuple[str, ...] = (),
        versions: Mapping[str, str] | None = None,
        engines: Mapping[str, str] | None = None,
        unknown: tuple[str, ...] = (),
        sources: tuple[str, ...] = (),
        evidence: tuple[Verified, ...] = (),
        notes: tuple[str, ...] = (),
        refuses: str | None = None,
    ) -> None:
        values: dict[str, Any] = dict(locals())
        for name in self.__slots__:
            value = values[name]
            frozen = MappingProxyType(dict(value)) if isinstance(value, dict) else value
            object.__setattr__(self, name, frozen)

    phase: str
    compute_capability: tuple[str, ...]
    except_capability: tuple[str, ...]
    kernel: str | None
    spellings: tuple[str, ...]
    kv_cache_dtype: str
    kv_format: str | None
    extra_kv_format: str | None
    bytes_per_token: int | None
    dtypes: tuple[str, ...]
    head_sizes: IntSet
    query_heads: IntSet
    padded_to: tuple[int, ...]
    block_sizes: IntSet
    page_size: int | None
    topk: IntSet
    features: tuple[str, ...]
    unknown_features: tuple[str, ...]
    versions: Mapping[str, str] | None
    engines: Mapping[str, str] | None
    unknown: tuple[str, ...]
    sources: tuple[str, ...]
    evidence: tuple[Verified, ...]
    notes: tuple[str, ...]
    refuses: str | None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a Cell is frozen")

    def __reduce__(self) -> tuple[Any, ...]:
        fields = {name: getattr(self, name) for name in self.__slots__}
        plain = {k: dict(v) if isinstance(v, MappingProxyType) else v for k, v in fields.items()}
        return _restored, (plain,)

    def pad_query_heads(self, heads: int) -> int:
        """The head count the kernel is called with: the smallest of `padded_to` that fits, or
        `heads` where the kernel takes it as it is."""
        return min((n for n in self.padded_to if n >= heads), default=heads)


def _restored(fields: dict[str, Any]) -> Cell:
    return Cell(**fields)
