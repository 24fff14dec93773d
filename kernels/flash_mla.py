"""FlashMLA's sparse decode over a packed FP8 cache: DeepSeek-V4 (584 B) and V3.2 (656 B) records.

>>> decode = SparseDecode()
>>> decode.plan(kv_format=get_kv_format("ds_mla_v4"), page_size=64, query_heads=64, topk=512,
...             head_size=512, value_size=512, batch=32, q_len=1, device="cuda")
>>> for layer in layers:
...     out, lse = decode.run(layer.q, layer.cache, indices=indices, attn_sink=layer.sink)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from .bounds import debug_wanted, require_slots
from .checks import require_absent, require_finite, require_int
from .errors import KernelError
from .launch import (
    capture_check,
    is_aligned,
    misaligned,
    require_planned,
    require_sizes,
    resolve_device,
    unplanned,
    wrong_shape,
)
from .providers import FlashMLA, find_flash_mla
from .rows import Call, capability_of, find_row, query_heads_taken
from .views import CacheViews, record_view

if TYPE_CHECKING:
    from attnmatrix.kv_format import KVFormat

VALUE_SIZE = 512
"""The one value size of FlashMLA's kernels."""

SGLANG_NAMES = {
    "ds_mla_v32": "V32",
    "ds_mla_v32_nope": "V32_NO_ROPE",
    "ds_mla_v4": "V4",
    "ds_mla_v41_footer": "V41",
}
"""What sglang-kernel's builds call a KV format, where they have an argument for it."""


class _Plan(NamedTuple):
    device: torch.device
    call: Any
    last: str | None
    tail: tuple[Any, ...]
    query_heads: int
    q_shape: torch.Size
    indices_shape: torch.Size
    extra_shape: torch.Size | None
    scale: float
    features: frozenset[str]
    debug: bool
    cache: CacheViews
    extra_cache: CacheViews | None
    q_buffer: Tensor | None
    sink_buffer: Tensor | None
    hot: tuple[Any, ...]
    """What every run reads, together."""


