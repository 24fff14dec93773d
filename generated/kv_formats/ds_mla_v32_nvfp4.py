# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""DeepSeek-V3.2 packed NVFP4."""

from attnmatrix.kv_format import KVFormat, Part

NAME = "ds_mla_v32_nvfp4"

ENTRY = KVFormat(
    NAME,
    title="DeepSeek-V3.2 packed NVFP4",
    head_size=576,
    bytes_per_token=352,
    data=(
        Part("nope", "float4_e2m1fn", 512, scaled_by="nope_scale", group=16),
        Part("rope", "float8_e4m3fn", 64),
        Part("nope_scale", "float8_e4m3fn", 32, transposed=(8, 4), amax_floor=0.01171875),
    ),
    scales=(),
    arrangement="token_by_token",
    round_up_to=1,
    notes=(
        "The scale of block b lies at byte 320 + 8 * (b % 4) + b // 4; RoPE is FP8 without a scale.",
    ),
    sources=(
        "vllm==0.33.0 vllm/v1/attention/backends/mla/flashmla_sparse.py:111",
        "vllm==0.33.0 vllm/models/deepseek_v32/common/kernels.py:305",
        "flashinfer-python==0.7.4 flashinfer/mla/_core.py:4659",
    ),
)
