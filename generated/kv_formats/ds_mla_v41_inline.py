# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""DeepSeek-V4.1 packed MXFP8, scales in the row."""

from attnmatrix.kv_format import KVFormat, Part

NAME = "ds_mla_v41_inline"

ENTRY = KVFormat(
    NAME,
    title="DeepSeek-V4.1 packed MXFP8, scales in the row",
    head_size=512,
    bytes_per_token=528,
    data=(
        Part("kv", "float8_e4m3fn", 512, scaled_by="kv_scale", group=32),
        Part("kv_scale", "float8_e8m0fnu", 16, amax_floor=0.0448),
    ),
    scales=(),
    arrangement="token_by_token",
    round_up_to=1,
    notes=(
        "A kernel that expects the footer form misreads it without an error, and the other way round.",
    ),
    sources=(
        "vllm==0.33.0 vllm/third_party/flashmla/flash_mla_interface.py:121",
        "vllm==0.33.0 vllm/models/deepseek_v41/common/ops/fused_compress_quant_cache.py:427",
        "flashinfer-python==0.7.4 flashinfer/mla/_core.py:1159",
    ),
)