class SparseDecode:
    """Decode attention over selected tokens: `plan` once a batch shape, then `run` a layer.

    The scheduler's metadata are made by the first run after a plan, in stream, and reused by the
    runs that follow. They depend on the values of the top-k lengths: call `refresh` when those
    change. A graph captures the making of them with its first run, so that replays follow lengths
    that were changed in place. The kernel allocates its scratch memory and the LSE with torch's
    caching allocator.
    """

    kernel = "flash_mla.sparse_decode"

    def __init__(self, provider: str | FlashMLA | None = None) -> None:
        """provider: a distribution, never replaced by another; None takes the first that loads."""
        self.library = provider if isinstance(provider, FlashMLA) else find_flash_mla(provider)
        self._plan: _Plan | None = None
        self._given: tuple[bool, ...] = ()
        self._buffers: dict[tuple[Any, ...], tuple[Tensor, Tensor]] = {}
        self._schedule: tuple[Tensor | None, Tensor | None] = (None, None)

    @property
    def provider(self) -> str:
        """The distribution and version in use, as 'vllm==0.33.0'."""
        return str(self.library)

    @property
    def padded_query_heads(self) -> int | None:
        """The head count the kernel is called with; None before a plan."""
        return None if self._plan is None else self._plan.q_shape[2]

    def plan(
        self,
        *,
        kv_format: KVFormat,
        page_size: int,
        query_heads: int,
        head_size: int,
        value_size: int = VALUE_SIZE,
        topk: int,
        batch: int,
        q_len: int = 1,
        extra_kv_format: KVFormat | None = None,
        extra_page_size: int | None = None,
        extra_topk: int | None = None,
        softmax_scale: float | None = None,
        device: torch.device | str = "cuda",
        debug: bool | None = None,
        untested: bool = False,
    ) -> None:
        """Fix what the runs to come have in common; forget the schedule. Raises KernelError.

        topk, extra_topk: widths of the index tensors, multiples of 64; pad them with -1.
        extra_kv_format, extra_page_size, extra_topk: a second cache in the same softmax.
        query_heads: fewer than the kernel takes are padded (`padded_query_heads` says to how many).
        debug: see `bounds`. untested: try what the matrix says nobody has established.
        """
        device = resolve_device(device)
        require_sizes(kv_format, head_size, value_size, VALUE_SIZE)
        require_int("batch", batch)
        require_int("q_len", q_len)
        features: tuple[str, ...] = ()
        if extra_kv_format is None:
            require_absent(extra_page_size=extra_page_size, extra_topk=extra_topk)
        else:
            features = ("extra_kv_pool",)
            require_int("extra_page_size", extra_page_size)
            if require_int("extra_topk", extra_topk) % 64:
                raise KernelError("extra_topk", extra_topk, "a multiple of 64", "pad with -1")
        capability = capability_of(device)
        call = Call(
            capability,
            (self.library.distribution, self.library.version),
            kv_format.name,
            "bfloat16",
            head_size,
            require_int("page_size", page_size),
            require_int("query_heads", query_heads),
            require_int("topk", topk),
            None if extra_kv_format is None else extra_kv_format.name,
            features,
        )
        taken = query_heads_taken(self.kernel, call).values
        heads = min((n for n in taken if n >= query_heads), default=query_heads)
        row = find_row(self.kernel, call._replace(query_heads=heads), untested=untested)
        operator = self.library.operator("sparse_decode")
        scale = head_size**-0.5 if softmax_scale is None else softmax_scale
        q_shape = torch.Size((batch, q_len, heads, head_size))
        views = []
        for fmt, size, field in (
            (kv_format, page_size, "kv_cache"),
            (extra_kv_format, extra_page_size, "extra_kv_cache"),
        ):
            if fmt is not None and size is not None:
                own = fmt.round_up_to if fmt.round_up_to > 1 else fmt.bytes_per_token
                unit = own if capability[0] == 10 else 16
                views.append(CacheViews(record_view(fmt, size, field, device, unit)))
        q_buffer = sink_buffer = None
        if heads != query_heads:
            q_buffer, sink_buffer = self._padding(q_shape, query_heads, device)
        indices_shape = torch.Size((batch, q_len, topk))
        extra_shape = None if extra_topk is None else torch.Size((batch, q_len, extra_topk))
        scale = require_finite("softmax_scale", scale)
        checks = debug_wanted(debug)
        direct = operator.last == "out" and not checks
        self._plan = _Plan(
            device,
            operator.call,
            operator.last,
            (SGLANG_NAMES.get(kv_format.name),) if operator.last == "kv_format" else (),
            query_heads,
            q_shape,
            indices_shape,
            extra_shape,
            scale,
            row.features,
            checks,
            views[0],
            views[1] if len(views) > 1 else None,
            q_buffer,
            sink_buffer,
            (
                q_shape,
                indices_shape,
                extra_shape,
                operator.call,
                scale,
                views[0].found,
                views[-1].found,
                capture_check(device),
                direct,
            ),
        )
        self.refresh()

    def _padding(
        self, q_shape: torch.Size, query_heads: int, device: torch.device
    ) -> tuple[Tensor, Tensor]:
        """Buffers of a padded query and sink; kept, since graphs of an earlier plan read them."""
        key = (q_shape, query_heads, device)
        if key not in self._buffers:
            q = torch.zeros(q_shape, dtype=torch.bfloat16, device=device)
            self._buffers[key] = (q, torch.full((q_shape[2],), -torch.inf, device=device))
        return self._buffers[key]

    def refresh(self) -> None:
        """Forget the schedule: the next run makes one from the top-k lengths' values then."""
        self._given = ()

    def run(
        self,
        q: Tensor,
        kv_cache: Tensor,
        *,
        indices: Tensor,
        topk_length: Tensor | None = None,
        attn_sink: Tensor | None = None,
        extra_kv_cache: Tensor | None = None,
        extra_indices: Tensor | None = None,
        extra_topk_length: Tensor | None = None,
        out: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Attention of q, bfloat16 [batch, q_len, query_heads, head_size], as in ReferenceDecode.

        kv_cache, extra_kv_cache: uint8 [num_pages, page_bytes], or as the library has them,
        [num_pages, page_size, 1, bytes_per_token]. indices: int32 slots, -1 for none; whatever
        else lies outside the cache is read as it is (debug catches it). attn_sink: float32.

        Where heads are padded, q may have either head count. With query_heads it is copied to a
        buffer first, and the sink too; with padded_query_heads nothing is copied, and out has them
        all. Returns out (`out`, if given) and lse float32 [batch, heads, q_len], a view whose
        memory is [batch, q_len, heads]: natural, without the sink, +inf for a row without keys,
        whose out is 0. vllm's builds write to `out`; for the others the result is copied there.
        """
        plan = self._plan
        if plan is None:
            raise unplanned()
        # Host time counts here: what follows is written for it, and measured by benchmarks/gpu.py.
        q_shape, indices_shape, extra_shape, call, scale, views, extra_views, capturing, direct = (
            plan.hot
        )
        try:
            if q.shape != q_shape:
                return self._run_padded(
                    plan,
                    q,
                    attn_sink,
                    out,
                    kv_cache=kv_cache,
                    indices=indices,
                    topk_length=topk_length,
                    extra_kv_cache=extra_kv_cache,
                    extra_indices=extra_indices,
                    extra_topk_length=extra_topk_length,
                )
            given = (
                topk_length is None,
                attn_sink is None,
                extra_kv_cache is None,
                extra_topk_length is None,
                capturing(),  # a schedule made in a graph exists once that is replayed
            )
            if given != self._given:
                self._begin(plan, given)
            if (not q.is_contiguous() or q.data_ptr() & 15) and not is_aligned(q):
                raise misaligned(q)
            if indices.shape != indices_shape:
                raise wrong_shape("indices", indices, indices_shape)
            cache = views.get(id(kv_cache))
            if cache is None:
                cache = plan.cache(kv_cache)
            extra = None
            if extra_kv_cache is not None:
                extra = extra_views.get(id(extra_kv_cache))
                if extra is None:
                    extra = plan.extra_cache(extra_kv_cache)  # type: ignore[misc]
                if extra_indices.shape != extra_shape:  # type: ignore[union-attr]
                    raise wrong_shape("extra_indices", extra_indices, extra_shape)
            meta, splits = self._schedule
            if direct:
                written, lse, new_meta, new_splits = call(
                    q,
                    cache,
                    indices,
                    topk_length,
                    attn_sink,
                    meta,
                    splits,
                    extra,
                    extra_indices,
                    extra_topk_length,
                    VALUE_SIZE,
                    scale,
                    out,
                )
                if meta is None:
                    self._schedule = (new_meta, new_splits)
                return written, lse
            if plan.debug:
                require_slots("indices", indices, cache.shape[0] * cache.shape[1], topk_length)
                slots = 0 if extra is None else extra.shape[0] * extra.shape[1]
                require_slots("extra_indices", extra_indices, slots, extra_topk_length)
            written, lse, meta, splits = call(
                q,
                cache,
                indices,
                topk_length,
                attn_sink,
                meta,
                splits,
                extra,
                extra_indices,
                extra_topk_length,
                VALUE_SIZE,
                scale,
                *((out,) if plan.last == "out" else plan.tail),
            )
        except KernelError:
            raise
        except Exception:
            # The library has refused, or would have: find the argument and name it.
            self._check(plan, q, indices, attn_sink, extra_indices, out)
            _check_lengths(plan, topk_length, extra_topk_length)
            raise
        self._schedule = (meta, splits)
        if out is not None and plan.last != "out":
            return out.copy_(written), lse
        return written, lse

    def _begin(self, plan: _Plan, given: tuple[bool, ...]) -> None:
        """A new set of arguments: check it against the row, and drop the schedule."""
        for missing, feature, field in zip(
            given,
            ("topk_length", "attention_sink", "extra_kv_pool"),
            ("topk_length", "attn_sink", "extra_kv_cache"),
            strict=False,
        ):
            if not missing and feature not in plan.features:
                raise KernelError(field, "given", f"None: {self.kernel}'s row has no {feature}")
        if (plan.extra_cache is None) != given[2]:
            raise KernelError("extra_kv_cache", "not as planned", "what plan said", "plan anew")
        if given[2] and not given[3]:
            raise KernelError("extra_topk_length", "given", "None without extra_kv_cache")
        self._given = given
        self._schedule = (None, None)

    def _run_padded(
        self, plan: _Plan, q: Tensor, sink: Tensor | None, out: Tensor | None, **rest: Any
    ) -> tuple[Tensor, Tensor]:
        heads = plan.query_heads
        batch, q_len, _, head_size = plan.q_shape
        wanted = torch.Size((batch, q_len, heads, head_size))
        if q.shape != wanted or plan.q_buffer is None or plan.sink_buffer is None:
            raise wrong_shape("q", q, wanted)
        require_planned("q", q, torch.bfloat16, wanted, plan.device)
        plan.q_buffer[:, :, :heads].copy_(q)
        if sink is not None and sink.shape[0] == heads:
            plan.sink_buffer[:heads].copy_(
                require_planned("attn_sink", sink, torch.float32, (heads,), plan.device)
            )
            sink = plan.sink_buffer
        if out is not None:
            require_planned(
                "out", out, torch.bfloat16, (batch, q_len, heads, VALUE_SIZE), plan.device
            )
        written, lse = self.run(plan.q_buffer, attn_sink=sink, **rest)
        written, lse = written[:, :, :heads], lse[:, :heads]
        return (written if out is None else out.copy_(written)), lse

    def _check(
        self,
        plan: _Plan,
        q: Tensor,
        indices: Tensor,
        sink: Tensor | None,
        extra_indices: Tensor | None,
        out: Tensor | None,
    ) -> None:
        batch, q_len, heads, _ = plan.q_shape
        require_planned("q", q, torch.bfloat16, plan.q_shape, plan.device)
        require_planned("indices", indices, torch.int32, plan.indices_shape, plan.device)
        if sink is not None:
            require_planned("attn_sink", sink, torch.float32, (heads,), plan.device)
        if plan.extra_shape is not None:
            require_planned(
                "extra_indices", extra_indices, torch.int32, plan.extra_shape, plan.device
            )
        if out is not None:
            require_planned(
                "out", out, torch.bfloat16, (batch, q_len, heads, VALUE_SIZE), plan.device
            )


def _check_lengths(plan: _Plan, *lengths: Tensor | None) -> None:
    for field, length in zip(("topk_length", "extra_topk_length"), lengths, strict=True):
        if length is not None:
            require_planned(field, length, torch.int32, (plan.q_shape[0],), plan.device)
