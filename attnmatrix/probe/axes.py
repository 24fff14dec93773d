"""The values that the probe tries on each axis."""

from __future__ import annotations

QUERY_HEADS = (1, 8, 16, 32, 64, 96, 128, 192, 256)
PAGE_SIZES = (1, 2, 3, 16, 32, 64, 96, 128, 256, 1024)
TOPK = (1, 32, 63, 64, 65, 100, 128, 512, 2048)
HEAD_SIZES = (128, 256)
"""Query widths tried beside those of the KV formats."""

DTYPES = ("bfloat16", "float16", "float32", "float8_e4m3fn")

FEATURE_SETS = (
    ("attention_sink",),
    ("topk_length",),
    ("extra_kv_pool",),
    ("causal",),
    ("strided_pages",),
    ("lse",),
    ("attention_sink", "lse"),  # layers whose partial results are merged
    ("causal", "lse"),
    ("attention_sink", "topk_length"),
    ("attention_sink", "extra_kv_pool"),
    ("lse", "strided_pages"),
    ("attention_sink", "extra_kv_pool", "topk_length"),  # DeepSeek-V4
    ("attention_sink", "extra_kv_pool", "lse", "strided_pages", "topk_length"),
)
"""Each feature alone, and those that models use together."""

OF_INDICES = frozenset(("topk_length", "extra_kv_pool"))
"""Features that mean something beside indices alone."""

PREFERRED = {
    "query_heads": (64, 128, 32, 16, 8, 1),
    "page_size": (64, 32, 16, 128, 256, 1),
    "topk": (128, 64, 512, 2048, 32, 1),
}
"""Which value of a row a centre has: the first of these that the row takes."""

ROW_AXES = {"query_heads": "query_heads", "page_size": "page_sizes", "topk": "topk"}
"""An axis of a case, and its name in a row."""
