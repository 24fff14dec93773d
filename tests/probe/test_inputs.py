"""A case's inputs: the same at every run, and readable where they are to be read."""

from __future__ import annotations

import pytest
import torch

from attnmatrix.kernels import kv_cache
from attnmatrix.probe.callers.caller import Needs
from attnmatrix.probe.callers.inputs import build
from attnmatrix.probe.case import Case

SPARSE = Case("reference.decode", "ds_mla_v4", "bfloat16", 512, 4, 64, 64)


def test_inputs_are_the_same_at_every_run_and_others_for_another_case() -> None:
    one, again = (build(SPARSE, Needs(), torch.device("cpu")) for _ in range(2))
    assert torch.equal(one.q, again.q)
    assert torch.equal(one.pool.cache, again.pool.cache)
    assert one.indices is not None
    assert again.indices is not None
    assert torch.equal(one.indices, again.indices)
    other = build(SPARSE._replace(page_size=32), Needs(), torch.device("cpu"))
    assert not torch.equal(one.q, other.q)


@pytest.mark.parametrize("page_size", [1, 2, 3, 64, 1024])
@pytest.mark.parametrize("topk", [1, 32, 65, 2048])
def test_indices_name_different_readable_slots(page_size: int, topk: int) -> None:
    case = SPARSE._replace(page_size=page_size, topk=topk, features=("topk_length",))
    problem = build(case, Needs(), torch.device("cpu"))
    assert problem.indices is not None
    assert problem.topk_length is not None
    slots = kv_cache.unpack(problem.pool.fmt, problem.pool.cache, page_size=page_size)
    for row in problem.indices.flatten(0, 1):
        valid = row[row >= 0]
        assert valid.unique().numel() == valid.numel()
        assert slots[valid.long()].isfinite().all()
    assert (problem.indices[..., 0] >= 0).all()
    assert slots[0].isfinite().all()
    assert slots.isnan().any()
    lengths = problem.topk_length.tolist()
    assert all(1 <= length <= topk for length in lengths)
    assert topk == 1 or len({*lengths}) == 3


@pytest.mark.parametrize("page_size", [1, 3, 64, 1024])
@pytest.mark.parametrize("features", [(), ("causal",), ("strided_pages",)])
def test_tables_name_different_readable_pages(page_size: int, features: tuple[str, ...]) -> None:
    case = SPARSE._replace(page_size=page_size, topk=None, features=features)
    problem = build(case, Needs(), torch.device("cpu"))
    assert problem.block_table is not None
    assert problem.cache_seqlens is not None
    slots = kv_cache.unpack(problem.pool.fmt, problem.pool.cache, page_size=page_size)
    slots = slots.view(-1, page_size, slots.shape[1])
    used: list[int] = []
    for row, length in zip(problem.block_table, problem.cache_seqlens.tolist(), strict=True):
        pages = row[: -(-length // page_size)].tolist()
        assert slots[pages].isfinite().all()
        assert not row[len(pages) :].any()
        tokens = slots[pages].flatten(0, 1)
        sizes = tokens.norm(dim=1)
        assert sizes[:length].median() < sizes[length:].median() / 5 or len(tokens) == length
        used += pages
    assert 0 not in used
    assert len({*used}) == len(used)
    assert slots[0].isfinite().all()
    assert slots.isnan().any()
    assert problem.q.shape[1] == (3 if features == ("causal",) else 1)
    apart = problem.pool.cache.stride(0) - problem.pool.fmt.page_bytes(page_size)
    assert apart == (3 * 576 if features == ("strided_pages",) else 0)
