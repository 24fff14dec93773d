# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""DeepSeek-V4.1 packed MXFP8, scales at the page's end."""

from attnmatrix.kv_format import KVFormat, Part

NAME = "ds_mla_v41_footer"

ENTRY = KVFormat(
    NAME,
    title="DeepSeek-V4.1 packed MXFP8, scales at the page's end",
    head_size=512,
    bytes_per_token=528,
    data=(Part("kv", "float8_e4m3fn", 512, scaled_by="kv_scale", group=32),),
    scales=(Part("kv_scale", "float8_e8m0fnu", 16, amax_floor=0.0448),),
    arrangement="data_then_scales",
    round_up_to=512,
    notes=("FlashMLA's form before its release of 2026.09.30; FlashInfer calls it fp8_dsv41.",),
    sources=(
        "vllm==0.33.0 vllm/third_party/flashmla/flash_mla_interface.py:123",
        "vllm-project/FlashMLA@29b0d03c csrc/kernels/kv_cache_format.h",
        "flashinfer-python==0.7.4 flashinfer/mla/_core.py:1159",
    ),
)
