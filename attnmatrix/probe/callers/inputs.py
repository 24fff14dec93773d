"""A case's inputs: small, the same at every run, and such that what is misread shows."""

from __future__ import annotations

import math
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from attnmatrix.registry import get_kv_format

from .pools import UNSEEN_SIZE, Pool, make_pool

if TYPE_CHECKING:
    from ..case import Case
    from .caller import Needs

QUERY_SCALE = 0.5
"""What e4m3 queries are multiplied with."""

CAUSAL_Q_LEN = 3
LAST_SIZE = 4.0
"""Magnitude of keys that a causal mask hides from some queries: few, they have to weigh much."""

EXTRA_TOPK = 128
SEEN_SHARE = 2 / 3
"""Of the slots in pages that indices name, those that some query may see."""

DEAD_EVERY = 7
"""One page in so many is named by no index."""


class Problem(NamedTuple):
    """What a kernel is called with. Fields that a case has no use for are None.

    q: [batch, q_len, query_heads, head_size] in the case's dtype; it stands for q times q_scale.
    indices, extra_indices: int32 [batch, q_len, keys], slots, -1 for none. topk_length,
    extra_topk_length: int32 [batch]. block_table: int32 [batch, blocks]; cache_seqlens: int32
    [batch]. sink: float32 [query_heads].
    """

    case: Case
    q: Tensor
    q_scale: float
    softmax_scale: float
    value_size: int
    pool: Pool
    indices: Tensor | None = None
    topk_length: Tensor | None = None
    extra: Pool | None = None
    extra_indices: Tensor | None = None
    extra_topk_length: Tensor | None = None
    block_table: Tensor | None = None
    cache_seqlens: Tensor | None = None
    sink: Tensor | None = None

    @property
    def score_scale(self) -> float:
        """The softmax's scale for q as stored: engines put the scale of e4m3 queries in it."""
        return self.softmax_scale * self.q_scale

    @property
    def causal(self) -> bool:
        """Whether a query sees the keys up to its own alone."""
        return "causal" in self.case.features

    @property
    def wants_lse(self) -> bool:
        """Whether the LSE is asked for."""
        return "lse" in self.case.features


def value_size_of(head_size: int) -> int:
    """MLA's values are the latent: the key, less 64 RoPE elements where those are apart."""
    return head_size - 64 if head_size % 128 == 64 else head_size


def build(case: Case, needs: Needs, device: torch.device) -> Problem:
    """A case's inputs: the same at every run on one kind of device."""
    generator = torch.Generator(device).manual_seed(zlib.crc32(case.key().encode()))
    fmt = get_kv_format(case.kv_format)
    q_len = CAUSAL_Q_LEN if "causal" in case.features else 1
    shape = (needs.batch, q_len, case.query_heads, case.head_size)
    q = torch.randn(shape, generator=generator, device=device)
    q_scale = QUERY_SCALE if case.dtype == "float8_e4m3fn" else 1.0
    q = (q / q_scale).to(getattr(torch, case.dtype))
    needed = _sequences if case.topk is None else _selections
    fields, keys = needed(case, needs, shape, generator)
    if "attention_sink" in case.features:
        sink = torch.randn(case.query_heads, generator=generator, device=device)
        fields["sink"] = sink + math.log(keys)  # about as heavy as all keys together
    scale, value_size = fmt.head_size**-0.5, value_size_of(fmt.head_size)
    return Problem(case, q, q_scale, scale, value_size, **fields)


