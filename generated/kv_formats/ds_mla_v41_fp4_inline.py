# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""DeepSeek-V4.1 compressed FP4, scales in the row."""

from attnmatrix.kv_format import KVFormat, Part

NAME = "ds_mla_v41_fp4_inline"

ENTRY = KVFormat(
    NAME,
    title="DeepSeek-V4.1 compressed FP4, scales in the row",
    head_size=512,
    bytes_per_token=288,
    data=(
        Part("kv", "float4_e2m1fn", 512, scaled_by="kv_scale", group=16),
        Part("kv_scale", "float8_e4m3fn", 32, amax_floor=0.01171875),
    ),
    scales=(),
    arrangement="token_by_token",
    round_up_to=1,
    notes=("Kernels take it as the extra pool beside a 528 B main cache only.",),
    sources=(
        "vllm==0.33.0 vllm/models/deepseek_v41/common/ops/fused_compress_quant_cache.py:481",
        "vllm==0.33.0 vllm/third_party/flashmla/flash_mla_interface.py:121",
    ),
)
