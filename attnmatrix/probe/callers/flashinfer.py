"""Calls of FlashInfer's paged MLA wrapper, dense and by indices."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch import Tensor

from attnmatrix.kernels.errors import KernelError
from attnmatrix.kernels.flashinfer import WORKSPACE_BYTES, default_backend
from attnmatrix.kernels.flashinfer_tables import Table, dense_table, sparse_table
from attnmatrix.kernels.providers import find_flashinfer
from attnmatrix.kernels.rows import capability_of
from attnmatrix.kernels.softmax import LN2

from .arguments import call_with, has_argument
from .caller import CALL_HAS_NO, Caller, Needs, NotExpressible, Result, Unavailable
from .inputs import Problem


def load(distribution: str) -> Any:
    """The module flashinfer.mla. Raises Unavailable."""
    try:
        return find_flashinfer()[0]
    except KernelError as error:
        raise Unavailable(str(error.value)) from error


@functools.cache
def workspace(device: torch.device) -> Tensor:
    """Zeroed memory for partial results, kept as engines keep theirs."""
    return torch.zeros(WORKSPACE_BYTES, dtype=torch.uint8, device=device)


def lengths_or_full(problem: Problem, given: Tensor | None, full: int) -> Tensor:
    """The top-k lengths at hand, or `full` for every sequence: int32 [batch]."""
    if given is not None:
        return given
    return torch.full(problem.q.shape[:1], full, dtype=torch.int32, device=problem.q.device)


def plan_batch_mla(mla: Any, problem: Problem) -> Any:
    """A planned wrapper, whose module has been built."""
    device = problem.q.device
    case, pool = problem.case, problem.pool
    wrapper = mla.BatchMLAPagedAttentionWrapper(
        workspace(device), backend=default_backend(capability_of(device))
    )
    arguments: dict[str, Any] = {
        "num_heads": case.query_heads,
        "head_dim_ckv": problem.value_size,
        "head_dim_kpe": pool.fmt.head_size - problem.value_size,
        "page_size": pool.page_size if problem.indices is None else 1,
        "causal": problem.causal,
        "sm_scale": problem.score_scale,
        "q_data_type": problem.q.dtype,
        "kv_data_type": pool.rows().dtype,
    }
    if problem.sink is not None:
        arguments["use_sinks"] = True
    if has_argument(wrapper.plan, "lse_mode"):
        arguments["lse_mode"] = "basee" if problem.wants_lse else "none"
    table = _table(problem)
    tables = (table.q_starts, table.page_starts, table.pages, table.lengths)
    if hasattr(mla, "MLAPlanMetadata"):
        arguments["metadata"] = mla.MLAPlanMetadata.csr(*tables)
    else:  # before 0.7.0
        names = ("qo_indptr", "kv_indptr", "kv_indices", "kv_len_arr")
        arguments |= dict(zip(names, tables, strict=True))
    call_with(wrapper.plan, **arguments)
    return wrapper


def _batch_mla(mla: Any, problem: Problem) -> Result:
    wrapper = plan_batch_mla(mla, problem)
    width, q = problem.value_size, problem.q.flatten(0, 1)
    cache = _slots(problem) if problem.indices is not None else problem.pool.rows()
    arguments: dict[str, Any] = {"return_lse": problem.wants_lse}
    if has_argument(wrapper.run, "query"):
        arguments |= {"query": q, "kv_cache": cache}
    else:  # before 0.7.0
        arguments |= dict(zip(("q_nope", "q_pe"), _split(q, width), strict=True))
        arguments |= dict(zip(("ckv_cache", "kpe_cache"), _split(cache, width), strict=True))
    natural = problem.wants_lse and has_argument(wrapper.run, "return_lse_base_on_e")
    if natural:
        arguments["return_lse_base_on_e"] = True
    if problem.pool.tensor_scale is not None:
        arguments |= dict.fromkeys(("ckv_scale", "kpe_scale"), problem.pool.tensor_scale)
    if problem.sink is not None:
        arguments["sinks"] = problem.sink
    found = call_with(wrapper.run, **arguments)
    out, lse = found if problem.wants_lse else (found, None)
    shape = problem.q.shape[:2]
    if lse is not None:
        lse = (lse if natural else lse * LN2).view(*shape, -1).mT
    return Result(out.view(*shape, *out.shape[1:]), lse)


def _table(problem: Problem) -> Table:
    """Pages of each sequence; or, by indices, each query as a sequence of one-token pages."""
    device, shape = problem.q.device, problem.q.shape[:3]
    if problem.indices is None:
        size = problem.pool.page_size
        return dense_table(device, shape, size, problem.block_table, problem.cache_seqlens)
    topk = problem.indices.shape[2]
    return sparse_table(device, shape, topk, problem.indices, problem.topk_length)


def _slots(problem: Problem) -> Tensor:
    """The cache as pages of one token."""
    rows = problem.pool.rows()
    if problem.pool.page_size > 1:
        if "strided_pages" in problem.case.features:
            raise NotExpressible(f"{CALL_HAS_NO} pages apart beside indices")
        rows = rows.reshape(-1, 1, rows.shape[2])
    return rows


def _split(rows: Tensor, width: int) -> tuple[Tensor, Tensor]:
    return rows[..., :width], rows[..., width:]


CALLERS = {
    "flashinfer.batch_mla": Caller(
        load,
        _batch_mla,
        frozenset({"attention_sink", "topk_length", "causal", "strided_pages", "lse"}),
        Needs(masks=False, scales=True),
        sparse=True,
        dense=True,
    ),
}
