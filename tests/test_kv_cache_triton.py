"""The writer's generated source, as far as it can be read without a GPU."""

from __future__ import annotations

import ast

import pytest
import torch

import attnmatrix
from attnmatrix.kernels import kv_cache_triton
from attnmatrix.kernels.kv_cache import empty

FP4 = {
    "ds_mla_v32_nvfp4",
    "ds_mla_v4_nvfp4",
    "ds_mla_v41_fp4_footer",
    "ds_mla_v41_fp4_inline",
}


@pytest.mark.parametrize("name", attnmatrix.kv_format_names())
def test_every_format_without_4_bit_parts_has_a_kernel(name: str) -> None:
    fmt = attnmatrix.get_kv_format(name)
    assert kv_cache_triton.is_known(fmt) == (name not in FP4)
    if name not in FP4:
        ast.parse(kv_cache_triton.source(fmt))


def test_offsets_are_those_of_the_description() -> None:
    v4 = kv_cache_triton.source(attnmatrix.get_kv_format("ds_mla_v4"))
    assert "data = page * page_stride + place * 576" in v4
    assert "scales = page * page_stride + PAGE * 576 + place * 8" in v4
    v32 = kv_cache_triton.source(attnmatrix.get_kv_format("ds_mla_v32"))
    assert "data = page * page_stride + place * 656" in v32
    assert "scales = data + 656" in v32
    assert "(cache + data + 512).to(tl.pointer_type(tl.float32))" in v32
    assert "(cache + data + 528).to(tl.pointer_type(tl.bfloat16))" in v32


def test_a_cpu_tensor_is_left_to_torch() -> None:
    fmt = attnmatrix.get_kv_format("ds_mla_v4")
    assert not kv_cache_triton.supports(fmt, torch.zeros(1, 512))
    assert empty(fmt, 1, 64).device.type == "cpu"
