"""What the GPU benchmark runs: each adapter beside the bare call that it makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from attnmatrix import get_kv_format
from attnmatrix.kernels import kv_cache
from attnmatrix.kernels.flash_mla import SparseDecode
from attnmatrix.kernels.flash_mla_dense import DenseDecode
from attnmatrix.kernels.flashinfer import BatchMLA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch import Tensor

    from attnmatrix.kv_format import KVFormat

BATCHES, HEADS, TOPKS, LENGTHS = (1, 32, 128), (64, 128), (512, 2048), (4096, 32768)
POOL_TOKENS = 1 << 19
VARIANTS = 4
"""Sets of indices that runs take in turn, so that a cache does not serve one set again."""


class Case(NamedTuple):
    """`ours` and `bare` each take the number of a variant and run once."""

    kernel: str
    kv_format: str
    shape: str
    flops: float
    bytes: float
    ours: Callable[[int], Any]
    bare: Callable[[int], Any]
    begin: Callable[[], Any] = lambda: None
    """Called before a batch of runs: both sides then make their schedule once, in the first run."""


def cases() -> Iterator[Case]:
    """Every case, one at a time: each frees its memory before the next."""
    for name in ("ds_mla_v4", "ds_mla_v32"):
        pool = _pool(get_kv_format(name))
        for batch, heads, topk in _product(BATCHES, HEADS, TOPKS):
            yield _sparse(pool, name, batch, heads, topk)
    pool = _pool(get_kv_format("ds_mla_v4"))
    for batch, heads, topk in _product(BATCHES, (64, 128), TOPKS):
        yield _sparse(pool, "ds_mla_v4", batch, heads, 128, extra_topk=topk)
    del pool
    for batch, length in _product(BATCHES, LENGTHS):
        pool = _plain_pool(batch * length)
        for heads in HEADS:
            yield _dense(pool, batch, heads, length)
            yield _flashinfer_dense(pool, batch, heads, length)
    pool = _plain_pool(POOL_TOKENS)
    for batch, heads, topk in _product(BATCHES, HEADS, TOPKS):
        yield _flashinfer_sparse(pool, batch, heads, topk)


def _product(*axes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    from itertools import product

    return product(*axes)


def _pool(fmt: KVFormat) -> Tensor:
    cache = kv_cache.empty(fmt, POOL_TOKENS // 64, 64, "cuda")
    slots = torch.arange(POOL_TOKENS, device="cuda")
    for part in slots.split(1 << 16):
        kv = torch.randn(len(part), fmt.head_size, device="cuda").bfloat16()
        kv_cache.write(fmt, cache, kv, part, page_size=64)
    return cache


def _plain_pool(tokens: int) -> Tensor:
    rows = torch.empty(tokens, 576, dtype=torch.bfloat16, device="cuda").normal_()
    return rows.view(torch.uint8).view(tokens // 64, -1)


def _indices(batch: int, topk: int) -> list[Tensor]:
    shape = (batch, 1, topk)
    return [torch.randint(POOL_TOKENS, shape, device="cuda").int() for _ in range(VARIANTS)]


def _sparse(
    pool: Tensor, name: str, batch: int, heads: int, topk: int, extra_topk: int = 0
) -> Case:
    fmt = get_kv_format(name)
    decode = SparseDecode()
    more: dict[str, Any] = {}
    if extra_topk:
        more = {"extra_kv_format": fmt, "extra_page_size": 64, "extra_topk": extra_topk}
    decode.plan(
        kv_format=fmt,
        page_size=64,
        query_heads=heads,
        head_size=fmt.head_size,
        topk=topk,
        batch=batch,
        **more,
    )
    q = torch.randn(batch, 1, heads, fmt.head_size, device="cuda").bfloat16()
    out = torch.empty(batch, 1, heads, 512, device="cuda", dtype=torch.bfloat16)
    sink = torch.randn(heads, device="cuda")
    indices = _indices(batch, topk)
    second = _indices(batch, extra_topk) if extra_topk else [None] * VARIANTS
    pool2 = pool if extra_topk else None
    length = torch.full((batch,), topk, device="cuda").int() if extra_topk else None
    length2 = torch.full((batch,), extra_topk, device="cuda").int() if extra_topk else None

    def ours(i: int) -> Any:
        return decode.run(
            q,
            pool,
            indices=indices[i],
            topk_length=length,
            attn_sink=sink,
            extra_kv_cache=pool2,
            extra_indices=second[i],
            extra_topk_length=length2,
            out=out,
        )

    ours(0)
    call, view = _public(decode, "sparse_decode_fwd"), decode._plan.cache(pool)
    view2 = view if extra_topk else None
    scale = fmt.head_size**-0.5
    schedule: list[Any] = [None, None]

    def begin() -> None:
        decode.refresh()
        schedule[:] = None, None

    def bare(i: int) -> Any:
        result = call(
            q,
            view,
            indices[i],
            length,
            sink,
            *schedule,
            view2,
            second[i],
            length2,
            512,
            scale,
            out,
        )
        schedule[:] = result[2:]

    keys = topk + extra_topk
    shape = f"{batch} x {heads} heads, top-k {topk}" + (f" + {extra_topk}" if extra_topk else "")
    return _case("flash_mla.sparse_decode", name, shape, batch, heads, keys, ours, bare, begin)


def _public(decode: Any, name: str) -> Any:
    """The library's operator, as its own Python code calls it."""
    spaces = {"vllm": torch.ops._flashmla_C, "sglang-kernel": torch.ops.sgl_kernel}
    return getattr(spaces[decode.library.distribution], name)


