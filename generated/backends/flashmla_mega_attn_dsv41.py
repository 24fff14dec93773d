# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""DeepSeek-V4.1 sparse MLA with RoPE and output cast in one launch, through FlashMLA."""

from attnmatrix.backend import Backend
from attnmatrix.cell import Cell
from attnmatrix.intset import IntSet

NAME = "FLASHMLA_MEGA_ATTN_DSV41"


class FlashmlaMegaAttnDsv41(Backend):
    """DeepSeek-V4.1 sparse MLA with RoPE and output cast in one launch, through FlashMLA."""

    name = NAME
    summary = "DeepSeek-V4.1 sparse MLA with RoPE and output cast in one launch, through FlashMLA"
    mla = True
    sparse = True
    supported_dtypes = ("bfloat16",)
    supported_kv_cache_dtypes = ("auto", "fp8", "fp8_ds_mla", "nvfp4_ds_mla")
    supported_features = ("attention_sink",)
    head_sizes = (512,)
    kernel_block_sizes = (128,)
    notes = ("vLLM's default for V4.1 on 10.x, unless too few heads are left on a GPU.",)
    differs = ()
    sources = (
        "vllm==0.33.0 vllm/models/deepseek_v41/sparse_mla.py:274",
        "vllm==0.33.0 vllm/models/deepseek_v41/nvidia/model.py:201",
    )
    cells = (
        Cell(
            phase="decode",
            compute_capability=("10.x",),
            kernel=None,
            spellings=("auto", "fp8", "fp8_ds_mla"),
            kv_cache_dtype="fp8_ds_mla",
            kv_format=None,
            dtypes=("bfloat16",),
            head_sizes=IntSet((512,)),
            block_sizes=IntSet((128,)),
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.33"},
            unknown=("query_heads",),
            sources=(
                "vllm==0.33.0 vllm/models/deepseek_v41/sparse_mla.py:274",
                "vllm==0.33.0 vllm/models/deepseek_v41/nvidia/model.py:201",
            ),
            notes=("vLLM's default for V4.1 on 10.x, unless too few heads are left on a GPU.",),
        ),
        Cell(
            phase="decode",
            compute_capability=("10.x",),
            kernel=None,
            spellings=("nvfp4_ds_mla",),
            kv_cache_dtype="nvfp4_ds_mla",
            kv_format=None,
            dtypes=("bfloat16",),
            head_sizes=IntSet((512,)),
            block_sizes=IntSet((128,)),
            features=("attention_sink",),
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.33"},
            unknown=("query_heads",),
            sources=(
                "vllm==0.33.0 vllm/models/deepseek_v41/sparse_mla.py:274",
                "vllm==0.33.0 vllm/models/deepseek_v41/nvidia/model.py:201",
            ),
            notes=("vLLM's default for V4.1 on 10.x, unless too few heads are left on a GPU.",),
        ),
    )
    refusals = ()


ENTRY = FlashmlaMegaAttnDsv41
