# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""DeepSeek-V4 packed NVFP4."""

from attnmatrix.kv_format import KVFormat, Part

NAME = "ds_mla_v4_nvfp4"

ENTRY = KVFormat(
    NAME,
    title="DeepSeek-V4 packed NVFP4",
    head_size=512,
    bytes_per_token=384,
    data=(
        Part("nope", "float4_e2m1fn", 448, scaled_by="nope_scale", group=16),
        Part("rope", "bfloat16", 64),
    ),
    scales=(Part("nope_scale", "float8_e4m3fn", 28), Part("pad", "uint8", 4)),
    arrangement="data_then_scales",
    round_up_to=1,
    notes=("No global scale: a group's scale is its largest magnitude over 6, rounded to e4m3.",),
    sources=(
        "flashinfer-python==0.7.4 flashinfer/data/include/flashinfer/attention/sparse_mla_sm120/model/dsv4_nvfp4_layout.cuh:14",
        "flashinfer-python==0.7.4 flashinfer/mla/_core.py:1364",
    ),
)