def _dense(pool: Tensor, batch: int, heads: int, length: int) -> Case:
    fmt = get_kv_format("bf16_576")
    decode = DenseDecode()
    decode.plan(kv_format=fmt, page_size=64, query_heads=heads, head_size=576, batch=batch)
    q = torch.randn(batch, 1, heads, 576, device="cuda").bfloat16()
    out = torch.empty(batch, 1, heads, 512, device="cuda", dtype=torch.bfloat16)
    table = torch.randperm(len(pool), device="cuda").int().view(batch, -1)
    lengths = torch.full((batch,), length, device="cuda").int()

    def ours(i: int) -> Any:
        return decode.run(q, pool, block_table=table, cache_seqlens=lengths, out=out)

    ours(0)
    call, view = _public(decode, "dense_decode_fwd"), decode._plan.cache(pool)
    scale, schedule = 576**-0.5, [None, None]

    def begin() -> None:
        decode.refresh()
        schedule[:] = None, None

    def bare(i: int) -> Any:
        result = call(q, view, 512, lengths, table, scale, False, *schedule, out)
        schedule[:] = result[2:]

    shape = f"{batch} x {heads} heads, {length} tokens"
    name = "flash_mla.dense_decode"
    return _case(name, "bf16_576", shape, batch, heads, length, ours, bare, begin)


def _flashinfer_dense(pool: Tensor, batch: int, heads: int, length: int) -> Case:
    decode = BatchMLA()
    table = torch.randperm(len(pool), device="cuda").int().view(batch, -1)
    tables = {
        "block_table": table,
        "cache_seqlens": torch.full((batch,), length, device="cuda").int(),
    }
    shape = f"{batch} x {heads} heads, {length} tokens"
    return _flashinfer(decode, pool, batch, heads, length, shape, tables)


def _flashinfer_sparse(pool: Tensor, batch: int, heads: int, topk: int) -> Case:
    tables = {"topk": topk, "indices": _indices(batch, topk)[0]}
    shape = f"{batch} x {heads} heads, top-k {topk}"
    return _flashinfer(BatchMLA(), pool, batch, heads, topk, shape, tables)


def _flashinfer(
    decode: BatchMLA,
    pool: Tensor,
    batch: int,
    heads: int,
    keys: int,
    shape: str,
    tables: dict[str, Any],
) -> Case:
    fmt = get_kv_format("bf16_576")
    decode.plan(
        kv_format=fmt,
        page_size=64,
        query_heads=heads,
        head_size=576,
        batch=batch,
        **tables,
    )
    q = torch.randn(batch, heads, 576, device="cuda").bfloat16()
    out = torch.empty(batch, heads, 512, device="cuda", dtype=torch.bfloat16)

    def ours(i: int) -> Any:
        return decode.run(q, pool, out=out)

    ours(0)
    call, view = decode._wrapper.run, decode._plan.cache(pool)

    def bare(i: int) -> Any:
        return call(query=q, kv_cache=view, out=out, return_lse=True, return_lse_base_on_e=True)

    return _case("flashinfer.batch_mla", "bf16_576", shape, batch, heads, keys, ours, bare)


def _case(
    kernel: str,
    name: str,
    shape: str,
    batch: int,
    heads: int,
    keys: int,
    ours: Callable[[int], Any],
    bare: Callable[[int], Any],
    begin: Callable[[], Any] = lambda: None,
) -> Case:
    fmt = get_kv_format(name)
    flops = 2.0 * batch * heads * keys * (fmt.head_size + 512)
    moved = batch * (keys * fmt.bytes_per_token + heads * (fmt.head_size + 512) * 2.0)
    return Case(kernel, name, shape, flops, moved, ours, bare, begin)
