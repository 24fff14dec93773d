# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT.
# Regenerate with make gen, or attnmatrix gen.
# ruff: noqa: E501, N801, N999, RUF100
"""Dense MLA for CPUs with AMX."""

from attnmatrix.backend import Backend, MultipleOf
from attnmatrix.cell import Cell
from attnmatrix.intset import NONE, IntSet, Multiples

NAME = "AMX_MLA"


class AmxMla(Backend):
    """Dense MLA for CPUs with AMX."""

    name = NAME
    summary = "Dense MLA for CPUs with AMX"
    mla = True
    sparse = False
    supported_dtypes = ("bfloat16",)
    supported_kv_cache_dtypes = ("auto", "bfloat16")
    supported_features = ()
    head_sizes = (576,)
    kernel_block_sizes = (MultipleOf(32),)
    notes = ("Before CPU_MLA in vLLM's order where the CPU has AMX.",)
    differs = (
        "vllm==0.33.0: kv_cache_dtypes: vLLM inherits float16, which holds for float16 models alone, and the backend takes none.",
    )
    sources = (
        "vllm==0.33.0 vllm/v1/attention/backends/mla/amx_mla.py:124",
        "vllm==0.33.0 vllm/platforms/cpu.py:163",
    )
    cells = (
        Cell(
            phase="decode",
            compute_capability=("none",),
            kernel=None,
            spellings=("auto", "bfloat16"),
            kv_cache_dtype="bfloat16",
            kv_format="bf16_576",
            bytes_per_token=1152,
            dtypes=("bfloat16",),
            head_sizes=IntSet((576,)),
            block_sizes=IntSet(multiples=(Multiples(32),)),
            topk=NONE,
            unknown_features=("topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"),
            engines={"vllm": ">=0.33"},
            sources=(
                "vllm==0.33.0 vllm/v1/attention/backends/mla/amx_mla.py:124",
                "vllm==0.33.0 vllm/platforms/cpu.py:163",
            ),
            notes=("Before CPU_MLA in vLLM's order where the CPU has AMX.",),
        ),
    )
    refusals = ()


ENTRY = AmxMla
