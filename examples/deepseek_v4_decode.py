"""DeepSeek-V4 decode on a GPU: pick a backend, write the cache, run, and compare with float64."""

from __future__ import annotations

import torch

import attnmatrix
from attnmatrix.kernels import kv_cache
from attnmatrix.kernels.decode import decoder

BATCH, HEADS, WINDOW, TOPK = 32, 64, 128, 512

torch.manual_seed(0)
asked = {"kv_cache_dtype": "fp8_ds_mla", "dtype": "bfloat16", "query_heads": HEADS}
decode = decoder("FLASHMLA_SPARSE_DSV4", gpu="H200", **asked)
fmt = decode.kv_format
print(f"{decode.kernel.name} from {decode.provider}, {fmt.bytes_per_token} B a token")


def filled(pages: int, page_size: int) -> torch.Tensor:
    """A cache of random tokens, written as a step writes its own: by slot mapping."""
    cache = kv_cache.empty(fmt, pages, page_size, "cuda")
    slots = torch.randperm(pages * page_size, device="cuda")
    tokens = torch.randn(len(slots), fmt.head_size, device="cuda").bfloat16()
    kv_cache.write(fmt, cache, tokens, slots, page_size=page_size)
    return cache


def chosen(count: int, slots: int) -> torch.Tensor:
    """Indices of each sequence's query into a pool."""
    return torch.randint(slots, (BATCH, 1, count), device="cuda").int()


given = {
    "q": torch.randn(BATCH, 1, HEADS, fmt.head_size, device="cuda").bfloat16(),
    "kv_cache": filled(256, 64),  # the sliding window's pool
    "indices": chosen(WINDOW, 256 * 64),
    "topk_length": torch.randint(1, WINDOW + 1, (BATCH,), device="cuda").int(),
    "extra_kv_cache": filled(1024, 64),  # the compressed pool
    "extra_indices": chosen(TOPK, 1024 * 64),
    "extra_topk_length": torch.randint(1, TOPK + 1, (BATCH,), device="cuda").int(),
    "attn_sink": torch.randn(HEADS, device="cuda"),
}
shape = {"page_size": 64, "topk": WINDOW, "extra_page_size": 64, "extra_topk": TOPK}
decode.plan(**shape, batch=BATCH)  # once a step; then once a layer:
out, lse = decode.run(**given)
print(f"out {list(out.shape)} {out.dtype}, lse {list(lse.shape)}")

exact = decoder("REFERENCE", **asked)
exact.plan(**shape, batch=BATCH, compute_dtype=torch.float64)
want, want_lse = exact.run(**{**given, "q": given["q"].double()})
error = (out - want).norm() / want.norm()
print(f"relative error {error:.1e}, largest LSE difference {(lse - want_lse).abs().max():.1e}")

refused = attnmatrix.judge("FLASHMLA_SPARSE_DSV4", gpu="H200", kv_cache_dtype="bfloat16")
print(refused.reasons[0].message)
