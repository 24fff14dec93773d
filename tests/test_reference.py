from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnmatrix.kernels import attend, kv_cache
from attnmatrix.kernels.errors import KernelError
from attnmatrix.kernels.reference import ReferenceDecode
from attnmatrix.kernels.softmax import RunningSoftmax
from tests import formats
from tests.kernels_support import attention, sparse_memory, token

if TYPE_CHECKING:
    from pathlib import Path

    from attnmatrix.kv_format import KVFormat

HEADS, SIZE, VALUE = 2, 8, 6
SMALL = formats.plain("bfloat16", SIZE)
OTHER = formats.plain("float16", SIZE)
F64 = {"rtol": 1e-12, "atol": 1e-12}


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def int32(values: object) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int32)


def planned(**changes: object) -> ReferenceDecode:
    """A plan in float64 for the small format, pages of 4 tokens."""
    decode = ReferenceDecode()
    arguments = {
        "kv_format": SMALL,
        "page_size": 4,
        "query_heads": HEADS,
        "head_size": SIZE,
        "value_size": VALUE,
        "compute_dtype": torch.float64,
    }
    decode.plan(**{**arguments, **changes})  # type: ignore[arg-type]
    return decode


def tokens_of(fmt: KVFormat, cache: torch.Tensor, page_size: int) -> list[list[float]]:
    """Every slot's elements, read byte by byte."""
    pages = [bytes(page) for page in cache.tolist()]
    return [token(fmt, page, page_size, slot) for page in pages for slot in range(page_size)]


