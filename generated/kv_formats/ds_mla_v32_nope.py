# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Rope-free packed FP8 (GLM-5.3), 528 B."""

from attnmatrix.kv_format import KVFormat, Part

NAME = "ds_mla_v32_nope"

ENTRY = KVFormat(
    NAME,
    title="Rope-free packed FP8 (GLM-5.3), 528 B",
    head_size=512,
    bytes_per_token=528,
    data=(
        Part("nope", "float8_e4m3fn", 512, scaled_by="nope_scale", group=128),
        Part("nope_scale", "float32", 4, amax_floor=0.0448, power_of_two=True),
    ),
    scales=(),
    arrangement="token_by_token",
    round_up_to=1,
    notes=(
        "As many bytes as the two DeepSeek-V4.1 records, yet another layout: four float32 scales.",
    ),
    sources=(
        "sglang-kernel==0.4.10 sgl_kernel/flash_mla.py",
        "flashinfer-python==0.7.4 flashinfer/mla/_core.py:541",
    ),
)
