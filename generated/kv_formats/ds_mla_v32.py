# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""DeepSeek-V3.2 packed FP8."""

from attnmatrix.kv_format import KVFormat, Part

NAME = "ds_mla_v32"

ENTRY = KVFormat(
    NAME,
    title="DeepSeek-V3.2 packed FP8",
    head_size=576,
    bytes_per_token=656,
    data=(
        Part("nope", "float8_e4m3fn", 512, scaled_by="nope_scale", group=128),
        Part("nope_scale", "float32", 4, amax_floor=0.0448, power_of_two=True),
        Part("rope", "bfloat16", 64),
    ),
    scales=(),
    arrangement="token_by_token",
    round_up_to=1,
    notes=(
        'Packers round scales up to powers of two, which suit every kernel; FlashMLA on 9.0 rounds them to bfloat16, and FlashInfer on 12.x reads the exponent alone unless told kv_scale_format="arbitrary_fp32".',
        "The packer's floor of 1e-4 is on the scale, which is a largest magnitude of 448 times that.",
    ),
    sources=(
        "vllm==0.33.0 vllm/v1/attention/backends/mla/flashmla_sparse.py:79",
        "vllm==0.33.0 vllm/models/deepseek_v32/common/kernels.py:370",
        "deepseek-ai/FlashMLA@520fec6a tests/quant.py",
    ),
)
