"""DeepSeek-V4 decode as models do it, behind one call whatever the backend.

Two pools, the sliding window's and the compressed one, each with indices and lengths, share a
softmax with an attention sink:

    >>> decode = decoder("FLASHMLA_SPARSE_DSV4", gpu="H200", query_heads=64)
    >>> decode.plan(page_size=64, topk=128, extra_page_size=64, extra_topk=512, batch=32)
    >>> out, lse = decode.run(q, window_cache, indices=..., topk_length=..., attn_sink=sink,
    ...                       extra_kv_cache=..., extra_indices=..., extra_topk_length=...)

Arguments are those of ReferenceDecode; a backend that needs another says so by name.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from attnmatrix import Request, UnknownName, get_backend, get_kernel, get_kv_format

from .errors import KernelError

if TYPE_CHECKING:
    from torch import Tensor

    from attnmatrix import Backend, Verdict


def decoder(backend: str | type[Backend], request: Request | None = None, **fields: Any) -> Decoder:
    """The decoder of a backend, never of another, for a request or for the fields of one.

    Sparse, head size 512 and the decode phase are understood. Raises KernelError with every reason
    if the backend does not take it.
    """
    if request is None:
        given = {"phase": "decode", "mla": True, "sparse": True, "head_size": 512, **fields}
        request = Request(**given)
    try:
        found = get_backend(backend) if isinstance(backend, str) else backend
    except UnknownName as error:
        raise KernelError("backend", backend, str(error)) from error
    verdict = found.judge(request)
    if verdict.status == "unsupported":
        reasons = "; ".join(reason.message for reason in verdict.reasons)
        raise KernelError("backend", found.name, "a request that it takes", reasons)
    return Decoder(verdict)


class Decoder:
    """plan and run of the kernel that a verdict names: see `verdict`, `kernel` and `adapter`."""

    def __init__(self, verdict: Verdict) -> None:
        if verdict.kernel is None or verdict.kv_format is None:
            missing = "compute_capability (or gpu) and kv_cache_dtype"
            raise KernelError(
                "request", "open", f"one that names {missing}, so that one kernel fits"
            )
        self.verdict = verdict
        self.kernel = get_kernel(verdict.kernel)
        self.kv_format = get_kv_format(verdict.kv_format)
        extra = verdict.extra_kv_format
        self.extra_kv_format = self.kv_format if extra is None else get_kv_format(extra)
        try:
            self.adapter: Any = self.kernel.load()()
        except LookupError as error:
            raise KernelError(
                "kernel", self.kernel.name, "one with an adapter", str(error)
            ) from error
        self._planned = inspect.signature(self.adapter.plan).parameters

    @property
    def provider(self) -> str:
        """The distribution and version that the adapter calls."""
        return str(getattr(self.adapter, "provider", self.kernel.library))

    @property
    def padded_query_heads(self) -> int | None:
        """The head count the kernel is called with; None where heads are never padded."""
        found: int | None = getattr(self.adapter, "padded_query_heads", None)
        return found

    def plan(
        self,
        *,
        page_size: int,
        topk: int,
        batch: int,
        q_len: int = 1,
        query_heads: int | None = None,
        extra_page_size: int | None = None,
        extra_topk: int | None = None,
        device: Any = None,
        **options: Any,
    ) -> None:
        """Fix what the runs to come have in common. Raises KernelError.

        page_size, topk: of the window pool; extra_page_size, extra_topk: of the compressed one.
        query_heads: as the request says where it names them. options: those of the kernel's plan.
        """
        heads = self.verdict.request.query_heads if query_heads is None else query_heads
        if heads is None:
            raise KernelError("query_heads", None, "a number, here or in the request")
        given = {
            "kv_format": self.kv_format,
            "page_size": page_size,
            "query_heads": heads,
            "head_size": self.kv_format.head_size,
            "value_size": self.kv_format.head_size,
            "topk": topk,
            "extra_kv_format": None if extra_topk is None else self.extra_kv_format,
            "extra_page_size": extra_page_size,
        }
        shape = {"batch": batch, "q_len": q_len, "extra_topk": extra_topk}
        if device is not None:
            shape["device"] = device
        # What the reference reads off its arguments, a kernel that schedules wants beforehand.
        given.update({name: value for name, value in shape.items() if name in self._planned})
        self.adapter.plan(**given, **options)

    def run(self, q: Tensor, kv_cache: Tensor, **arguments: Any) -> tuple[Tensor, Tensor | None]:
        """Attention over both pools: the adapter's own `run`."""
        found: tuple[Tensor, Tensor | None] = self.adapter.run(q, kv_cache, **arguments)
        return found
