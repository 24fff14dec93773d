from __future__ import annotations

import itertools
import math
import pickle
import struct
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnmatrix.kernels import kv_cache, kv_cache_triton
from attnmatrix.kernels.errors import KernelError
from attnmatrix.kv_format import KVFormat, Part
from attnmatrix.registry import get_kv_format, kv_format_names
from tests import formats
from tests.kernels_support import (
    bf16_bytes,
    e2m1_bytes,
    e4m3_bytes,
    e4m3_value,
    nearest,
    sparse_memory,
    token,
)

NAN = math.nan
INF = math.inf


def by_name(fmt: KVFormat) -> str:
    return fmt.name


def numbers(count: int, step: int = 7) -> list[float]:
    """Different small numbers of both signs, all of which bfloat16 holds."""
    return [((i * step) % 61 - 30) / 8 for i in range(count)]


def stored(fmt: KVFormat, tokens: list[list[float]], page_size: int, **options: object) -> bytes:
    """Bytes of the pages that these tokens fill."""
    kv = torch.tensor(tokens, dtype=torch.float32)
    cache = kv_cache.pack(fmt, kv, page_size=page_size, **options)  # type: ignore[arg-type]
    return bytes(cache.flatten().tolist())


def value_sets(seed: int, tokens: int, fmt: KVFormat, spread: float = 1.0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    kv = torch.randn(tokens, fmt.head_size, generator=generator)
    return kv * torch.exp2(spread * torch.randn(tokens, 1, generator=generator))


class TestBytes:
    """Expected bytes written out by hand, or by the scalar rules of kernels_support."""

    def test_the_scalar_rules(self) -> None:
        assert e4m3_bytes([0.0, 1.0, -1.0, 448.0, 2.0**-9, -(2.0**-6)]) == bytes(
            (0x00, 0x38, 0xB8, 0x7E, 0x01, 0x88)
        )
        assert e2m1_bytes([1.0, -6.0, 0.5, 3.0]) == bytes((0xF2, 0x51))
        assert bf16_bytes([1.0, -2.0]) == bytes((0x80, 0x3F, 0x00, 0xC0))

    def test_v32_656(self) -> None:
        # amax 448, 1.75, 896 and 7: scales 1, 2^-8, 2 and 2^-6, all powers of two as they come.
        factors = (448.0, 1.75, 896.0, 7.0)
        nope = [numbers(127)[i] / 8 * f for f in factors for i in range(127)]
        tiles = [[factor, *nope[127 * i : 127 * i + 127]] for i, factor in enumerate(factors)]
        scales = [1.0, 2.0**-8, 2.0, 2.0**-6]
        rope = numbers(64, 11)
        record = b"".join(e4m3_bytes(tile, s) for tile, s in zip(tiles, scales, strict=True))
        record += struct.pack("<4f", *scales) + bf16_bytes(rope)
        assert len(record) == 656
        kv = [*itertools.chain(*tiles), *rope]
        assert stored(formats.V32, [kv], 2) == record + bytes(656)
        assert stored(formats.V32_ARBITRARY, [kv], 1) == record

    @pytest.mark.parametrize(
        ("fmt", "amax", "scale"),
        [
            (formats.V32, 449.0, 2.0),
            (formats.V32, 448.0, 1.0),
            (formats.V32, 300.0, 1.0),
            (formats.V32, 0.0, 2.0**-13),  # 0.0448 / 448 = 1e-4, and the power of two above
            (formats.V32_ARBITRARY, 300.0, 300 / 448),
            (formats.V32_ARBITRARY, 0.0, 0.0),
        ],
    )
    def test_float32_scales(self, fmt: KVFormat, amax: float, scale: float) -> None:
        kv = [-amax] + [0.0] * 575
        assert stored(fmt, [kv], 1)[512:516] == struct.pack("<f", scale)

    def test_v4_584(self) -> None:
        tokens, scale_rows, data_rows = [], [], []
        for t in range(2):
            tiles = [[448.0 * 2.0 ** (i - 3 + t), *numbers(63, 5 + i)] for i in range(7)]
            rope = numbers(64, 3 + t)
            exponents = [i - 3 + t for i in range(7)]
            tokens.append([*itertools.chain(*tiles), *rope])
            coded = [e4m3_bytes(tile, 2.0**e) for tile, e in zip(tiles, exponents, strict=True)]
            data_rows.append(b"".join(coded) + bf16_bytes(rope))
            scale_rows.append(bytes(127 + e for e in exponents) + b"\0")
        empty_rows = bytes(576), bytes(8)
        page = b"".join((*data_rows, empty_rows[0], *scale_rows, empty_rows[1]))
        assert len(page) == 3 * 584
        assert stored(formats.V4, tokens, 3) == page + bytes(4 * 576 - 3 * 584)

    @pytest.mark.parametrize(
        ("page_size", "page_bytes"), [(64, 37_440), (2, 1_728), (32, 19_008), (256, 149_760)]
    )
    def test_v4_pages_are_rounded_up_to_576(self, page_size: int, page_bytes: int) -> None:
        assert kv_cache.empty(formats.V4, 3, page_size).shape == (3, page_bytes)

    @pytest.mark.parametrize(
        ("amax", "byte"),
        [(448.0, 127), (448.5, 128), (224.0, 126), (225.0, 127), (0.0, 114), (2.0**100, 219)],
    )
    def test_ue8m0_scales_are_rounded_up(self, amax: float, byte: int) -> None:
        kv = [amax] + [0.0] * 511
        assert stored(formats.V4, [kv], 1)[576] == byte
        assert stored(formats.V41, [kv], 1)[512] == byte

    def test_ue8m0_is_exact_at_every_power_of_two(self) -> None:
        # Where ceil(log2(x)) in float32 errs by one: just above a power of two.
        fmt = KVFormat(
            "bare",
            title="",
            head_size=1,
            bytes_per_token=2,
            data=(Part("v", "float8_e4m3fn", 1, scaled_by="s", group=1),),
            scales=(Part("s", "float8_e8m0fnu", 1),),
        )
        exponents = torch.arange(-126, 119)
        amax = 448 * torch.exp2(exponents.double())
        above = torch.nextafter(amax.float(), torch.tensor(INF))
        for values, step in ((amax.float(), 0), (above, 1)):
            cache = kv_cache.pack(fmt, values[:, None], page_size=1)
            assert torch.equal(cache[:, 1].long(), exponents + 127 + step)
        tiny = torch.tensor([[0.0], [1e-44], [448 * 2.0**-127], [450 * 2.0**-127]])
        assert kv_cache.pack(fmt, tiny, page_size=1)[:, 1].tolist() == [0, 0, 0, 1]

    def test_v41_528(self) -> None:
        tiles = [[448.0 * 2.0**-i, *numbers(31, 3 + i)] for i in range(16)]
        tiles = [[v / 2.0**i for v in tile] for i, tile in enumerate(tiles)]
        exponents = [-2 * i if i <= 6 else None for i in range(16)]
        row, scales = b"", b""
        for tile, exponent in zip(tiles, exponents, strict=True):
            e = -13 if exponent is None else exponent  # the floor: amax counts as at least 0.0448
            row += e4m3_bytes(tile, 2.0**e)
            scales += bytes((127 + e,))
        kv = list(itertools.chain(*tiles))
        assert stored(formats.V41, [kv], 2) == row + scales + bytes(528)
        split = row + bytes(512) + scales + bytes(16)
        assert stored(formats.V41_SPLIT, [kv], 2) == split + bytes(1536 - 1056)

    def test_v41_fp4_288(self) -> None:
        tiles = [[6.0 * 2.0 ** (i % 9 - 4), *numbers(15, 3 + i)] for i in range(32)]
        row, scales = b"", b""
        for tile in tiles:
            code = nearest(max(map(abs, tile)) / 6, "float8_e4m3fn")
            scales += bytes((code,))
            row += e2m1_bytes(tile, e4m3_value(code))
        kv = list(itertools.chain(*tiles))
        assert stored(formats.V41_FP4, [kv], 1) == row + scales

    def test_nvfp4_352_permutes_its_scales(self) -> None:
        tiles = [[6.0 * (i + 8) / 8, *([0.0] * 15)] for i in range(32)]
        rope = numbers(64, 9)
        record = stored(formats.NVFP4, [[*itertools.chain(*tiles), *rope]], 1)
        assert record[256:320] == e4m3_bytes(rope)
        for s, tile in enumerate(tiles):
            scale = nearest(tile[0] / 6, "float8_e4m3fn")
            assert record[320 + 8 * (s & 3) + (s >> 2)] == scale
            assert record[8 * s] == nearest(tile[0] / e4m3_value(scale), "float4_e2m1fn")

    def test_v4_nvfp4_384(self) -> None:
        kv = [6.0, -0.5] + [0.0] * 446 + numbers(64)
        page = stored(formats.V4_NVFP4, [kv], 2)
        row = bytes((0x97,)) + bytes(223) + bf16_bytes(numbers(64))
        assert page == row + bytes(352) + bytes((0x38,)) + bytes(31) + bytes(32)

    def test_plain_rows(self) -> None:
        kv = numbers(576)
        assert stored(formats.BF16, [kv], 1) == bf16_bytes(kv)
        assert stored(formats.FP16, [kv], 1) == struct.pack("<576e", *kv)
        assert stored(formats.E4M3, [kv], 1) == e4m3_bytes(kv)
        assert stored(formats.E4M3, [kv], 1, tensor_scale=0.25) == e4m3_bytes(kv, 0.25)

    def test_case_7_a_cache_of_656_b_rows(self) -> None:
        cache = kv_cache.empty(formats.V32, 512, 64)
        assert cache.numel() == 21_495_808
        assert kv_cache.as_records(formats.V32, cache, 64).shape == (512, 64, 1, 656)
        with pytest.raises(KernelError, match=r"64 x 656 B") as caught:
            kv_cache.unpack(formats.V32, cache[:, : 64 * 576], page_size=64)
        assert caught.value.field == "cache"

    def test_a_1152_b_row(self) -> None:
        assert kv_cache.empty(formats.BF16, 1, 1).shape == (1, 1152)


class TestElements:
    def test_e4m3_rounds_to_nearest_even_and_saturates(self) -> None:
        fmt = formats.plain("float8_e4m3fn", 1)
        edges = [e4m3_value(b) for b in range(0x7F)]
        middles = [(a + b) / 2 for a, b in itertools.pairwise(edges)]
        values = [*edges, *middles, 449.0, 1e30]
        values += [-v for v in values]
        expected = bytes(nearest(v, "float8_e4m3fn") for v in values)
        assert stored(fmt, [[v] for v in values], 1) == expected

    def test_e2m1_rounds_to_nearest_even_and_saturates(self) -> None:
        fmt = formats.plain("float4_e2m1fn", 2)
        ends = [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0]
        near = [
            struct.unpack("<f", struct.pack("<f", v * (1 + 1e-6 * s)))[0]
            for v in ends
            for s in (-1, 1)
        ]
        values = [0.0, *ends, *near, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 7.0, 1e9]
        values += [-v for v in values]
        assert stored(fmt, [[v, -v] for v in values], 1) == b"".join(
            e2m1_bytes([v, -v]) for v in values
        )
        low = [0, 2, 2, 4, 4, 6, 6]  # 0, 1, 1, 2, 2, 4, 4: each tie goes to the even code
        assert stored(fmt, [[v, 0.0] for v in ends], 1) == bytes(low)

    def test_every_stored_number_reads_back_as_stored(self) -> None:
        for dtype, count in (("float8_e4m3fn", 1), ("float8_e5m2", 1), ("float4_e2m1fn", 2)):
            fmt = formats.plain(dtype, count)
            cache = torch.arange(256, dtype=torch.uint8)[:, None]
            values = kv_cache.unpack(fmt, cache, page_size=1)
            again = kv_cache.pack(fmt, values, page_size=1)
            finite = values.isfinite().all(1)
            assert torch.equal(again[finite], cache[finite])

    @pytest.mark.parametrize("fmt", formats.SCALED, ids=by_name)
    @pytest.mark.parametrize("bad", [NAN, INF, -INF])
    def test_a_bad_number_poisons_its_group_and_no_other(self, fmt: KVFormat, bad: float) -> None:
        part = fmt.values[0]
        assert part.group is not None
        kv = torch.ones(2, fmt.head_size)
        kv[1, part.group + 1] = bad
        cache = kv_cache.pack(fmt, kv, page_size=2)
        found = kv_cache.unpack(fmt, cache, page_size=2)
        expected = torch.ones_like(kv)
        expected[1, part.group : 2 * part.group] = NAN
        torch.testing.assert_close(found, expected, rtol=0.07, atol=0, equal_nan=True)
        start = fmt.row_offsets(2, 1)[0] + part.group * part.bytes // part.count
        codes = cache.flatten()[start : start + part.group * part.bytes // part.count]
        assert not codes.any()

    def test_bad_numbers_outside_groups(self) -> None:
        kv = torch.tensor([[NAN, INF, -INF, 1.0]])
        for dtype, expected in (
            ("bfloat16", [NAN, INF, -INF, 1.0]),
            ("float16", [NAN, INF, -INF, 1.0]),
            ("float8_e4m3fn", [NAN, 448.0, -448.0, 1.0]),
            ("float8_e5m2", [NAN, 57344.0, -57344.0, 1.0]),
            ("float4_e2m1fn", [6.0, 6.0, -6.0, 1.0]),
        ):
            fmt = formats.plain(dtype, 4)
            found = kv_cache.unpack(fmt, kv_cache.pack(fmt, kv, page_size=1), page_size=1)
            assert torch.equal(found.nan_to_num(nan=9.0), torch.tensor([expected]).nan_to_num(9.0))

    def test_a_scale_that_rounds_to_0_stores_0(self) -> None:
        kv = torch.zeros(1, 512)
        kv[0, :2] = torch.tensor([0.005, -0.005])
        cache = kv_cache.pack(formats.V4_NVFP4, kv, page_size=1)
        assert cache[0].tolist() == [0x80, *([0] * 383)]
        assert not kv_cache.unpack(formats.V4_NVFP4, cache, page_size=1).any()

    def test_e4m3_scales_saturate(self) -> None:
        kv = torch.zeros(1, 512)
        kv[0, 0], kv[0, 1] = 1e6, 2688.0
        cache = kv_cache.pack(formats.V41_FP4, kv, page_size=1)
        assert cache[0, 256] == 0x7E
        assert kv_cache.unpack(formats.V41_FP4, cache, page_size=1)[0, :3].tolist() == [
            2688.0,
            2688.0,
            0.0,
        ]


SIZES = st.integers(1, 5)


@pytest.mark.parametrize("fmt", formats.ALL, ids=by_name)
class TestRoundTrips:
    @settings(max_examples=8, deadline=None)
    @given(seed=st.integers(0, 2**32), tokens=SIZES, page_size=SIZES, spread=st.floats(0, 4))
    def test_errors_stay_within_the_dtypes(
        self, fmt: KVFormat, seed: int, tokens: int, page_size: int, spread: float
    ) -> None:
        kv = value_sets(seed, tokens, fmt, spread)
        scale = 2.0 ** math.ceil(math.log2(max(kv.abs().max().item() / 448, 1e-9)))
        options = {"tensor_scale": scale} if fmt is formats.E4M3 else {}
        cache = kv_cache.pack(fmt, kv, page_size=page_size, **options)
        assert cache.shape == (-(-tokens // page_size), fmt.page_bytes(page_size))
        found = kv_cache.unpack(fmt, cache, page_size=page_size, dtype=torch.float64, **options)
        error = (found[:tokens] - kv).abs()
        assert not found[tokens:].any()
        start = 0
        for part in fmt.values:
            columns = slice(start, start + part.count)
            start += part.count
            x, e = kv[:, columns].abs().double(), error[:, columns]
            if part.dtype == "bfloat16":
                assert (e <= x * 2.0**-8).all()
            elif part.dtype == "float16":
                assert (e <= x * 2.0**-11 + 2.0**-25).all()
            elif part.dtype == "float8_e4m3fn" and part.group is None:
                step = scale if part.scaled_by else 1.0
                beyond = (x - 448 * step).clamp_min(0)
                assert (e <= x * 2.0**-4 + step * 2.0**-10 + beyond).all()
            elif part.dtype == "float8_e4m3fn":
                amax = x.unflatten(1, (-1, part.group)).amax(-1).clamp_min(0.0448)
                step = (amax / 224 * 2.0**-10).repeat_interleave(part.group, 1)
                assert (e <= x * 2.0**-4 * 1.001 + step).all()
            else:
                amax = x.unflatten(1, (-1, part.group)).amax(-1)
                # Half the widest gap, 2 of 6, and a scale off by 1/16 (below 2^-6, by half a step).
                widest = (amax * (1 / 6 + 1 / 16) + 6 * 2.0**-10).repeat_interleave(part.group, 1)
                assert (e <= widest).all()

    @settings(max_examples=5, deadline=None)
    @given(data=st.data(), page_size=st.integers(1, 4))
    def test_write_puts_the_bytes_that_pack_puts(
        self, fmt: KVFormat, data: st.DataObject, page_size: int
    ) -> None:
        pages = data.draw(st.integers(1, 3))
        slots = data.draw(st.permutations(range(pages * page_size)))
        kept = data.draw(st.integers(0, len(slots)))
        kv = value_sets(kept, pages * page_size, fmt)
        packed = kv_cache.pack(fmt, kv, page_size=page_size)
        # A slab of ones with 48 bytes around each page: what write may not touch stays 255.
        page_bytes = fmt.page_bytes(page_size)
        slab = torch.full((pages, page_bytes + 48), 255, dtype=torch.uint8)
        cache = slab[:, 16 : 16 + page_bytes]
        order = torch.tensor(slots, dtype=torch.int64)
        mapping = order.where(torch.arange(len(slots)) < kept, -1 - order)
        kv_cache.write(fmt, cache, kv[order], mapping, page_size=page_size)
        expected = torch.full_like(slab, 255)
        inside = expected[:, 16 : 16 + page_bytes]
        for slot in slots[:kept]:
            page, place = divmod(slot, page_size)
            starts = fmt.row_offsets(page_size, place)
            for start, size in zip(starts, (fmt.data_bytes, fmt.scale_bytes), strict=True):
                inside[page, start : start + size] = packed[page, start : start + size]
        assert torch.equal(slab, expected)

    def test_gather_reads_what_unpack_reads(self, fmt: KVFormat) -> None:
        cache = kv_cache.pack(fmt, value_sets(1, 11, fmt), page_size=4)
        whole = kv_cache.unpack(fmt, cache, page_size=4)
        slots = torch.tensor([[3, 3, 0], [10, 7, 4]], dtype=torch.int32)
        assert torch.equal(kv_cache.gather(fmt, cache, slots, page_size=4), whole[slots])
        for dtype in (torch.bfloat16, torch.float16, torch.float64):
            found = kv_cache.unpack(fmt, cache, page_size=4, dtype=dtype)
            assert found.dtype == dtype
            assert torch.equal(found, whole.to(dtype)) or dtype == torch.float64

    def test_case_8_pages_in_a_slab(self, fmt: KVFormat) -> None:
        kv = value_sets(2, 7, fmt)
        dense = kv_cache.pack(fmt, kv, page_size=3)
        stride = fmt.page_bytes(3) + 80
        slab = torch.full((4, stride), 255, dtype=torch.uint8)
        cache = slab[1:, 32 : 32 + fmt.page_bytes(3)]
        assert kv_cache.pack(fmt, kv, page_size=3, out=cache).data_ptr() == cache.data_ptr()
        assert torch.equal(cache, dense)
        outside = slab.clone()
        outside[1:, 32 : 32 + fmt.page_bytes(3)] = 255
        assert (outside == 255).all()
        whole = kv_cache.unpack(fmt, dense, page_size=3)
        assert torch.equal(kv_cache.unpack(fmt, cache, page_size=3), whole)
        spaced = kv_cache.pack(fmt, kv, page_size=3, page_stride=stride)
        assert spaced.stride() == (stride, 1)
        assert torch.equal(spaced, dense)

    def test_no_tokens(self, fmt: KVFormat) -> None:
        cache = kv_cache.pack(fmt, torch.zeros(0, fmt.head_size), page_size=4)
        assert cache.shape == (0, fmt.page_bytes(4))
        assert kv_cache.unpack(fmt, cache, page_size=4).shape == (0, fmt.head_size)

    def test_independent_reading(self, fmt: KVFormat) -> None:
        cache = kv_cache.pack(fmt, value_sets(3, 5, fmt), page_size=3)
        found = kv_cache.unpack(fmt, cache, page_size=3, dtype=torch.float64).tolist()
        for slot in range(6):
            page = bytes(cache[slot // 3].tolist())
            assert found[slot] == token(fmt, page, 3, slot % 3)


@pytest.mark.parametrize("name", kv_format_names())
def test_the_matrix_formats_read_as_described(name: str) -> None:
    fmt = get_kv_format(name)
    kv = value_sets(4, 3, fmt)
    cache = kv_cache.pack(fmt, kv, page_size=2)
    found = kv_cache.unpack(fmt, cache, page_size=2, dtype=torch.float64)
    for slot, values in enumerate(found.tolist()):
        assert values == token(fmt, bytes(cache[slot // 2].tolist()), 2, slot % 2)
    assert (found[:3] - kv).norm() < 0.15 * kv.norm()


class TestIdempotence:
    """Packing what was unpacked."""

    @settings(max_examples=20, deadline=None)
    @given(seed=st.integers(0, 2**32), spread=st.floats(0, 6))
    def test_plain_formats_keep_every_byte(self, seed: int, spread: float) -> None:
        for fmt in (formats.BF16, formats.FP16, formats.E4M3):
            first = kv_cache.pack(fmt, value_sets(seed, 2, fmt, spread), page_size=2)
            again = kv_cache.pack(fmt, kv_cache.unpack(fmt, first, page_size=2), page_size=2)
            assert torch.equal(first, again)

    @settings(max_examples=20, deadline=None)
    @given(seed=st.integers(0, 2**32), spread=st.floats(0, 6))
    def test_power_of_two_scales_keep_every_value(self, seed: int, spread: float) -> None:
        # Not every byte: a group whose largest value rounded down to 224 fits a smaller scale.
        for fmt in (formats.V32, formats.V4, formats.V41, formats.V41_SPLIT):
            kv = value_sets(seed, 2, fmt, spread)
            first = kv_cache.unpack(fmt, kv_cache.pack(fmt, kv, page_size=2), page_size=2)
            again = kv_cache.unpack(fmt, kv_cache.pack(fmt, first, page_size=2), page_size=2)
            assert torch.equal(first, again)

    @settings(max_examples=20, deadline=None)
    @given(seed=st.integers(0, 2**32))
    def test_fp4_keeps_every_byte_while_scales_are_normal(self, seed: int) -> None:
        for fmt in (formats.V41_FP4, formats.V4_NVFP4, formats.NVFP4):
            kv = value_sets(seed, 2, fmt)
            kv[:, ::16] += 0.125 * torch.sign(kv[:, ::16])  # amax / 6 of at least 2^-6
            first = kv_cache.pack(fmt, kv, page_size=2)
            again = kv_cache.pack(fmt, kv_cache.unpack(fmt, first, page_size=2), page_size=2)
            assert torch.equal(first, again)


@st.composite
def made_up_formats(draw: st.DrawFn) -> KVFormat:
    """Parts of any kind in any order, in rows of any arrangement."""
    rows: tuple[list[Part], list[Part]] = ([], [])
    split = draw(st.booleans())
    for i in range(draw(st.integers(1, 3))):
        dtype = draw(
            st.sampled_from(
                ("float4_e2m1fn", "float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32")
            )
        )
        shape = draw(st.tuples(st.integers(1, 3), st.sampled_from((2, 4))))
        count = shape[0] * shape[1] * 2
        transposed = (shape[0] * 2, shape[1]) if draw(st.booleans()) else None
        target = rows[draw(st.integers(0, 1))] if split else rows[0]
        if "float8" not in dtype and "float4" not in dtype or draw(st.booleans()):
            target.append(Part(f"v{i}", dtype, count, transposed=transposed))
            continue
        group = draw(st.sampled_from((1, 2, shape[1])))
        target.append(
            Part(f"v{i}", dtype, count, scaled_by=f"s{i}", group=group, transposed=transposed)
        )
        floor = draw(st.sampled_from((None, 0.01, 2.0)))
        kinds = ["float32", "float8_e8m0fnu"]
        if dtype != "float8_e5m2":  # amax / 57344 is below what e4m3 holds
            kinds.append("float8_e4m3fn")
        kind = draw(st.sampled_from(kinds))
        scale = Part(
            f"s{i}",
            kind,
            count // group,
            transposed=(count // group, 1) if draw(st.booleans()) else None,
            amax_floor=floor,
            power_of_two=draw(st.booleans()),
        )
        rows[draw(st.integers(0, 1))].append(scale)
    if draw(st.booleans()):
        rows[draw(st.integers(0, 1))].append(Part("pad", "uint8", draw(st.integers(1, 3))))
    data, scales = (tuple(draw(st.permutations(row))) for row in rows)
    return KVFormat(
        "made-up",
        title="",
        head_size=sum(part.count for part in data + scales if part.name.startswith("v")),
        bytes_per_token=sum(part.bytes for part in data + scales),
        data=data,
        scales=scales,
        arrangement="data_then_scales" if scales and draw(st.booleans()) else "token_by_token",
        round_up_to=draw(st.sampled_from((1, 16, 100))),
    )


@settings(max_examples=80, deadline=None)
@given(fmt=made_up_formats(), page_size=st.integers(1, 3), tokens=st.integers(0, 5))
def test_made_up_formats(fmt: KVFormat, page_size: int, tokens: int) -> None:
    kv = value_sets(tokens, tokens, fmt, spread=2)
    cache = kv_cache.pack(fmt, kv, page_size=page_size)
    found = kv_cache.unpack(fmt, cache, page_size=page_size, dtype=torch.float64)
    for slot, values in enumerate(found.tolist()):
        page = bytes(cache[slot // page_size].tolist())
        assert values == token(fmt, page, page_size, slot % page_size)
    # Coarse, so that no made-up scale breaks it: every value lands near where it came from.
    largest = kv.abs().amax(1, keepdim=True).double() if tokens else 0.0
    unscaled = {"float4_e2m1fn": 6.0, "float8_e4m3fn": 448.0, "float8_e5m2": 57344.0}
    start = 0
    for part in fmt.values:
        columns = slice(start, start + part.count)
        start += part.count
        limit = unscaled.get(part.dtype, INF) if part.group is None else INF
        expected = kv[:, columns].double().clamp(-limit, limit)
        error = (found[:tokens, columns] - expected).abs()
        assert (error <= 0.3 * largest + 2.0).all()
    again = kv_cache.empty(fmt, cache.shape[0], page_size)
    kv_cache.write(fmt, again, kv, torch.arange(tokens), page_size=page_size)
    assert torch.equal(again, cache)


class TestViews:
    @pytest.mark.parametrize(
        ("fmt", "dtype"),
        [
            (formats.BF16, torch.bfloat16),
            (formats.FP16, torch.float16),
            (formats.E4M3, torch.float8_e4m3fn),
        ],
        ids=["bf16", "fp16", "e4m3"],
    )
    def test_as_plain_shares_memory(self, fmt: KVFormat, dtype: torch.dtype) -> None:
        cache = kv_cache.empty(fmt, 3, 4, page_stride=fmt.page_bytes(4) + 64)
        view = kv_cache.as_plain(fmt, cache, 4)
        assert view.shape == (3, 4, 576)
        assert view.dtype == dtype
        assert view.data_ptr() == cache.data_ptr()
        view[1, 2] = torch.ones(576).to(dtype)
        assert kv_cache.unpack(fmt, cache, page_size=4).nonzero().unique(dim=0)[:, 0].unique() == 6

    def test_as_plain_refuses_scaled_formats_and_odd_pages(self) -> None:
        for fmt in formats.SCALED:
            with pytest.raises(KernelError, match="kv_format"):
                kv_cache.as_plain(fmt, kv_cache.empty(fmt, 1, 2), 2)
        cache = kv_cache.empty(formats.BF16, 2, 1, page_stride=1153)
        with pytest.raises(KernelError, match="multiples of 2 B"):
            kv_cache.as_plain(formats.BF16, cache, 1)

    def test_as_records_keeps_the_page_stride(self) -> None:
        cache = kv_cache.empty(formats.V4, 3, 64)
        records = kv_cache.as_records(formats.V4, cache, 64)
        assert records.shape == (3, 64, 1, 584)
        assert records.stride() == (37_440, 584, 584, 1)
        assert records.data_ptr() == cache.data_ptr()


def test_one_token_at_an_odd_address() -> None:
    # One row is contiguous wherever it begins, which a typed view of its parts must not rely on.
    slab = torch.zeros(1, 657, dtype=torch.uint8)
    cache = kv_cache.pack(formats.V32, torch.ones(1, 576), page_size=1, out=slab[:, 1:])
    assert torch.equal(kv_cache.unpack(formats.V32, cache, page_size=1), torch.ones(1, 576))


class TestErrors:
    CACHE = kv_cache.empty(formats.BF16, 2, 4)
    KV = torch.zeros(3, 576)

    @pytest.mark.parametrize(
        ("field", "change"),
        [
            ("kv", {"kv": torch.zeros(3, 512)}),
            ("kv", {"kv": torch.zeros(3, 576, dtype=torch.int32)}),
            ("kv", {"kv": [1.0]}),
            ("page_size", {"page_size": 0}),
            ("page_size", {"page_size": True}),
            ("page_size", {"page_size": 4.0}),
            ("cache", {"page_size": 8}),
            ("cache", {"cache": CACHE.view(torch.bfloat16)}),
            ("cache", {"cache": CACHE[:1].expand(2, -1)}),
            ("cache", {"cache": torch.zeros(4 * 1152, 2, dtype=torch.uint8).T}),
            ("slot_mapping", {"slot_mapping": torch.tensor([0, 1])}),
            ("slot_mapping", {"slot_mapping": torch.tensor([0, 1, 2], dtype=torch.int32)}),
            ("slot_mapping", {"slot_mapping": torch.tensor([0, 8, -1])}),
            ("slot_mapping", {"slot_mapping": torch.tensor([5, 5, -1])}),
            ("tensor_scale", {"tensor_scale": 2.0}),
        ],
    )
    def test_write_names_the_field(self, field: str, change: dict[str, object]) -> None:
        arguments = {
            "fmt": formats.BF16,
            "cache": self.CACHE,
            "kv": self.KV,
            "slot_mapping": torch.tensor([0, 1, 2]),
            "page_size": 4,
        }
        kv_cache.write(**arguments)  # type: ignore[arg-type]
        self.CACHE.fill_(7)
        with pytest.raises(KernelError) as caught:
            kv_cache.write(**{**arguments, **change})  # type: ignore[arg-type]
        assert caught.value.field == field
        assert field in str(caught.value)
        assert (self.CACHE == 7).all()

    @pytest.mark.parametrize(
        "scale",
        [
            *(0.0, -1.0, INF, -INF, NAN, 1e60, 1e-60, 1e-45, 1e-39, 3.5e38, 10**400),
            *(numpy.float32(0), numpy.float64(1e60), True, numpy.True_, "1", 1j, [1.0]),
            *(torch.tensor(value) for value in (0.0, -1.0, INF, NAN, 1e-45)),
            *(torch.ones(2), torch.ones(0), torch.tensor(1.0).double(), torch.tensor(1)),
            torch.ones(1, device="meta"),
        ],
    )
    def test_tensor_scale(self, scale: Any) -> None:
        cache = kv_cache.empty(formats.E4M3, 1, 4)
        for call in (
            lambda: kv_cache.pack(formats.E4M3, self.KV, page_size=4, tensor_scale=scale),
            lambda: kv_cache.write(
                formats.E4M3, cache, self.KV, torch.arange(3), page_size=4, tensor_scale=scale
            ),
            lambda: kv_cache.unpack(formats.E4M3, cache, page_size=4, tensor_scale=scale),
            lambda: kv_cache.gather(
                formats.E4M3, cache, torch.arange(3), page_size=4, tensor_scale=scale
            ),
        ):
            with pytest.raises(KernelError) as caught:
                call()
            assert caught.value.field == "tensor_scale"
        assert not cache.any()

    @pytest.mark.parametrize(
        "scale",
        [
            *(2, 2.0, numpy.float32(2), numpy.float64(2), numpy.int64(2), Fraction(2)),
            *(torch.tensor(2.0), torch.tensor([[2.0]]), torch.tensor([2.0], requires_grad=True)),
        ],
    )
    def test_numbers_and_tensors_of_one_element_are_scales(self, scale: Any) -> None:
        kv = torch.full((3, 576), 6.0)
        cache = kv_cache.pack(formats.E4M3, kv, page_size=3, tensor_scale=scale)
        assert (kv_cache.unpack(formats.E4M3, cache, page_size=3) == 3).all()
        found = kv_cache.unpack(formats.E4M3, cache, page_size=3, tensor_scale=scale)
        assert torch.equal(found, kv)

    def test_the_gpu_kernel_gets_a_checked_scale(self, monkeypatch: pytest.MonkeyPatch) -> None:
        got: list[object] = []
        monkeypatch.setattr(kv_cache_triton, "supports", lambda fmt, kv: True)
        monkeypatch.setattr(kv_cache_triton, "write", lambda *arguments: got.append(arguments[-1]))
        cache = kv_cache.empty(formats.E4M3, 1, 4)

        def write(scale: Any) -> None:
            slots = torch.arange(3)
            kv_cache.write(formats.E4M3, cache, self.KV, slots, page_size=4, tensor_scale=scale)

        for scale in (None, 2, numpy.float32(2), torch.tensor([[2.0]])):
            write(scale)
        assert got == [None, 2.0, 2.0, 2.0]
        assert not any(isinstance(scale, torch.Tensor) for scale in got)
        for scale in (1e60, 1e-60, 0.0, torch.tensor(NAN)):
            with pytest.raises(KernelError, match="tensor_scale"):
                write(scale)
        assert len(got) == 4

    @pytest.mark.parametrize("scale", [2.0**-126, 1e-30, 1e30, torch.finfo(torch.float32).max])
    def test_scales_at_the_ends_of_float32(self, scale: float) -> None:
        kv = torch.tensor([[0.0, scale / 2, -scale, 1.0]])
        fmt = formats.plain("float8_e4m3fn", 4, scaled_by="per_tensor")
        cache = kv_cache.pack(fmt, kv, page_size=1, tensor_scale=scale)
        found = kv_cache.unpack(fmt, cache, page_size=1, tensor_scale=scale)
        assert torch.equal(found[0, :3], kv[0, :3])
        assert not found.isnan().any()

    @pytest.mark.parametrize("fmt", ["bfloat16", "ds_mla_v4", None, formats.BF16.data[0], 576])
    def test_what_is_no_format(self, fmt: Any) -> None:
        for call in (
            lambda: kv_cache.empty(fmt, 1, 4),
            lambda: kv_cache.pack(fmt, self.KV, page_size=4),
            lambda: kv_cache.write(fmt, self.CACHE, self.KV, torch.arange(3), page_size=4),
            lambda: kv_cache.unpack(fmt, self.CACHE, page_size=4),
            lambda: kv_cache.gather(fmt, self.CACHE, torch.arange(3), page_size=4),
            lambda: kv_cache.as_plain(fmt, self.CACHE, 4),
            lambda: kv_cache.as_records(fmt, self.CACHE, 4),
            lambda: kv_cache.require_cache(fmt, self.CACHE, 4),
        ):
            with pytest.raises(KernelError, match=r"pass get_kv_format\(") as caught:
                call()
            assert caught.value.field == "kv_format"
        with pytest.raises(KernelError, match=r"pass get_kv_format\('v4'\)"):
            kv_cache.empty("v4", 1, 4)  # type: ignore[arg-type]

    @pytest.mark.parametrize("page_size", [2**53, 2**62, 2**63, 10**30])
    def test_pages_beyond_memory(self, page_size: int) -> None:
        for call in (
            lambda: kv_cache.empty(formats.BF16, 0, page_size),
            lambda: kv_cache.pack(formats.BF16, self.KV, page_size=page_size),
            lambda: kv_cache.unpack(formats.BF16, self.CACHE, page_size=page_size),
            lambda: kv_cache.as_plain(formats.BF16, self.CACHE, page_size),
        ):
            with pytest.raises(KernelError) as caught:
                call()
            assert caught.value.field == "page_size"
        with pytest.raises(KernelError, match="num_pages"):
            kv_cache.empty(formats.BF16, page_size, 4)
        with pytest.raises(KernelError, match="num_pages"):
            kv_cache.empty(formats.BF16, 0, 1, page_stride=page_size << 10)

    def test_meta_and_sparse_tensors(self) -> None:
        for kv in (self.KV.to("meta"), self.KV.to_sparse()):
            with pytest.raises(KernelError, match="kv is .*meta|kv is .*layout"):
                kv_cache.pack(formats.BF16, kv, page_size=4)
        cache = kv_cache.empty(formats.BF16, 2, 4, "meta")
        with pytest.raises(KernelError, match="cache is a meta tensor"):
            kv_cache.unpack(formats.BF16, cache, page_size=4)

    def test_slots_must_be_a_tensor(self) -> None:
        with pytest.raises(KernelError, match="slots is list"):
            kv_cache.gather(formats.BF16, self.CACHE, [0], page_size=4)  # type: ignore[arg-type]

    def test_inference_tensors_outside_of_inference_mode(self) -> None:
        with torch.inference_mode():
            cache = kv_cache.empty(formats.BF16, 1, 4)
            kv_cache.pack(formats.BF16, self.KV, page_size=4, out=cache)
            kv_cache.write(formats.BF16, cache, self.KV, torch.arange(3), page_size=4)
        with pytest.raises(KernelError, match="out is an inference tensor"):
            kv_cache.pack(formats.BF16, self.KV, page_size=4, out=cache)
        with pytest.raises(KernelError, match="cache is an inference tensor"):
            kv_cache.write(formats.BF16, cache, self.KV, torch.arange(3), page_size=4)
        kv_cache.unpack(formats.BF16, cache, page_size=4)

    def test_pack_refuses_before_it_clears_out(self) -> None:
        out = torch.full((1, 4 * 576), 7, dtype=torch.uint8)
        with pytest.raises(KernelError, match="tensor_scale"):
            kv_cache.pack(formats.E4M3, self.KV, page_size=4, out=out, tensor_scale=NAN)
        assert (out == 7).all()

    def test_pack_out(self) -> None:
        with pytest.raises(KernelError, match="out is 2 pages; accepted: 1"):
            kv_cache.pack(formats.BF16, self.KV, page_size=4, out=self.CACHE)
        with pytest.raises(KernelError, match="page_stride"):
            kv_cache.pack(formats.BF16, self.KV, page_size=4, page_stride=1)
        with pytest.raises(KernelError, match="page_stride"):
            kv_cache.pack(formats.BF16, self.KV, page_size=4, page_stride=9999, out=self.CACHE[:1])

    def test_gather_slots(self) -> None:
        for slot in (-1, 8):
            with pytest.raises(KernelError, match=f"slots is {slot}; accepted: slots from 0 to 7"):
                kv_cache.gather(formats.BF16, self.CACHE, torch.tensor([0, slot]), page_size=4)

    def test_unpack_dtype(self) -> None:
        with pytest.raises(KernelError, match="dtype"):
            kv_cache.unpack(formats.BF16, self.CACHE, page_size=4, dtype=torch.int8)

    def test_a_format_that_does_not_add_up(self) -> None:
        part = Part("v", "float8_e4m3fn", 8, scaled_by="s", group=4)
        for count, size in ((1, 12), (2, 17)):
            fmt = KVFormat(
                "bad",
                title="",
                head_size=8,
                bytes_per_token=size,
                data=(part, Part("s", "float32", count)),
            )
            with pytest.raises(KernelError, match="kv_format is bad"):
                kv_cache.pack(fmt, torch.zeros(1, 8), page_size=1)

    @pytest.mark.parametrize(
        ("parts", "accepted"),
        [
            ([("v", "bfloat16", 8, "s", 4), ("s", "float32", 2)], "4-bit or 8-bit"),
            ([("v", "float8_e4m3fn", 8, "t", 4), ("s", "float32", 2)], "4-bit or 8-bit"),
            ([("v", "float8_e4m3fn", 8, "s"), ("s", "float32", 2)], "4-bit or 8-bit"),
            ([("v", "float8_e4m3fn", 8, "s", 4), ("s", "float32", 2, "per_tensor")], "unscaled"),
            ([("v", "float8_e4m3fn", 8, "s", 4), ("s", "uint8", 2)], "float8_e8m0fnu"),
            ([("v", "float8_e4m3fn", 8, "s", 4), ("s", "float16", 2)], "float8_e8m0fnu"),
            (
                [
                    ("v", "float8_e4m3fn", 4, "s", 2),
                    ("w", "float8_e4m3fn", 4, "s", 2),
                    ("s", "float32", 2),
                ],
                "one part each",
            ),
            ([("v", "float8_e8m0fnu", 8)], "for scales alone"),
            ([("v", "bfloat16", 4), ("v", "bfloat16", 4)], "different names"),
        ],
    )
    def test_formats_that_no_code_packs(self, parts: Any, accepted: str) -> None:
        found = []
        for name, dtype, count, *scaled in parts:
            scaled_by, group = [*scaled, None, None][:2]
            found.append(Part(name, dtype, count, scaled_by=scaled_by, group=group))
        size = sum(part.bytes for part in found)
        fmt = KVFormat("bad", title="", head_size=8, bytes_per_token=size, data=tuple(found))
        cache = torch.zeros(1, size, dtype=torch.uint8)
        for call in (
            lambda: kv_cache.pack(fmt, torch.zeros(1, 8), page_size=1),
            lambda: kv_cache.write(
                fmt, cache, torch.zeros(1, 8), torch.zeros(1, dtype=torch.int64), page_size=1
            ),
            lambda: kv_cache.unpack(fmt, cache, page_size=1),
        ):
            with pytest.raises(KernelError, match=accepted) as caught:
                call()
            assert caught.value.field == "kv_format"

    def test_an_error_survives_pickling(self) -> None:
        error = KernelError("head_size", 584, (512, 576), "pass elements, not bytes")
        again = pickle.loads(pickle.dumps(error))
        assert str(again) == str(error)
        assert str(error) == ("head_size is 584; accepted: 512, 576; pass elements, not bytes")
        assert (again.field, again.value, again.accepted) == ("head_size", 584, (512, 576))


@pytest.mark.parametrize(("pages", "page_size"), [(2**31 + 1, 1), (2**16, 2**16), (2, 2**31)])
def test_more_slots_than_int32_counts(tmp_path: Path, pages: int, page_size: int) -> None:
    fmt = formats.plain("float8_e4m3fn", 1)
    cache = sparse_memory(tmp_path, pages * page_size).view(pages, page_size)
    last = pages * page_size - 1
    slots = torch.tensor([last, 2**31 - 1, 5])
    kv = torch.tensor([[1.0], [2.0], [3.0]])
    kv_cache.write(fmt, cache, kv, slots, page_size=page_size)
    for dtype in (torch.int32, torch.int64):
        named = torch.tensor([2**31 - 1, 5], dtype=dtype)
        assert kv_cache.gather(fmt, cache, named, page_size=page_size).tolist() == [[2], [3]]
    assert cache.flatten()[last] == 0x38
    for wrong in (last + 1, 2**62):
        with pytest.raises(KernelError, match=f"slots is {wrong}"):
            kv_cache.gather(fmt, cache, torch.tensor([wrong]), page_size=page_size)


def test_products_beyond_float32_read_as_infinity() -> None:
    largest = torch.finfo(torch.float32).max
    kv = torch.full((1, 512), largest)
    for fmt in (formats.V41, formats.V4_NVFP4):
        cache = kv_cache.pack(fmt, kv, page_size=1)
        found = kv_cache.unpack(fmt, cache, page_size=1)
        assert not found.isnan().any()
    cache = kv_cache.pack(formats.V41, kv, page_size=1)
    assert (kv_cache.unpack(formats.V41, cache, page_size=1) == INF).all()
    exact = kv_cache.unpack(formats.V41, cache, page_size=1, dtype=torch.float64)
    assert (exact == 2.0**128).all()
    kv = torch.full((1, 512), 2.0**127)  # the largest power of two comes back
    cache = kv_cache.pack(formats.V41, kv, page_size=1)
    assert torch.equal(kv_cache.unpack(formats.V41, cache, page_size=1), kv)


def test_the_default_dtype_does_not_matter() -> None:
    kv = {fmt.name: value_sets(6, 3, fmt) for fmt in formats.ALL}
    want = {fmt.name: kv_cache.pack(fmt, kv[fmt.name], page_size=2) for fmt in formats.ALL}
    torch.set_default_dtype(torch.float64)
    try:
        for fmt in formats.ALL:
            scale = 1 if fmt is formats.E4M3 else None
            got = kv_cache.pack(fmt, kv[fmt.name], page_size=2, tensor_scale=scale)
            assert torch.equal(got, want[fmt.name])
    finally:
        torch.set_default_dtype(torch.float32)


def test_64k_tokens_pack_in_seconds() -> None:
    kv = torch.randn(65_536, 512, dtype=torch.float32).bfloat16()
    start = time.perf_counter()
    cache = kv_cache.pack(formats.V4, kv, page_size=64)
    assert time.perf_counter() - start < 5
    assert cache.shape == (1024, 37_440)
