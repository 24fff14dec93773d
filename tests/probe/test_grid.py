"""Which cases are tried."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from attnmatrix.probe.axes import FEATURE_SETS, PAGE_SIZES, QUERY_HEADS, TOPK
from attnmatrix.probe.case import BadCase, Case
from attnmatrix.probe.claims import load_claims
from attnmatrix.probe.grid import Grid, Narrowing
from attnmatrix.registry import get_kv_format, kv_format_names
from tests.probe.bench import DENSE, SPARSE

FORMATS = {name: get_kv_format(name).head_size for name in kv_format_names()}
CENTRE = Case(SPARSE, "ds_mla_v4", "bfloat16", 512, 64, 64, 128)


def grid(kernel: str, version: str = "0.33.0", **narrowing: Any) -> Grid:
    claims = load_claims(kernel)
    provider = "vllm" if claims.library == "flash_mla" else "flashinfer-python"
    return Grid(claims, (9, 0), (provider, version), FORMATS, Narrowing(**narrowing))


def test_each_axis_alone_around_a_claim() -> None:
    cases = {*grid(SPARSE).cases()}
    for axis, values in (("query_heads", QUERY_HEADS), ("page_size", PAGE_SIZES), ("topk", TOPK)):
        assert {CENTRE._replace(**{axis: value}) for value in values} <= cases
    for features in FEATURE_SETS:
        if "causal" not in features:
            extra = "ds_mla_v4" if "extra_kv_pool" in features else None
            assert CENTRE._replace(features=features, extra_kv_format=extra) in cases
    assert {CENTRE._replace(head_size=size) for size in (128, 256, 320, 512, 576)} <= cases


def test_every_two_values_of_which_a_row_takes_one() -> None:
    whole = grid(SPARSE)
    cases = {*whole.cases()}
    for heads, topk in product(QUERY_HEADS, TOPK):
        case = CENTRE._replace(query_heads=heads, topk=topk)
        one = heads in (64, 128) or topk % 64 == 0
        assert (case in cases) == one, case


@pytest.mark.parametrize("kernel", [SPARSE, DENSE, "flashinfer.batch_mla"])
def test_every_format_and_dtype(kernel: str) -> None:
    cases = grid(kernel, "0.33.0" if kernel != "flashinfer.batch_mla" else "0.7.4").cases()
    dtypes = ("bfloat16", "float16", "float32", "float8_e4m3fn")
    assert {(case.kv_format, case.dtype) for case in cases} == {*product(FORMATS, dtypes)}


@pytest.mark.parametrize(
    ("version", "heads", "topk"),
    [("0.24.0", {64, 128}, {128, 512, 2048}), ("0.33.0", {8, 16, 32, 64, 128}, {*TOPK})],
)
def test_every_claim_of_these_gpus_and_versions_is_tried(
    version: str, heads: set[int], topk: set[int]
) -> None:
    """Each value that a row in force takes, out of the grid's, is claimed in some case."""
    whole = grid("flash_mla.sparse_prefill", version)
    claimed = [case for case in whole.cases() if whole.claimed(case)]
    assert {case.query_heads for case in claimed} == heads
    assert {case.kv_format for case in claimed} == {"bf16_576", "bf16_512"}
    assert {case.page_size for case in claimed} == {*PAGE_SIZES}
    assert {case.topk for case in claimed} == topk


def test_versions_move_the_claims() -> None:
    old, new = grid(DENSE, "0.24.0"), grid(DENSE, "0.33.0")
    case = Case(DENSE, "bf16_512", "bfloat16", 512, 64, 64)
    assert not old.claimed(case)
    assert new.claimed(case)
    assert case in old.cases()


def test_indices_and_causal_are_not_mixed() -> None:
    cases = grid("flashinfer.batch_mla", "0.7.4").cases()
    assert any(case.topk for case in cases)
    assert any("causal" in case.features for case in cases)
    assert not any(case.topk and "causal" in case.features for case in cases)


def test_no_case_twice_and_always_the_same_order() -> None:
    cases = grid(SPARSE).cases()
    assert len({*cases}) == len(cases)
    assert cases == grid(SPARSE).cases()


def test_quick_leaves_pairs_out() -> None:
    quick = {*grid(SPARSE, quick=True).cases()}
    assert quick < {*grid(SPARSE).cases()}
    assert CENTRE._replace(topk=64) in quick
    assert CENTRE._replace(topk=64, query_heads=128) not in quick
    assert {case.kv_format for case in quick} == {*FORMATS}


def test_an_axis_alone() -> None:
    cases = grid(SPARSE, vary=frozenset(("page_size",))).cases()
    assert {CENTRE._replace(page_size=size) for size in PAGE_SIZES} <= {*cases}
    assert {(case.query_heads, case.topk, case.features) for case in cases} == {(64, 128, ())}


def test_values_of_an_axis() -> None:
    cases = grid(SPARSE, values={"page_size": (48,)}).cases()
    assert {case.page_size for case in cases} == {48}
    assert CENTRE._replace(page_size=48) in cases


def test_a_key_and_back() -> None:
    for case in grid(SPARSE, quick=True).cases():
        assert Case.parse(case.key()) == case
        assert Case.of(case.kernel, case.axes()) == case
        assert not {*case.key()} & {*" ;&|<>()$`'\"\\*?[]~#!{}"}  # a shell takes it as it is


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("", "'' is not AXIS=VALUE"),
        ("kernel=k,query_head=1", "did you mean 'query_heads'?"),
        ("kernel=k,kernel=k", "kernel is named twice"),
        ("kernel=k", "kv_format, dtype, head_size, query_heads, page_size: missing"),
        ("kernel=k,topk=0", "topk: '0' is not a positive integer"),
        ("kernel=k,features=sink+lse", "'sink' is not one of attention_sink"),
    ],
)
def test_a_key_that_cannot_be_read(key: str, words: str) -> None:
    whole = "" if "kv_format" in words or not key else ",kv_format=f,dtype=d,head_size=1"
    with pytest.raises(BadCase) as caught:
        Case.parse(
            key + (f"{whole},query_heads=1,page_size=1" if whole and "heads" not in words else "")
        )
    assert words in str(caught.value)


@pytest.mark.parametrize("kernel", ["flashinfer.batch_mla", "reference.decode"])
def test_features_of_indices_come_with_indices(kernel: str) -> None:
    provider = (
        ("torch", "2.11.0") if kernel == "reference.decode" else ("flashinfer-python", "0.7.4")
    )
    claims = load_claims(kernel)
    cases = Grid(claims, (9, 0), provider, FORMATS, Narrowing(quick=True)).cases()
    cases += grid(SPARSE).cases()
    about = [case for case in cases if {"topk_length", "extra_kv_pool"} & {*case.features}]
    assert {case.kernel for case in about} == {kernel, SPARSE}
    assert all(case.topk for case in about)