def _sequences(
    case: Case, needs: Needs, shape: tuple[int, ...], generator: torch.Generator
) -> tuple[dict[str, Any], int]:
    """Sequences of a few hundred tokens, whose last pages are not full, in pages all over.

    Returns fields of a Problem, and how many keys the shortest has.
    """
    size, device = case.page_size, generator.device
    lengths = [37, 192, max(333, size + 77)]
    blocks = [-(-length // size) for length in lengths]
    pages = sum(blocks) + 3  # page 0, which engines keep for entries not in use, and two dead ones
    order = 1 + torch.randperm(pages - 1, generator=generator, device=device)
    table = torch.zeros(len(lengths), max(blocks), dtype=torch.int32, device=device)
    sizes = torch.full((pages, size), UNSEEN_SIZE, device=device)
    hidden = shape[1] - 1
    used = 0
    for row, (length, count) in enumerate(zip(lengths, blocks, strict=True)):
        own = order[used : used + count]
        used += count
        table[row, :count] = own
        tokens = torch.full((count * size,), UNSEEN_SIZE, device=device)
        tokens[:length] = 1.0
        tokens[length - hidden : length] = LAST_SIZE
        sizes[own] = tokens.view(count, size)
    pool = make_pool(
        get_kv_format(case.kv_format),
        size,
        sizes.flatten(),
        order[used:],
        generator,
        apart="strided_pages" in case.features,
        scaled=needs.scales,
    )
    assert shape[0] == len(lengths)
    seqlens = torch.tensor(lengths, dtype=torch.int32, device=device)
    return {"pool": pool, "block_table": table, "cache_seqlens": seqlens}, min(lengths)


def _selections(
    case: Case, needs: Needs, shape: tuple[int, ...], generator: torch.Generator
) -> tuple[dict[str, Any], int]:
    """Slots that each query sees, of one pool or of two that share a softmax; as `_sequences`."""
    extra = case.extra_kv_format
    if extra is None and "extra_kv_pool" in case.features:
        extra = case.kv_format
    topk, extra_topk = case.topk or 0, EXTRA_TOPK
    if needs.window is not None and extra is not None:
        extra_topk = topk - needs.window if topk > needs.window else EXTRA_TOPK
        topk = min(topk, needs.window)
    names = ("pool", "indices", "topk_length")
    found = _selection(case, case.kv_format, case.page_size, topk, needs, shape, generator)
    fields: dict[str, Any] = dict(zip(names, found, strict=True))
    if extra is None:
        return fields, topk
    size = 2 if case.page_size != 2 else 64  # another than the main pool's, so that a mix-up shows
    needs = needs._replace(shortest=1)
    names = ("extra", "extra_indices", "extra_topk_length")
    found = _selection(case, extra, size, extra_topk, needs, shape, generator)
    return fields | dict(zip(names, found, strict=True)), topk + extra_topk


def _selection(
    case: Case,
    kv_format: str,
    page_size: int,
    topk: int,
    needs: Needs,
    shape: tuple[int, ...],
    generator: torch.Generator,
) -> tuple[Pool, Tensor, Tensor | None]:
    """A pool, different slots of it for each query, and how many of them count."""
    features, device = case.features, generator.device
    batch, q_len = shape[:2]
    pages = max(4, 1 + -(-2 * topk // page_size))
    numbers = torch.arange(pages, device=device)
    is_dead = numbers % DEAD_EVERY == DEAD_EVERY // 2  # never page 0, which engines keep readable
    named = (~is_dead).repeat_interleave(page_size).nonzero().flatten()
    named = named[named > 0]  # slot 0 is where a -1 that is not masked would lead
    order = torch.randperm(named.numel(), generator=generator, device=device)
    live = named[order[: max(topk, int(SEEN_SHARE * named.numel()))]]
    scores = torch.rand(batch, q_len, live.numel(), generator=generator, device=device)
    indices = live[scores.argsort(-1)[..., :topk]].int()
    if needs.masks:
        masked = torch.rand(indices.shape, generator=generator, device=device) < 0.125
        masked[..., 0] = False  # a query without keys is another matter
        indices = indices.masked_fill(masked, -1)
    length = None
    if "topk_length" in features:  # slots behind the length can be read, and must not count
        thirds = 3 - torch.arange(batch, device=device) % 3
        length = (thirds * topk / 3).ceil().clamp(min(needs.shortest, topk), topk).int()
    sizes = torch.full((pages * page_size,), UNSEEN_SIZE, device=device)
    sizes[live] = 1.0
    pool = make_pool(
        get_kv_format(kv_format),
        page_size,
        sizes,
        numbers[is_dead],
        generator,
        apart="strided_pages" in features,
        scaled=needs.scales,
    )
    return pool, indices, length
