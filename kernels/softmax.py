"""Attention over keys that arrive in pieces, so that memory does not grow with their number."""

from __future__ import annotations

import math

import torch
from torch import Tensor

LN2 = math.log(2)
"""What makes a natural logarithm, such as an LSE, of one to base 2."""


class RunningSoftmax:
    """softmax(scale * q k) v for groups of queries, each group with keys of its own.

    q: [groups, queries, head_size], in the dtype to compute in. A key's value is its first
    value_size elements. Pieces may come in any order and size; the result is that of one softmax.
    """

    def __init__(self, q: Tensor, value_size: int, scale: float) -> None:
        self._q = q * scale
        shape = q.shape[:2]
        self._largest = q.new_full(shape, -torch.inf)
        self._sum = q.new_zeros(shape)
        self._values = q.new_zeros(*shape, value_size)

    def add(self, kv: Tensor, valid: Tensor) -> None:
        """Add keys [groups, keys, head_size]; valid: bool [groups, queries or 1, keys].

        What an invalid key holds, be it NaN, does not reach the queries that do not see it.
        """
        scores = (self._q @ kv.mT).masked_fill(~valid, -torch.inf)
        largest = torch.maximum(self._largest, scores.amax(-1))
        # Without a valid key so far, -inf - -inf would be NaN: any finite shift gives weights of 0.
        shift = largest.masked_fill(largest == -torch.inf, 0.0)
        weights = (scores - shift.unsqueeze(-1)).exp()
        earlier = (self._largest - shift).exp()
        self._sum = self._sum * earlier + weights.sum(-1)
        values = kv[..., : self._values.shape[-1]]
        self._values = self._values * earlier.unsqueeze(-1) + _weighted(weights, values, valid)
        self._largest = largest

    def finish(self, sink: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Outputs [groups, queries, value_size] and natural LSE [groups, queries].

        sink: [queries], logits that join the denominator of the output, not the LSE. A query
        without valid keys gets output 0 and LSE +inf.
        """
        nothing = self._largest == -torch.inf
        lse = (self._largest + self._sum.log()).masked_fill(nothing, torch.inf)
        total = self._sum
        if sink is not None:
            total = total + (sink - self._largest).exp()
        outputs = self._values / total.unsqueeze(-1)
        return outputs.masked_fill(nothing.unsqueeze(-1), 0.0), lse


def _weighted(weights: Tensor, values: Tensor, valid: Tensor) -> Tensor:
    """weights @ values, where an invalid value counts as 0: in a product, 0 times NaN is NaN.

    Only a value that is not finite, and that some query of its group does not see, needs care.
    """
    bad = ~values.isfinite().all(-1) & ~valid.all(1)
    places = bad.any(0).nonzero().flatten().tolist()
    if not places:
        return weights @ values
    total = weights @ values.masked_fill(bad.unsqueeze(-1), 0.0)
    for key in places:
        seen = (valid[..., key] & bad[:, None, key]).unsqueeze(-1)
        product = weights[..., key, None] * values[:, None, key]
        total = total + product.masked_fill(~seen, 0.0)
    return total
