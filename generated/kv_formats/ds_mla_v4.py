# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""DeepSeek-V4 packed FP8."""

from attnmatrix.kv_format import KVFormat, Part

NAME = "ds_mla_v4"

ENTRY = KVFormat(
    NAME,
    title="DeepSeek-V4 packed FP8",
    head_size=512,
    bytes_per_token=584,
    data=(
        Part("nope", "float8_e4m3fn", 448, scaled_by="nope_scale", group=64),
        Part("rope", "bfloat16", 64),
    ),
    scales=(Part("nope_scale", "float8_e8m0fnu", 7, amax_floor=0.0448), Part("pad", "uint8", 1)),
    arrangement="data_then_scales",
    round_up_to=576,
    notes=(
        "A view of shape [pages, rows, 1, 584] does not hold record r at index r; a page is read as bytes.",
        "The floor on the scale is 1e-4, as FlashMLA's own packer has it; vLLM's Triton writer floors the magnitude there instead, so tiny groups differ.",
    ),
    sources=(
        "vllm==0.33.0 vllm/models/deepseek_v4/common/ops/cache_utils.py:64",
        "flashinfer-python==0.7.4 flashinfer/mla/_core.py:1348",
        "deepseek-ai/FlashMLA@520fec6a tests/quant.py",
    ),
)
