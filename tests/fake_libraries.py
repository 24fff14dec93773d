"""Stand-ins for kernel libraries on a machine without a GPU: they record the call and answer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from attnmatrix.kernels.providers import FlashMLA, Operator


class Recorder:
    """A callable that keeps the arguments of each call and returns what `answer` makes of them."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls.append((args, kwargs))
        return self.answer(*args, **kwargs)

    @property
    def args(self) -> tuple[Any, ...]:
        """The positional arguments of the last call."""
        return self.calls[-1][0]

    @property
    def kwargs(self) -> dict[str, Any]:
        """The keyword arguments of the last call."""
        return self.calls[-1][1]


SCHEDULE = (torch.zeros(1, 8, dtype=torch.int32), torch.zeros(2, dtype=torch.int32))


def flash_mla(
    distribution: str = "vllm", version: str = "0.33.0", last: str | None = "out"
) -> FlashMLA:
    """FlashMLA whose operators write ones to `out`, as that distribution's would."""

    def sparse_decode(q: Tensor, *rest: Any) -> tuple[Any, ...]:
        batch, q_len, heads, _ = q.shape
        out = rest[11] if last == "out" and rest[11] is not None else None
        out = q.new_ones(batch, q_len, heads, 512) if out is None else out.fill_(1)
        return (out, torch.zeros(batch, q_len, heads).mT, *SCHEDULE)

    def dense_decode(q: Tensor, *rest: Any) -> tuple[Any, ...]:
        batch, q_len, heads, _ = q.shape
        if last == "out" and rest[8] is not None:
            rest[8].fill_(1)
        out = q.new_ones(batch, q_len, heads, 512)
        return (out, torch.zeros(batch, heads, q_len), *SCHEDULE)

    def sparse_prefill(q: Tensor, *rest: Any) -> tuple[Tensor, ...]:
        tokens, heads, _ = q.shape
        out = rest[6] if last == "out" and rest[6] is not None else None
        out = q.new_ones(tokens, heads, 512) if out is None else out.fill_(1)
        return out, torch.zeros(tokens, heads), torch.ones(tokens, heads)

    def dense_fp8(q: Tensor, *rest: Any) -> tuple[Tensor, ...]:
        batch, q_len, heads, _ = q.shape
        out = torch.ones(batch, q_len, heads, 512, dtype=torch.bfloat16)
        return out, torch.zeros(batch, heads, q_len)

    own = "out" if last == "out" else None
    return FlashMLA(
        distribution,
        version,
        sparse_decode=Operator(Recorder(sparse_decode), last),
        dense_decode=Operator(Recorder(dense_decode), own),
        sparse_prefill=Operator(Recorder(sparse_prefill), own),
        dense_decode_fp8=Operator(Recorder(dense_fp8)),
        dense_fp8_schedule=Operator(Recorder(lambda *args: SCHEDULE)),
    )


class _Wrapper:
    def __init__(self, workspace: Tensor, **options: Any) -> None:
        self.workspace, self.options = workspace, options
        self.plan = Recorder(self._plan)
        self.run = Recorder(self._run)
        _Wrapper.last = self

    last: _Wrapper | None = None

    def _plan(self, **kwargs: Any) -> None:
        self.planned = kwargs

    def _run(self, *, query: Tensor, out: Tensor | None, return_lse: bool, **_: Any) -> Any:
        width = self.planned["head_dim_ckv"]
        out = query.new_ones(*query.shape[:2], width) if out is None else out.fill_(1)
        return (out, torch.zeros(query.shape[:2])) if return_lse else out


def _answer(query: Tensor, out: Tensor | None = None, return_lse: bool = False, **_: Any) -> Any:
    shape = (*query.shape[:-1], 512)
    out = torch.ones(shape, dtype=torch.bfloat16) if out is None else out.fill_(1)
    return (out, torch.zeros(query.shape[:-1]).flatten(0, -2)) if return_lse else out


def flashinfer_mla() -> Any:
    """The module flashinfer.mla, as far as adapters call it."""
    return SimpleNamespace(
        MLAPlanMetadata=SimpleNamespace(csr=lambda *tables: tables),
        BatchMLAPagedAttentionWrapper=_Wrapper,
        trtllm_batch_decode_with_kv_cache_mla=Recorder(_answer),
        trtllm_batch_decode_sparse_mla_dsv4=Recorder(_answer),
    )


def last_wrapper() -> _Wrapper:
    """The FlashInfer wrapper made last."""
    assert _Wrapper.last is not None
    return _Wrapper.last
