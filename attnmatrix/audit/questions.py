"""What is asked of each backend, in the engine's own words: its methods answer."""

from __future__ import annotations

import inspect
import re

from .capabilities import CAPABILITIES
from .examiner import Examiner
from .head_sizes import MAX_HEAD_SIZE, summary
from .standins import DTYPES, Dtype, StandIn, Unknown, UnknownBase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


def ask_fields(examiner: Examiner, backend: Any) -> dict[str, Any]:
    """The cells of one backend in one run: value, or an Unknown or error that says why not."""
    questions: dict[str, Callable[[], Any]] = {
        "dtypes": lambda: dtypes(backend),
        "kv_cache_dtypes": lambda: kv_cache_dtypes(examiner, backend),
        "block_sizes": lambda: [_size(size) for size in backend.get_supported_kernel_block_sizes()],
        "head_sizes": lambda: head_sizes(backend),
        "sink": lambda: _bool(backend.supports_sink()),
        "sparse": lambda: _bool(backend.is_sparse()),
        "mla": lambda: _bool(backend.is_mla()),
        "compute_capabilities": lambda: compute_capabilities(examiner, backend),
    }
    methods = {
        "dtypes": ("supports_dtype", "supported_dtypes"),
        "kv_cache_dtypes": ("supports_kv_cache_dtype", "supported_kv_cache_dtypes"),
        "block_sizes": ("get_supported_kernel_block_sizes",),
        "head_sizes": ("supports_head_size", "get_supported_head_sizes"),
        "sink": ("supports_sink",),
        "sparse": ("is_sparse",),
        "mla": ("is_mla",),
        "compute_capabilities": ("supports_compute_capability",),
    }
    found: dict[str, Any] = {}
    for field, question in questions.items():
        try:
            _all_known(backend, methods[field])
            before = Unknown.raised
            found[field] = question()
            if Unknown.raised > before:
                raise Unknown("something that its code does not let on")
        except (Exception, Unknown) as error:
            found[field] = error
    return found


def _all_known(backend: Any, names: Sequence[str]) -> None:
    """Raises Unknown where an attribute may come from a base class that is not here."""
    for name in names:
        for base in backend.__mro__:
            if base is UnknownBase:
                raise Unknown(f"{name}, which a base class that is not here may define")
            if name in vars(base):
                break


def _bool(value: Any) -> bool:
    if isinstance(value, StandIn):
        return bool(value)  # raises Unknown
    if not isinstance(value, bool):
        raise Unknown(f"{value!r} in place of a boolean")
    return value


def _size(value: Any) -> int | str:
    if type(value) is int:
        return value
    if type(getattr(value, "base", None)) is int:
        return f"%{value.base}"
    raise Unknown(f"{value!r} in place of a block size")


def dtypes(backend: Any) -> list[str]:
    """Model dtypes that the backend says it takes, in its own order."""
    listed = list(backend.supported_dtypes)
    if not all(isinstance(dtype, Dtype) for dtype in listed):
        raise Unknown("a dtype that torch stand-ins do not know")
    candidates = dict.fromkeys([*listed, *DTYPES.values()])
    return [dtype.name for dtype in candidates if _bool(backend.supports_dtype(dtype))]


def kv_cache_dtypes(examiner: Examiner, backend: Any) -> list[str]:
    """KV-cache dtypes that the backend says it takes: its list's order, then the engine's."""
    candidates = dict.fromkeys([*backend.supported_kv_cache_dtypes, *examiner.spellings()])
    return [name for name in candidates if _bool(backend.supports_kv_cache_dtype(name))]


def compute_capabilities(
    examiner: Examiner, backend: Any, asked: Sequence[tuple[int, int]] = ()
) -> list[tuple[int, int]]:
    """Of the asked compute capabilities, those that the backend takes.

    Those of this run unless named: its GPU's, or all where the platform has none.
    """
    return [
        capability
        for capability in asked or ([examiner.capability] if examiner.capability else CAPABILITIES)
        if _bool(backend.supports_compute_capability(examiner.device_capability(capability)))
    ]


def head_sizes(backend: Any) -> list[int | str]:
    """Head sizes, in elements: a list as declared, empty for any, or what a method accepts.

    What a method accepts is written as `%8` (multiples), `<=256` and `>=32`, joined by a comma.
    """
    listed = list(backend.get_supported_head_sizes())
    if not all(type(size) is int for size in listed):
        raise Unknown(f"{listed!r} in place of head sizes")
    supports = backend.supports_head_size
    definer = next(base for base in backend.__mro__ if "supports_head_size" in vars(base))
    common = definer.__name__ == "AttentionBackend"  # the engine's own rule: samples will do
    samples = {**dict.fromkeys(listed, True), 7: not listed}
    if common and all(_bool(supports(size)) is answer for size, answer in samples.items()):
        return listed
    accepted = [size for size in range(1, MAX_HEAD_SIZE + 1) if _bool(supports(size))]
    return listed if listed and set(accepted) == set(listed) else summary(accepted)


def combination_reasons(
    examiner: Examiner, backend: Any, kv_cache_dtype: str, head_size: int, dtype: str
) -> list[str]:
    """The engine's own reasons against a combination; empty where it accepts. Raises Unknown."""
    asked: dict[str, Any] = {
        "head_size": head_size,
        "dtype": DTYPES[dtype],
        "kv_cache_dtype": kv_cache_dtype,
        "block_size": None,
        "use_mla": backend.is_mla(),
        "has_sink": False,
        "use_sparse": backend.is_sparse(),
        "use_mm_prefix": False,
        "use_per_head_quant_scales": False,
        "device_capability": examiner.device_capability(),
        "attn_type": "decoder",
    }
    method = backend.validate_configuration
    code = method.__func__.__code__  # inspect.signature takes five times as long as the answer
    named = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    takes_all = bool(code.co_flags & inspect.CO_VARKEYWORDS)
    before = Unknown.raised
    reasons = method(**{name: asked[name] for name in asked if takes_all or name in named})
    if Unknown.raised > before:
        raise Unknown("something that its code does not let on")
    if not isinstance(reasons, list):
        raise Unknown(f"{reasons!r} in place of reasons")
    return [re.sub(r"\s+", " ", str(reason)) for reason in reasons]
