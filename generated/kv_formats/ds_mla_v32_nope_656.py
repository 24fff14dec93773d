# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Rope-free packed FP8 in a DeepSeek-V3.2 row, 656 B."""

from attnmatrix.kv_format import KVFormat, Part

NAME = "ds_mla_v32_nope_656"

ENTRY = KVFormat(
    NAME,
    title="Rope-free packed FP8 in a DeepSeek-V3.2 row, 656 B",
    head_size=512,
    bytes_per_token=656,
    data=(
        Part("nope", "float8_e4m3fn", 512, scaled_by="nope_scale", group=128),
        Part("nope_scale", "float32", 4, amax_floor=0.0448, power_of_two=True),
        Part("pad", "uint8", 128),
    ),
    scales=(),
    arrangement="token_by_token",
    round_up_to=1,
    notes=(
        "vLLM keeps 656 B rows for rope-free models and leaves the place of the RoPE part zero.",
    ),
    sources=(
        "vllm==0.33.0 vllm/v1/attention/backends/mla/flashmla_sparse.py:757",
        "flashinfer-python==0.7.4 flashinfer/mla/_core.py:541",
    ),
)
