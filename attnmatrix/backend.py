"""The base of every generated backend class.

Its names are those of vLLM's AttentionBackend, so that an engine developer feels at home; dtypes
are plain names ('bfloat16'), since nothing here needs torch.
"""

from __future__ import annotations

from .cell import Cell
from .errors import RequestError
from .index import Index
from .intset import IntSet
from .libraries import BUILT_IN
from .request import Request, asked
from .verdict import Verdict, judge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar


class MultipleOf:
    """A block size that may be any multiple of `base` tokens."""

    __slots__ = ("base",)

    def __init__(self, base: int) -> None:
        self.base = base

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MultipleOf) and other.base == self.base

    def __hash__(self) -> int:
        return hash((MultipleOf, self.base))

    def __repr__(self) -> str:
        return f"MultipleOf({self.base})"


class Backend:
    """What an engine names and a user picks. Subclasses are generated; `cells` decides.

    The `supported_*` lists give what is claimed on any GPU; use the `supports_*` methods or
    `judge` for a combination. `mla` and `sparse` are None where the backend does both.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    mla: ClassVar[bool | None]
    sparse: ClassVar[bool | None]
    supported_dtypes: ClassVar[tuple[str, ...]]
    supported_kv_cache_dtypes: ClassVar[tuple[str, ...]]
    supported_features: ClassVar[tuple[str, ...]]
    head_sizes: ClassVar[tuple[int, ...] | IntSet]
    kernel_block_sizes: ClassVar[tuple[int | MultipleOf, ...]]
    cells: ClassVar[tuple[Cell, ...]]
    refusals: ClassVar[tuple[Cell, ...]] = ()
    notes: ClassVar[tuple[str, ...]] = ()
    differs: ClassVar[tuple[str, ...]] = ()
    sources: ClassVar[tuple[str, ...]] = ()
    _index: ClassVar[Index | None] = None
    _refusal_index: ClassVar[Index | None] = None

    @classmethod
    def index(cls) -> Index:
        """The look-up tables of `cells`, built once."""
        if cls._index is None:
            cls._index = Index(cls.cells, cls.mla, cls.sparse)
        return cls._index

    @classmethod
    def refusal_index(cls) -> Index:
        """The look-up tables of `refusals`, built once."""
        if cls._refusal_index is None:
            cls._refusal_index = Index(cls.refusals, cls.mla, cls.sparse)
        return cls._refusal_index

    def __init_subclass__(cls) -> None:
        cls._index = cls._refusal_index = None  # a derived class has cells of its own

    @classmethod
    def judge(cls, request: Request | None = None, **fields: Any) -> Verdict:
        """The verdict on a Request, or on the fields of one. Raises RequestError if unreadable."""
        return judge(cls, asked(request, {"matrix": cls.matrix(), **fields} if fields else fields))

    @classmethod
    def matrix(cls) -> str:
        """The package of generated modules that the class comes from."""
        package, _, _ = cls.__module__.rpartition(".backends.")
        return package or BUILT_IN

    @classmethod
    def get_name(cls) -> str:
        """The name that users pick it by."""
        return cls.name

    @classmethod
    def get_supported_head_sizes(cls) -> list[int]:
        """Claimed head sizes, in elements; empty means any, or too many to list."""
        sizes = cls.head_sizes
        return (sizes.numbers() or []) if isinstance(sizes, IntSet) else list(sizes)

    @classmethod
    def get_supported_kernel_block_sizes(cls) -> list[int | MultipleOf]:
        """Block sizes in tokens that the kernels take."""
        return list(cls.kernel_block_sizes)

    @classmethod
    def get_supported_kv_cache_dtypes(cls, compute_capability: Any = None) -> list[str]:
        """KV-cache dtypes a user may type, aliases included, on a GPU (None: on any)."""
        return [
            name
            for name in cls.supported_kv_cache_dtypes
            if cls._takes(kv_cache_dtype=name, compute_capability=compute_capability)
        ]

    @classmethod
    def resolve_kv_cache_dtype(
        cls, kv_cache_dtype: str, compute_capability: Any = None, dtype: Any = None
    ) -> str | None:
        """What a KV-cache dtype means here: aliases followed, None where it is refused.

        Resolving what was resolved changes nothing. None also where it depends on what was not
        named: the GPU, or for 'auto' the dtype.
        """
        verdict = cls.judge(
            kv_cache_dtype=kv_cache_dtype, compute_capability=compute_capability, dtype=dtype
        )
        return verdict.kv_cache_dtype if verdict.status != "unsupported" else None

    @classmethod
    def is_mla(cls) -> bool:
        """Whether it computes multi-head latent attention (also where it does both)."""
        return cls.mla is not False

    @classmethod
    def is_sparse(cls) -> bool:
        """Whether it attends to top-k selected tokens (also where it does both)."""
        return cls.sparse is not False

    @classmethod
    def supports_sink(cls) -> bool:
        """Whether an attention sink is taken on some GPU."""
        return cls._takes(sink=True)

    @classmethod
    def supports_dtype(cls, dtype: Any) -> bool:
        """Whether the model dtype is taken on some GPU."""
        return cls._takes(dtype=dtype)

    @classmethod
    def supports_kv_cache_dtype(
        cls, kv_cache_dtype: str | None, compute_capability: Any = None
    ) -> bool:
        """Whether the KV-cache dtype is taken on the GPU (None: on some)."""
        return cls._takes(kv_cache_dtype=kv_cache_dtype, compute_capability=compute_capability)

    @classmethod
    def supports_head_size(cls, head_size: int) -> bool:
        """Whether the head size, in elements, is taken on some GPU."""
        return cls._takes(head_size=head_size)

    @classmethod
    def supports_block_size(cls, block_size: int | None) -> bool:
        """Whether the block size, in tokens, is taken on some GPU."""
        return cls._takes(block_size=block_size)

    @classmethod
    def supports_compute_capability(cls, capability: Any) -> bool:
        """Whether anything runs on a GPU of this capability: '9.0', 'sm_90a' or (9, 0)."""
        return cls._takes(compute_capability=capability)

    @classmethod
    def _takes(cls, **fields: Any) -> bool:
        try:
            return cls.judge(**fields).status == "supported"
        except RequestError:
            return False  # no value of that kind is taken

    @classmethod
    def validate_configuration(
        cls,
        head_size: int | None = None,
        dtype: Any = None,
        kv_cache_dtype: str | None = None,
        block_size: int | None = None,
        use_mla: bool | None = None,
        has_sink: bool | None = None,
        use_sparse: bool | None = None,
        device_capability: Any = None,
        **fields: Any,
    ) -> list[str]:
        """Every reason against a configuration, in words; empty if it runs.

        Takes vLLM's argument names, and any other field of Request by its own name.
        """
        verdict = cls.judge(
            head_size=head_size,
            dtype=dtype,
            kv_cache_dtype=kv_cache_dtype,
            block_size=block_size,
            mla=use_mla,
            sink=has_sink,
            sparse=use_sparse,
            compute_capability=None
            if device_capability is None
            else tuple(device_capability)
            if not isinstance(device_capability, str)
            else device_capability,
            **fields,
        )
        return [reason.message for reason in verdict.reasons]
