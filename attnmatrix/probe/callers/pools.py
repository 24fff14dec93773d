"""KV caches whose bytes show what a kernel reads: live tokens among poison.

Tokens that no query sees are 30 times as large as the others, and finite, since a kernel may fetch
them and give them no weight. Bytes that nothing may touch, between pages and in pages that no table
or index names, are 0xFF: NaN in every storage dtype or its scale.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from attnmatrix.kernels import kv_cache
from attnmatrix.kernels.errors import KernelError
from attnmatrix.kv_format import PER_TENSOR

if TYPE_CHECKING:
    from attnmatrix.kv_format import KVFormat

POISON = 255
UNSEEN_SIZE = 30.0
TENSOR_SCALE = 2.0**-4
"""Of e4m3 caches: a power of two, which no kernel's rounding of scales changes."""

GAP_RECORDS = 3
"""Between pages that lie apart: records, or units of a format's rounding where pages have one."""


class Pool(NamedTuple):
    """A cache, uint8 [num_pages, page_bytes], and how to read it."""

    fmt: KVFormat
    page_size: int
    cache: Tensor
    tensor_scale: float | None

    def rows(self) -> Tensor:
        """As engines hand it: [num_pages, page_size, head_size] in the stored dtype where rows are
        plain numbers, else uint8 [num_pages, page_size, bytes_per_token]. No copy."""
        try:
            return kv_cache.as_plain(self.fmt, self.cache, self.page_size)
        except KernelError:  # scales lie in the record
            return kv_cache.as_records(self.fmt, self.cache, self.page_size).squeeze(2)


def make_pool(
    fmt: KVFormat,
    page_size: int,
    sizes: Tensor,
    dead: Tensor,
    generator: torch.Generator,
    *,
    apart: bool,
    scaled: bool,
) -> Pool:
    """A pool of random tokens. sizes: float32 [slots], their magnitudes; dead: page numbers.

    apart: whether pages lie in a wider slab. scaled: whether an e4m3 cache has a scale beside 1.
    """
    tokens = _tokens(sizes.numel(), fmt.head_size, generator) * sizes[:, None]
    scale = None
    if scaled and any(part.scaled_by == PER_TENSOR for part in fmt.parts):
        scale = TENSOR_SCALE
    page_bytes = fmt.page_bytes(page_size)
    unit = fmt.round_up_to if fmt.round_up_to > 1 else fmt.bytes_per_token
    stride = page_bytes + (GAP_RECORDS * unit if apart else 0)
    pages = sizes.numel() // page_size
    slab = torch.full((pages, stride), POISON, dtype=torch.uint8, device=sizes.device)
    cache = slab[:, :page_bytes]
    kv_cache.pack(fmt, tokens, page_size=page_size, tensor_scale=scale, out=cache)
    cache[dead] = POISON
    return Pool(fmt, page_size, cache, scale)


def _tokens(count: int, width: int, generator: torch.Generator) -> Tensor:
    """float32 [count, width], whose tokens, and blocks of 64 and 16 elements, differ in magnitude.

    So neighbouring scales differ, and one that is read in the wrong place shows.
    """
    device = generator.device
    tokens = torch.randn(count, width, generator=generator, device=device)
    for block, least, most in ((width, -1, 1), (64, -1, 1), (16, -1, 0)):
        shape = (count, width // block, 1)
        powers = torch.randint(least, most + 1, shape, generator=generator, device=device)
        tokens.view(count, -1, block).mul_(torch.exp2(powers.float()))
    return tokens * 0.7  # an RMS of about 1, as after a norm
