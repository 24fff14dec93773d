"""FlashMLA's sparse attention over bfloat16 rows, which engines use for prefill.

It knows no pages and no batch: a cache is one array of rows, and each query token names its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from .bounds import debug_wanted, require_slots
from .checks import require_finite, require_int
from .errors import KernelError
from .flash_mla import VALUE_SIZE
from .launch import require_planned, require_sizes, resolve_device, unplanned, wrong_shape
from .providers import FlashMLA, find_flash_mla
from .rows import Call, capability_of, find_row, query_heads_taken
from .softmax import LN2
from .views import CacheViews, plain_view

if TYPE_CHECKING:
    from attnmatrix.kv_format import KVFormat


class _Plan(NamedTuple):
    device: torch.device
    call: Any
    last: str | None
    base_2: bool
    query_heads: int
    heads: int
    head_size: int
    topk: int
    scale: float
    debug: bool
    rows: CacheViews


class SparsePrefill:
    """Sparse attention of many query tokens: `plan` once, then `run` a layer, any token count."""

    kernel = "flash_mla.sparse_prefill"

    def __init__(self, provider: str | FlashMLA | None = None) -> None:
        """provider: a distribution, never replaced by another; None takes the first that loads."""
        self.library = provider if isinstance(provider, FlashMLA) else find_flash_mla(provider)
        self._plan: _Plan | None = None

    @property
    def provider(self) -> str:
        """The distribution and version in use, as 'vllm==0.33.0'."""
        return str(self.library)

    @property
    def padded_query_heads(self) -> int | None:
        """The head count the kernel is called with; None before a plan."""
        return None if self._plan is None else self._plan.heads

    def plan(
        self,
        *,
        kv_format: KVFormat,
        query_heads: int,
        head_size: int,
        value_size: int = VALUE_SIZE,
        topk: int,
        page_size: int = 64,
        softmax_scale: float | None = None,
        device: torch.device | str = "cuda",
        debug: bool | None = None,
        untested: bool = False,
    ) -> None:
        """Fix what the runs to come have in common. Raises KernelError.

        page_size: of a cache given as pages; they must lie one after another.
        """
        device = resolve_device(device)
        require_sizes(kv_format, head_size, value_size, VALUE_SIZE)
        call = Call(
            capability_of(device),
            (self.library.distribution, self.library.version),
            kv_format.name,
            "bfloat16",
            head_size,
            require_int("page_size", page_size),
            require_int("query_heads", query_heads),
            require_int("topk", topk),
        )
        taken = query_heads_taken(self.kernel, call).values
        heads = min((n for n in taken if n >= query_heads), default=query_heads)
        find_row(self.kernel, call._replace(query_heads=heads), untested=untested)
        operator = self.library.operator("sparse_prefill")
        scale = head_size**-0.5 if softmax_scale is None else softmax_scale
        make = plain_view(kv_format, page_size, "kv", device)

        def rows(kv: Tensor) -> Tensor:
            if kv.dtype != torch.uint8:
                return require_planned(
                    "kv", kv, torch.bfloat16, (kv.shape[0], head_size), plan.device
                ).unsqueeze(1)
            pages = make(kv)
            if pages.shape[0] > 1 and pages.stride(0) != page_size * head_size:
                raise KernelError("kv", "pages apart", "pages one after another: it knows no pages")
            return pages.reshape(-1, 1, head_size)

        plan = self._plan = _Plan(
            device,
            operator.call,
            operator.last,
            self.library.distribution == "sglang-kernel",
            query_heads,
            heads,
            head_size,
            topk,
            require_finite("softmax_scale", scale),
            debug_wanted(debug),
            CacheViews(rows),
        )

    def run(
        self,
        q: Tensor,
        kv: Tensor,
        *,
        indices: Tensor,
        topk_length: Tensor | None = None,
        attn_sink: Tensor | None = None,
        out: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Attention of q, bfloat16 [tokens, query_heads, head_size], over the rows it selects.

        kv: bfloat16 [rows, head_size], or pages, uint8 [num_pages, page_bytes], without gaps.
        indices: int32 [tokens, topk]; numbers below 0 or past the last row count as none.
        topk_length: int32 [tokens]. attn_sink: float32 [query_heads]. Heads are padded by a copy
        where the kernel takes more; q may come padded. Returns out [tokens, heads, 512] and lse
        float32 [tokens, heads]: natural, without the sink, +inf for a row without keys.
        """
        plan = self._plan
        if plan is None:
            raise unplanned()
        try:
            heads = q.shape[1]
            if q.dim() != 3 or heads not in (plan.query_heads, plan.heads):
                wanted = (q.shape[0], plan.query_heads, plan.head_size)
                raise wrong_shape("q", q, wanted)
            wanted_out = out
            if heads != plan.heads:
                q = torch.nn.functional.pad(q, (0, 0, 0, plan.heads - heads))
                if attn_sink is not None and attn_sink.shape[0] == heads:
                    more = plan.heads - heads
                    attn_sink = torch.nn.functional.pad(attn_sink, (0, more), value=-torch.inf)
                out = None
            if indices.shape != (q.shape[0], plan.topk):
                raise wrong_shape("indices", indices, (q.shape[0], plan.topk))
            rows = plan.rows(kv)
            if plan.debug:
                require_slots("indices", indices, rows.shape[0], topk_length)
            last = (out,) if plan.last == "out" else ()
            written, _, lse = plan.call(
                q,
                rows,
                indices.unsqueeze(1),
                plan.scale,
                VALUE_SIZE,
                attn_sink,
                topk_length,
                *last,
            )
        except KernelError:
            raise
        except Exception:
            self._check(plan, q, indices, topk_length, attn_sink, out)
            raise
        if plan.base_2:
            lse.mul_(LN2)
        if heads != plan.heads:
            written, lse = written[:, :heads], lse[:, :heads]
        if wanted_out is None or (plan.last == "out" and out is not None):
            return written, lse
        return wanted_out.copy_(written), lse

    def _check(
        self,
        plan: _Plan,
        q: Tensor,
        indices: Tensor,
        length: Tensor | None,
        sink: Tensor | None,
        out: Tensor | None,
    ) -> None:
        tokens = q.shape[0]
        require_planned("q", q, torch.bfloat16, (tokens, plan.heads, plan.head_size), plan.device)
        require_planned("indices", indices, torch.int32, (tokens, plan.topk), plan.device)
        if length is not None:
            require_planned("topk_length", length, torch.int32, (tokens,), plan.device)
        if sink is not None:
            require_planned("attn_sink", sink, torch.float32, (plan.heads,), plan.device)
        if out is not None:
            require_planned(
                "out", out, torch.bfloat16, (tokens, plan.heads, VALUE_SIZE), plan.device
            )
