# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""DeepSeek-V4.1 compressed FP4, scales at the page's end."""

from attnmatrix.kv_format import KVFormat, Part

NAME = "ds_mla_v41_fp4_footer"

ENTRY = KVFormat(
    NAME,
    title="DeepSeek-V4.1 compressed FP4, scales at the page's end",
    head_size=512,
    bytes_per_token=288,
    data=(Part("kv", "float4_e2m1fn", 512, scaled_by="kv_scale", group=16),),
    scales=(Part("kv_scale", "float8_e4m3fn", 32, amax_floor=0.01171875),),
    arrangement="data_then_scales",
    round_up_to=512,
    notes=("Kernels take it as the extra pool beside a 528 B main cache only.",),
    sources=(
        "vllm-project/FlashMLA@29b0d03c csrc/kernels/kv_cache_format.h",
        "flashinfer-python==0.7.4 flashinfer/data/include/flashinfer/attention/sparse_mla_sm120/model/dsv41_layout.cuh:48",
    ),
)