def expect(
    q: torch.Tensor,
    keys: list[list[list[list[float]]]],
    sink: list[float] | None = None,
    scale: float = SIZE**-0.5,
    value_size: int = VALUE,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Output and LSE by plain loops; keys[b][i] are the KV rows that query i of b attends to."""
    batch, q_len, heads, _ = q.shape
    out = torch.zeros(batch, q_len, heads, value_size, dtype=torch.float64)
    lse = torch.zeros(batch, heads, q_len, dtype=torch.float64)
    for b in range(batch):
        for i in range(q_len):
            for h in range(heads):
                logit = None if sink is None else sink[h]
                row = q[b, i, h].tolist()
                values, log_sum = attention(row, keys[b][i], value_size, scale, logit)
                out[b, i, h] = torch.tensor(values, dtype=torch.float64)
                lse[b, h, i] = log_sum
    return out, lse


def check(
    found: tuple[torch.Tensor, torch.Tensor], wanted: tuple[torch.Tensor, torch.Tensor]
) -> None:
    torch.testing.assert_close(found[0], wanted[0], **F64)
    assert found[1].dtype == torch.float32
    torch.testing.assert_close(found[1], wanted[1].float())


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_sparse_against_plain_loops(data: st.DataObject) -> None:
    batch, q_len, topk = (data.draw(st.integers(1, n)) for n in (3, 2, 5))
    slots = st.one_of(st.integers(-3, -1), st.integers(0, 11))
    indices = data.draw(
        st.lists(slots, min_size=batch * q_len * topk, max_size=batch * q_len * topk)
    )
    lengths = data.draw(st.none() | st.lists(st.integers(0, topk), min_size=batch, max_size=batch))
    sink = data.draw(
        st.none() | st.lists(st.floats(-20, 20) | st.just(-math.inf), min_size=2, max_size=2)
    )
    cache = kv_cache.pack(SMALL, random(12, SIZE), page_size=4)
    rows = tokens_of(SMALL, cache, 4)
    selected = int32(indices).view(batch, q_len, topk)
    counted = [topk] * batch if lengths is None else lengths
    keys = [
        [[rows[s] for s in selected[b, i, : counted[b]].tolist() if s >= 0] for i in range(q_len)]
        for b in range(batch)
    ]
    q = random(batch, q_len, HEADS, SIZE, seed=1)
    found = planned(topk=topk).run(
        q,
        cache,
        indices=selected,
        topk_length=None if lengths is None else int32(lengths),
        attn_sink=None if sink is None else torch.tensor(sink),
    )
    single = None if sink is None else torch.tensor(sink).tolist()
    check(found, expect(q, keys, single))


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_dense_against_plain_loops(data: st.DataObject) -> None:
    batch, q_len = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 4))
    causal = data.draw(st.booleans())
    lengths = data.draw(st.lists(st.integers(0, 12), min_size=batch, max_size=batch))
    table = [data.draw(st.permutations(range(5)))[:3] for _ in range(batch)]
    cache = kv_cache.pack(SMALL, random(20, SIZE), page_size=4)
    rows = tokens_of(SMALL, cache, 4)
    keys = []
    for length, pages in zip(lengths, table, strict=True):
        sequence = [rows[page * 4 + place] for page in pages for place in range(4)][:length]
        last = [max(length - q_len + i + 1, 0) if causal else length for i in range(q_len)]
        keys.append([sequence[:visible] for visible in last])
    q = random(batch, q_len, HEADS, SIZE, seed=2)
    sink = data.draw(st.sampled_from((None, [0.5, -1.0])))
    found = planned(causal=causal, softmax_scale=0.3).run(
        q,
        cache,
        block_table=int32(table),
        cache_seqlens=int32(lengths),
        attn_sink=None if sink is None else torch.tensor(sink),
    )
    check(found, expect(q, keys, sink, scale=0.3))


@pytest.mark.parametrize("main_length", [0, 2, 3])
@pytest.mark.parametrize("extra_length", [None, 0, 4])
def test_an_extra_pool_joins_the_same_softmax(main_length: int, extra_length: int | None) -> None:
    main = kv_cache.pack(SMALL, random(8, SIZE), page_size=4)
    extra = kv_cache.pack(OTHER, random(6, SIZE, seed=3), page_size=2)
    main_rows, extra_rows = tokens_of(SMALL, main, 4), tokens_of(OTHER, extra, 2)
    q = random(1, 1, HEADS, SIZE, seed=4)
    decode = planned(topk=3, extra_kv_format=OTHER, extra_page_size=2)
    found = decode.run(
        q,
        main,
        indices=int32([[[7, -1, 2]]]),
        topk_length=int32([main_length]),
        attn_sink=torch.tensor([1.0, 2.0]),
        extra_kv_cache=extra,
        extra_indices=int32([[[5, 0, 0, -7]]]),
        extra_topk_length=None if extra_length is None else int32([extra_length]),
    )
    keys = [main_rows[s] for s in (7, -1, 2)[:main_length] if s >= 0]
    if extra_length != 0:
        keys += [extra_rows[s] for s in (5, 0, 0)]
    check(found, expect(q, [[keys]], [1.0, 2.0]))


@pytest.mark.parametrize("fmt", formats.ALL, ids=lambda fmt: fmt.name)
def test_every_format(fmt: KVFormat) -> None:
    cache = kv_cache.pack(fmt, random(6, fmt.head_size), page_size=2)
    q = random(1, 1, 1, fmt.head_size, seed=5)
    decode = planned(
        kv_format=fmt,
        page_size=2,
        query_heads=1,
        head_size=fmt.head_size,
        value_size=512,
        topk=3,
    )
    found = decode.run(q, cache, indices=int32([[[4, 1, 3]]]))
    rows = tokens_of(fmt, cache, 2)
    keys = [[[rows[4], rows[1], rows[3]]]]
    check(found, expect(q, keys, scale=fmt.head_size**-0.5, value_size=512))


def test_v4_over_a_window_and_compressed_tokens_in_slabs() -> None:
    # Strided pages, two page sizes, garbage in slots that no index names.
    window = kv_cache.empty(formats.V4, 3, 4, page_stride=formats.V4.page_bytes(4) + 64)
    window.fill_(0x7F)
    compressed = kv_cache.empty(formats.V4, 2, 2)
    compressed.fill_(0xFF)
    kv = random(5, 512)
    kv_cache.write(formats.V4, window, kv[:3], torch.tensor([9, 0, 6]), page_size=4)
    kv_cache.write(formats.V4, compressed, kv[3:], torch.tensor([3, 0]), page_size=2)
    q = random(1, 2, 1, 512, seed=6)
    decode = planned(
        kv_format=formats.V4,
        query_heads=1,
        head_size=512,
        value_size=512,
        topk=4,
        extra_kv_format=formats.V4,
        extra_page_size=2,
    )
    found = decode.run(
        q,
        window,
        indices=int32([[[9, 0, 6, -1], [0, -1, -1, 5]]]),
        topk_length=int32([3]),
        extra_kv_cache=compressed,
        extra_indices=int32([[[3, 1], [0, 1]]]),
        extra_topk_length=int32([1]),
    )
    near, far = tokens_of(formats.V4, window, 4), tokens_of(formats.V4, compressed, 2)
    keys = [[[near[9], near[0], near[6], far[3]], [near[0], far[0]]]]
    check(found, expect(q, keys, scale=512**-0.5, value_size=512))


def test_per_tensor_scales_go_to_the_formats_that_have_one() -> None:
    fmt = formats.plain("float8_e4m3fn", SIZE, scaled_by="per_tensor")
    kv = random(4, SIZE)
    q = random(1, 1, HEADS, SIZE, seed=7)
    cache = kv_cache.pack(fmt, kv, page_size=4, tensor_scale=0.25)
    extra = kv_cache.pack(SMALL, kv, page_size=4)
    decode = planned(kv_format=fmt, topk=2, extra_kv_format=SMALL, extra_page_size=4)
    found = decode.run(
        q,
        cache,
        indices=int32([[[0, 3]]]),
        extra_kv_cache=extra,
        extra_indices=int32([[[1]]]),
        tensor_scale=torch.tensor([0.25]),
    )
    rows = [[value * 0.25 for value in row] for row in tokens_of(fmt, cache, 4)]
    keys = [[[rows[0], rows[3], tokens_of(SMALL, extra, 4)[1]]]]
    check(found, expect(q, keys))


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("chunk", [1, 1 << 28])
class TestWhatAQueryDoesNotSee:
    """Every slot that a query does not see is filled with NaN or an infinity: nothing changes."""

    @pytest.fixture(autouse=True)
    def _chunks(self, monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
        monkeypatch.setattr(attend, "CHUNK_BYTES", chunk)

    @pytest.mark.parametrize("length", [0, 3, 8, 11])
    @pytest.mark.parametrize("causal", [False, True])
    def test_dense(self, bad: float, length: int, causal: bool) -> None:
        q_len = 4
        kv = random(12, SIZE)
        q = random(2, q_len, HEADS, SIZE, seed=1)
        table = int32([[2, 0, 1], [1, 2, 0]])
        slots = [[page * 4 + i for page in pages for i in range(4)] for pages in table.tolist()]
        lengths = [length, 5]
        decode = planned(causal=causal)
        arguments = {"block_table": table, "cache_seqlens": int32(lengths)}
        clean = kv_cache.pack(SMALL, kv, page_size=4)
        want_out, want_lse = decode.run(q, clean, **arguments)
        for b in range(2):
            for i in range(q_len):
                last = lengths[b] - q_len + i + 1 if causal else lengths[b]
                hidden = [slot for slot in range(12) if slot not in slots[b][: max(last, 0)]]
                for spoiled in (hidden, hidden[:1]):
                    poisoned = kv.clone()
                    poisoned[spoiled] = bad
                    cache = kv_cache.pack(SMALL, poisoned, page_size=4)
                    out, lse = decode.run(q, cache, **arguments)
                    torch.testing.assert_close(out[b, i], want_out[b, i], **F64)
                    torch.testing.assert_close(lse[b, :, i], want_lse[b, :, i])

    def test_dense_queries_that_see_it_show_it(self, bad: float) -> None:
        kv = random(8, SIZE)
        kv[6, 2] = bad  # position 6 of 8: queries 2 and 3 of 4 see it
        cache = kv_cache.pack(SMALL, kv, page_size=4)
        q = random(1, 4, HEADS, SIZE, seed=1)
        table = {"block_table": int32([[0, 1]]), "cache_seqlens": int32([8])}
        out, lse = planned(causal=True).run(q, cache, **table)
        assert out[0, :2].isfinite().all()
        assert lse[0, :, :2].isfinite().all()
        assert out[0, 2:].isnan().any(-1).all()

    def test_sparse(self, bad: float) -> None:
        main, extra = random(12, SIZE), random(6, SIZE, seed=3)
        q = random(2, 2, HEADS, SIZE, seed=4)
        # Query by query: invalid indices, what lies past the lengths, and slots nobody names.
        indices = int32([[[7, -1, 2, 9], [0, 1, -5, 10]], [[3, 3, 11, 9], [-1, 4, 10, 9]]])
        extra_indices = int32([[[5, -1], [0, 4]], [[1, 2], [1, -3]]])
        lengths, extra_lengths = [3, 2], [1, 2]
        decode = planned(topk=4, extra_kv_format=OTHER, extra_page_size=2)

        def run(main_kv: torch.Tensor, extra_kv: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return decode.run(
                q,
                kv_cache.pack(SMALL, main_kv, page_size=4),
                indices=indices,
                topk_length=int32(lengths),
                extra_kv_cache=kv_cache.pack(OTHER, extra_kv, page_size=2),
                extra_indices=extra_indices,
                extra_topk_length=int32(extra_lengths),
            )

        want_out, want_lse = run(main, extra)
        for b in range(2):
            for i in range(2):
                seen = indices[b, i, : lengths[b]].tolist()
                extra_seen = extra_indices[b, i, : extra_lengths[b]].tolist()
                spoiled, extra_spoiled = main.clone(), extra.clone()
                spoiled[[slot for slot in range(12) if slot not in seen]] = bad
                extra_spoiled[[slot for slot in range(6) if slot not in extra_seen]] = bad
                out, lse = run(spoiled, extra_spoiled)
                torch.testing.assert_close(out[b, i], want_out[b, i], **F64)
                torch.testing.assert_close(lse[b, :, i], want_lse[b, :, i])

    def test_each_query_gets_what_it_would_get_alone(self, bad: float) -> None:
        generator = torch.Generator().manual_seed(7)
        q, kv = random(2, 9, SIZE), random(2, 6, SIZE, seed=1)
        valid = torch.rand(2, 9, 6, generator=generator) < 0.5
        kv.masked_fill_(torch.rand(2, 6, SIZE, generator=generator) < 0.05, bad)
        together = RunningSoftmax(q, VALUE, 0.5)
        together.add(kv, valid)
        out, lse = together.finish()
        finite = out.isfinite().all(-1)
        assert finite.any(1).all()
        assert not finite.all(1).any()
        for group in range(2):
            for query in range(9):
                seen = kv[group, valid[group, query]]
                alone = RunningSoftmax(q[group, query].view(1, 1, SIZE), VALUE, 0.5)
                if len(seen):
                    alone.add(seen[None], torch.ones(1, 1, len(seen), dtype=torch.bool))
                wanted, wanted_lse = alone.finish()
                for found, value in ((out, wanted), (lse, wanted_lse)):
                    torch.testing.assert_close(
                        found[group, query], value[0, 0], **F64, equal_nan=True
                    )


class TestMoreThanInt32Counts:
    FMT = formats.plain("float8_e4m3fn", 2)

    def test_slots(self, tmp_path: Path) -> None:
        pages, page_size = 2**15, 2**16 + 1
        cache = sparse_memory(tmp_path, pages * page_size * 2).view(pages, page_size * 2)
        far = 2**31 - 1
        kv = torch.tensor([[1.0, 2.0], [4.0, 8.0]])
        kv_cache.write(self.FMT, cache, kv, torch.tensor([far, 5]), page_size=page_size)
        plan = {"kv_format": self.FMT, "page_size": page_size, "head_size": 2, "value_size": 2}
        decode = planned(**plan, topk=3, extra_kv_format=self.FMT, extra_page_size=page_size)
        out, _ = decode.run(
            torch.zeros(1, 1, HEADS, 2),
            cache,
            indices=int32([[[far, -1, -(2**31)]]]),
            extra_kv_cache=cache,
            extra_indices=int32([[[5]]]),
        )
        assert out.tolist() == [[[[2.5, 5.0]] * HEADS]]

    def test_lengths(self, tmp_path: Path) -> None:
        # Tables of more tokens than int32 counts, by their blocks or by the page.
        for pages, page_size, blocks in ((2, 2**31, 3), (3, 2**16, 2**15 + 1)):
            cache = sparse_memory(tmp_path, pages * page_size * 2).view(pages, page_size * 2)
            slots = torch.arange(3) + page_size
            kv_cache.write(self.FMT, cache, torch.ones(3, 2), slots, page_size=page_size)
            plan = {"kv_format": self.FMT, "page_size": page_size, "head_size": 2, "value_size": 2}
            table = torch.ones(1, blocks, dtype=torch.int32)
            for length, wanted in ((3, 1.0), (4, 0.75)):
                out, _ = planned(**plan).run(
                    torch.zeros(1, 1, HEADS, 2),
                    cache,
                    block_table=table,
                    cache_seqlens=int32([length]),
                )
                assert (out == wanted).all()

    def test_tables_beyond_int64(self) -> None:
        page_size = 2**61
        plan = {"kv_format": self.FMT, "page_size": page_size, "head_size": 2, "value_size": 2}
        out, _ = planned(**plan).run(
            torch.zeros(1, 1, HEADS, 2),
            torch.empty(0, page_size * 2, dtype=torch.uint8),
            block_table=torch.zeros(1, 8, dtype=torch.int32),
            cache_seqlens=int32([0]),
        )
        assert (out == 0).all()


class TestEdges:
    CACHE = kv_cache.pack(SMALL, random(8, SIZE), page_size=4)

    def test_rows_without_valid_keys(self) -> None:
        for sink in (None, [0.0, 3.0], [-math.inf, math.inf]):
            out, lse = planned(topk=2).run(
                random(2, 1, HEADS, SIZE),
                self.CACHE,
                indices=int32([[[-1, -1]], [[3, 4]]]),
                topk_length=int32([2, 0]),
                attn_sink=None if sink is None else torch.tensor(sink),
            )
            assert (out == 0).all()
            assert (lse == math.inf).all()

    def test_infinite_sinks(self) -> None:
        q = random(1, 1, HEADS, SIZE)
        indices = int32([[[3, 4]]])
        plain, lse = planned(topk=2).run(q, self.CACHE, indices=indices)
        sink = torch.tensor([-math.inf, math.inf])
        sunk, same_lse = planned(topk=2).run(q, self.CACHE, indices=indices, attn_sink=sink)
        assert torch.equal(sunk[:, :, 0], plain[:, :, 0])
        assert (sunk[:, :, 1] == 0).all()
        assert torch.equal(lse, same_lse)

    def test_garbage_past_topk_length_is_not_looked_at(self) -> None:
        q = random(1, 1, HEADS, SIZE)
        indices = int32([[[3, 2**31 - 1]]])
        found, _ = planned(topk=2).run(q, self.CACHE, indices=indices, topk_length=int32([1]))
        wanted, _ = planned(topk=1).run(q, self.CACHE, indices=int32([[[3]]]))
        assert torch.equal(found, wanted)

    def test_one_token(self) -> None:
        cache = kv_cache.pack(SMALL, random(1, SIZE), page_size=1)
        out, lse = planned(page_size=1).run(
            random(1, 1, HEADS, SIZE),
            cache,
            block_table=int32([[0]]),
            cache_seqlens=int32([1]),
        )
        assert out[0, 0, 0].tolist() == pytest.approx(tokens_of(SMALL, cache, 1)[0][:VALUE])
        assert lse.isfinite().all()

    def test_length_0_and_no_blocks(self) -> None:
        empty = kv_cache.empty(SMALL, 0, 4)
        out, lse = planned().run(
            random(1, 2, HEADS, SIZE),
            empty,
            block_table=torch.zeros(1, 0, dtype=torch.int32),
            cache_seqlens=int32([0]),
        )
        assert (out == 0).all()
        assert (lse == math.inf).all()
        out, _ = planned(topk=1).run(random(1, 1, HEADS, SIZE), empty, indices=int32([[[-1]]]))
        assert (out == 0).all()

    @pytest.mark.parametrize(("batch", "q_len"), [(0, 1), (1, 0)])
    def test_no_queries(self, batch: int, q_len: int) -> None:
        q = torch.zeros(batch, q_len, HEADS, SIZE)
        indices = torch.zeros(batch, q_len, 3, dtype=torch.int32)
        out, lse = planned(topk=3).run(q, self.CACHE, indices=indices)
        assert out.shape == (batch, q_len, HEADS, VALUE)
        assert lse.shape == (batch, HEADS, q_len)
        table = torch.zeros(batch, 2, dtype=torch.int32)
        lengths = torch.full((batch,), 8, dtype=torch.int32)
        out, _ = planned().run(q, self.CACHE, block_table=table, cache_seqlens=lengths)
        assert out.shape == (batch, q_len, HEADS, VALUE)

    @pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
    def test_output_has_the_dtype_of_q_and_out_is_honoured(self, dtype: torch.dtype) -> None:
        q = random(1, 2, HEADS, SIZE).to(dtype)
        indices = int32([[[3, 4], [1, 0]]])
        decode = planned(topk=2, compute_dtype=torch.float32)
        fresh, lse = decode.run(q, self.CACHE, indices=indices)
        assert fresh.dtype == dtype
        slab = torch.zeros(1, 2, HEADS, 2 * VALUE, dtype=dtype)
        out, _ = decode.run(q, self.CACHE, indices=indices, out=slab[..., :VALUE])
        assert out.data_ptr() == slab.data_ptr()
        assert torch.equal(slab[..., :VALUE], fresh)
        assert not slab[..., VALUE:].any()
        exact, _ = planned(topk=2).run(q.double(), self.CACHE, indices=indices)
        torch.testing.assert_close(fresh, exact.to(dtype))
        assert lse.is_contiguous()

    def test_e4m3_queries_give_bfloat16(self) -> None:
        q = random(1, 2, HEADS, SIZE).to(torch.float8_e4m3fn)
        dense = {"block_table": int32([[1, 0]]), "cache_seqlens": int32([7])}
        for plan, arguments in (
            ({"topk": 2}, {"indices": int32([[[3, 4], [1, -1]]])}),
            ({"causal": True}, dense),
        ):
            out, lse = planned(**plan).run(q, self.CACHE, **arguments)
            exact, exact_lse = planned(**plan).run(q.double(), self.CACHE, **arguments)
            assert out.dtype == torch.bfloat16
            assert torch.equal(out, exact.bfloat16())
            assert torch.equal(lse, exact_lse)
            given = torch.empty_like(out)
            assert planned(**plan).run(q, self.CACHE, **arguments, out=given)[0] is given
            with pytest.raises(KernelError, match=r"out is torch.float8_e4m3fn"):
                planned(**plan).run(q, self.CACHE, **arguments, out=torch.empty_like(out).to(q))

    def test_no_gradient_leaves(self) -> None:
        sink = torch.nn.Parameter(torch.zeros(HEADS))
        q = random(1, 1, HEADS, SIZE).requires_grad_()
        out, lse = planned(topk=1).run(q, self.CACHE, indices=int32([[[3]]]), attn_sink=sink)
        assert not out.requires_grad
        assert not lse.requires_grad

    @pytest.mark.parametrize(
        "scale", [numpy.float32(0.5), numpy.float64(0.5), numpy.float16(0.5), Fraction(1, 2), 0.5]
    )
    def test_any_real_number_scales_scores(self, scale: Any) -> None:
        q, indices = random(1, 1, HEADS, SIZE), int32([[[3, 4]]])
        found = planned(topk=2, softmax_scale=scale).run(q, self.CACHE, indices=indices)
        check(found, planned(topk=2, softmax_scale=0.5).run(q, self.CACHE, indices=indices))
        whole = planned(topk=2, softmax_scale=numpy.int32(2))
        assert whole.run(q, self.CACHE, indices=indices)[0].isfinite().all()

    def test_steps_of_any_size_give_the_same(self, monkeypatch: pytest.MonkeyPatch) -> None:
        q = random(2, 3, HEADS, SIZE)
        indices = int32([[[0, -1, 3, 7, 7]] * 3, [[-1, -1, -1, 6, 1]] * 3])
        dense = {"block_table": int32([[1, 0], [0, 1]]), "cache_seqlens": int32([8, 7])}
        whole = planned(topk=5).run(q, self.CACHE, indices=indices)
        whole_dense = planned(causal=True).run(q, self.CACHE, **dense)
        for chunk in (1, 700, 2000):
            monkeypatch.setattr(attend, "CHUNK_BYTES", chunk)
            check(planned(topk=5).run(q, self.CACHE, indices=indices), whole)
            check(planned(causal=True).run(q, self.CACHE, **dense), whole_dense)

    def test_large_scores_do_not_overflow(self) -> None:
        q = 1e4 * random(1, 1, HEADS, SIZE).float()
        out, lse = planned(topk=2, compute_dtype=torch.float32).run(
            q, self.CACHE, indices=int32([[[3, 4]]]), attn_sink=torch.tensor([1e30, -1e30])
        )
        assert out.isfinite().all()
        assert lse.isfinite().all()

    def test_a_poisoned_key_shows(self) -> None:
        kv = torch.ones(2, 512)
        kv[1, 500] = math.nan
        cache = kv_cache.pack(formats.V41, kv, page_size=2)
        decode = planned(kv_format=formats.V41, page_size=2, head_size=512, value_size=512, topk=1)
        q = torch.ones(2, 1, HEADS, 512)
        out, _ = decode.run(q, cache, indices=int32([[[0]], [[1]]]))
        assert out[0].isfinite().all()
        assert out[1].isnan().all()


class TestErrors:
    PLAN = {"extra_kv_format": OTHER, "extra_page_size": 2, "topk": 3}
    CACHE = kv_cache.empty(SMALL, 2, 4)

    @pytest.mark.parametrize(
        ("field", "change"),
        [
            ("page_size", {"page_size": 0}),
            ("query_heads", {"query_heads": 0}),
            ("head_size", {"head_size": 16}),
            ("value_size", {"value_size": 9}),
            ("value_size", {"value_size": 0}),
            ("topk", {"topk": 0}),
            ("causal", {"topk": 3, "causal": True}),
            ("extra_kv_format", {"extra_kv_format": OTHER, "extra_page_size": 2}),
            ("extra_page_size", {"topk": 3, "extra_kv_format": OTHER}),
            ("extra_page_size", {"topk": 3, "extra_page_size": 2}),
            ("head_size", {**PLAN, "extra_kv_format": formats.BF16}),
            ("softmax_scale", {"softmax_scale": math.nan}),
            ("softmax_scale", {"softmax_scale": 0}),
            ("softmax_scale", {"softmax_scale": 1e60}),
            ("softmax_scale", {"softmax_scale": 1e-60}),
            ("softmax_scale", {"softmax_scale": "0.5"}),
            ("softmax_scale", {"softmax_scale": numpy.float32(math.nan)}),
            ("softmax_scale", {"softmax_scale": torch.tensor(0.5)}),
            ("page_size", {"page_size": 2**62}),
            ("extra_page_size", {**PLAN, "extra_page_size": 2**62}),
            ("kv_format", {"kv_format": "bf16_576"}),
            ("kv_format", {"kv_format": None}),
            ("extra_kv_format", {**PLAN, "extra_kv_format": "bf16_576"}),
            ("compute_dtype", {"compute_dtype": torch.bfloat16}),
        ],
    )
    def test_plan_names_the_field(self, field: str, change: dict[str, object]) -> None:
        with pytest.raises(KernelError) as caught:
            planned(**change)
        assert caught.value.field == field

    @pytest.mark.parametrize("field", ["kv_format", "extra_kv_format"])
    def test_a_name_is_no_format(self, field: str) -> None:
        with pytest.raises(KernelError) as caught:
            planned(**{**self.PLAN, field: "ds_mla_v4"})
        assert str(caught.value) == (
            f"{field} is ds_mla_v4; accepted: a KVFormat; pass get_kv_format('ds_mla_v4')"
        )

    @pytest.mark.parametrize(
        ("out", "words"),
        [
            (torch.zeros(1, 1, 1, VALUE).expand(1, 1, HEADS, VALUE), "do not expand"),
            (torch.zeros(1, 1, HEADS, 1).expand(1, 1, HEADS, VALUE), "do not expand"),
            (torch.zeros(99).as_strided((1, 1, HEADS, VALUE), (9, 9, VALUE - 1, 1)), "elements"),
            (torch.zeros(99).as_strided((1, 1, HEADS, VALUE), (9, 9, 2, 2)), "elements apart"),
            (torch.zeros(1, 1, HEADS, VALUE, requires_grad=True), "detach it"),
            (torch.zeros(1, 1, HEADS, VALUE, device="meta"), "a meta tensor"),
        ],
    )
    def test_what_cannot_be_filled_is_refused_before_any_work(
        self, out: torch.Tensor, words: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        q, decode = torch.zeros(1, 1, HEADS, SIZE), planned(topk=1)
        monkeypatch.setattr(RunningSoftmax, "add", None)
        monkeypatch.setattr(attend, "gather", None)
        for indices in ([[[0]]], [[[99]]]):
            with pytest.raises(KernelError, match=words) as caught:
                decode.run(q, self.CACHE, indices=int32(indices), out=out)
            assert caught.value.field == "out"

    @pytest.mark.parametrize("strides", [(1, 6, 12, 1), (99, 99, 1, HEADS), (0, 0, 8, 1)])
    def test_strides_that_keep_elements_apart_are_taken(self, strides: tuple[int, ...]) -> None:
        out = torch.zeros(99).as_strided((1, 1, HEADS, VALUE), strides)
        q = torch.ones(1, 1, HEADS, SIZE)
        cache = kv_cache.pack(SMALL, random(8, SIZE), page_size=4)
        fresh, _ = planned(topk=2).run(q, cache, indices=int32([[[0, 7]]]))
        found, _ = planned(topk=2).run(q, cache, indices=int32([[[0, 7]]]), out=out)
        assert found is out
        assert torch.equal(out, fresh)

    @pytest.mark.parametrize("scale", [1e60, 1e-60, 0.0, math.nan, torch.tensor([0.0])])
    def test_tensor_scales_are_checked_though_nothing_is_read(self, scale: Any) -> None:
        fmt = formats.plain("float8_e4m3fn", SIZE, scaled_by="per_tensor")
        cache = kv_cache.empty(fmt, 2, 4)
        with pytest.raises(KernelError, match="tensor_scale"):
            planned(kv_format=fmt).run(
                torch.zeros(1, 1, HEADS, SIZE),
                cache,
                block_table=int32([[0]]),
                cache_seqlens=int32([0]),
                tensor_scale=scale,
            )

    @pytest.mark.parametrize(
        ("field", "change"),
        [
            ("q", {"q": torch.zeros(1, 1, HEADS + 1, SIZE)}),
            ("q", {"q": torch.zeros(1, 1, HEADS, SIZE, device="meta")}),
            ("q", {"q": torch.zeros(1, 1, HEADS, SIZE).to(torch.float8_e5m2)}),
            ("q", {"q": torch.zeros(1, 1, HEADS, SIZE, dtype=torch.int8)}),
            ("kv_cache", {"kv_cache": torch.zeros(2, 4, SIZE)}),
            ("kv_cache", {"kv_cache": CACHE[:, :-1]}),
            ("indices", {"indices": None}),
            ("indices", {"indices": torch.zeros(1, 1, 3)}),
            ("indices", {"indices": torch.zeros(1, 1, 2, dtype=torch.int32)}),
            ("indices", {"indices": int32([[[0, 8, 0]]])}),
            ("topk_length", {"topk_length": int32([4])}),
            ("topk_length", {"topk_length": int32([-1])}),
            ("topk_length", {"topk_length": torch.tensor([1])}),
            ("attn_sink", {"attn_sink": torch.zeros(HEADS, dtype=torch.bfloat16)}),
            ("attn_sink", {"attn_sink": torch.zeros(64)}),
            ("extra_kv_cache", {"extra_kv_cache": None}),
            ("extra_kv_cache", {"extra_kv_cache": CACHE}),
            ("extra_indices", {"extra_indices": None}),
            ("extra_indices", {"extra_indices": int32([[[6]]])}),
            ("extra_topk_length", {"extra_topk_length": int32([2])}),
            ("tensor_scale", {"tensor_scale": 1.0}),
            ("out", {"out": torch.zeros(1, 1, HEADS, SIZE)}),
            ("out", {"out": torch.zeros(1, 1, HEADS, VALUE, dtype=torch.float64)}),
            ("block_table", {"block_table": int32([[0]])}),
            ("cache_seqlens", {"cache_seqlens": int32([1])}),
        ],
    )
    def test_a_sparse_run_names_the_field(self, field: str, change: dict[str, object]) -> None:
        arguments = {
            "q": torch.zeros(1, 1, HEADS, SIZE),
            "kv_cache": self.CACHE,
            "indices": int32([[[0, 7, -1]]]),
            "extra_kv_cache": kv_cache.empty(OTHER, 3, 2),
            "extra_indices": int32([[[5]]]),
        }
        decode = planned(**self.PLAN)
        decode.run(**arguments)  # type: ignore[arg-type]
        with pytest.raises(KernelError) as caught:
            decode.run(**{**arguments, **change})  # type: ignore[arg-type]
        assert caught.value.field == field

    @pytest.mark.parametrize(
        ("field", "change"),
        [
            ("block_table", {"block_table": None}),
            ("block_table", {"block_table": int32([[0, 2]])}),
            ("block_table", {"block_table": int32([[-1, 0]])}),
            ("cache_seqlens", {"cache_seqlens": None}),
            ("cache_seqlens", {"cache_seqlens": int32([9])}),
            ("cache_seqlens", {"cache_seqlens": int32([-1])}),
            ("indices", {"indices": int32([[[0]]])}),
            ("topk_length", {"topk_length": int32([1])}),
            ("extra_kv_cache", {"extra_kv_cache": CACHE}),
            ("extra_indices", {"extra_indices": int32([[[0]]])}),
        ],
    )
    def test_a_dense_run_names_the_field(self, field: str, change: dict[str, object]) -> None:
        arguments = {
            "q": torch.zeros(1, 1, HEADS, SIZE),
            "kv_cache": self.CACHE,
            "block_table": int32([[1, 0]]),
            "cache_seqlens": int32([5]),
        }
        decode = planned()
        decode.run(**arguments)  # type: ignore[arg-type]
        with pytest.raises(KernelError) as caught:
            decode.run(**{**arguments, **change})  # type: ignore[arg-type]
        assert caught.value.field == field

    def test_blocks_past_the_length_may_be_anything(self) -> None:
        planned().run(
            torch.zeros(1, 1, HEADS, SIZE),
            self.CACHE,
            block_table=int32([[1, -99]]),
            cache_seqlens=int32([4]),
        )

    def test_run_before_plan(self) -> None:
        with pytest.raises(KernelError, match=r"plan is not given.*call plan"):
            ReferenceDecode().run(torch.zeros(1, 1, HEADS, SIZE), self.CACHE)
