"""What an answer is: right, wrong by any misreading, refused with the library's words, untested."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from attnmatrix.kernels import kv_cache
from attnmatrix.kernels.errors import KernelError
from attnmatrix.libraries import Absent
from attnmatrix.probe import callers
from attnmatrix.probe.callers import failure, flash_mla
from attnmatrix.probe.callers.caller import Caller, Needs, Result
from attnmatrix.probe.callers.expected import run_reference
from attnmatrix.probe.callers.inputs import Problem
from attnmatrix.probe.case import Answer, Case
from attnmatrix.registry import get_kv_format, kv_format_names

TORCH = ("torch", "2.11.0")
REFERENCE = "reference.decode"
SPARSE = Case(REFERENCE, "ds_mla_v4", "bfloat16", 512, 4, 64, 64)
DENSE = Case(REFERENCE, "bf16_576", "bfloat16", 576, 4, 64)
TAKES = frozenset(
    {"attention_sink", "topk_length", "extra_kv_pool", "causal", "strided_pages", "lse"}
)


def ask(case: Case) -> Answer:
    return callers.examine(case, TORCH, "cpu")


def install(monkeypatch: pytest.MonkeyPatch, call: Callable[[Problem], Result]) -> None:
    """Has the reference's cases answered by `call`."""
    caller = Caller(
        lambda name: None,
        lambda library, problem: call(problem),
        TAKES,
        Needs(scales=True),
        sparse=True,
        dense=True,
    )
    monkeypatch.setitem(callers.CALLERS, REFERENCE, caller)


def exact(problem: Problem) -> Result:
    return Result(*run_reference(problem, problem.q, torch.float32))


@pytest.mark.parametrize("name", kv_format_names())
@pytest.mark.parametrize("topk", [None, 64])
def test_the_reference_reads_every_format(name: str, topk: int | None) -> None:
    size = get_kv_format(name).head_size
    answer = ask(Case(REFERENCE, name, "bfloat16", size, 2, 16, topk, features=("lse",)))
    assert answer.outcome == "right"
    assert answer.error is not None
    assert 1e-3 < answer.error < 2.5e-3  # that of rounding the output


@pytest.mark.parametrize("dtype", ["float16", "float32", "float8_e4m3fn"])
@pytest.mark.parametrize("case", [SPARSE, DENSE], ids=Case.key)
def test_every_query_dtype(case: Case, dtype: str) -> None:
    assert ask(case._replace(dtype=dtype)).outcome == "right"


def test_a_head_size_that_is_not_the_formats_is_refused() -> None:
    answer = ask(SPARSE._replace(head_size=576))
    assert answer.outcome == "refused"
    assert str(answer.message).startswith("ValueError: head_size is 576; accepted: 512")


def next_page(problem: Problem) -> Problem:
    assert problem.block_table is not None
    return problem._replace(block_table=problem.block_table.roll(1, 1))


def one_token_more(problem: Problem) -> Problem:
    assert problem.cache_seqlens is not None
    return problem._replace(cache_seqlens=problem.cache_seqlens + 1)


def slots_without_gaps(problem: Problem) -> Problem:
    """Pages taken to lie one after another."""
    cache = problem.pool.cache
    near = cache.as_strided(cache.shape, (cache.shape[1], 1))
    return problem._replace(pool=problem.pool._replace(cache=near))


def minus_one_is_slot_0(problem: Problem) -> Problem:
    assert problem.indices is not None
    return problem._replace(indices=problem.indices.clamp_min(0))


def next_slot(problem: Problem) -> Problem:
    assert problem.indices is not None
    moved = problem.indices.where(problem.indices < 0, problem.indices // 64 * 64)
    return problem._replace(indices=moved)


def as_format(name: str) -> Callable[[Problem], Problem]:
    def relabel(problem: Problem) -> Problem:
        fmt, pool = get_kv_format(name), problem.pool
        cache = kv_cache.empty(fmt, pool.cache.shape[0], pool.page_size)
        width = min(cache.shape[1], pool.cache.shape[1])
        cache[:, :width] = pool.cache[:, :width]
        return problem._replace(pool=pool._replace(fmt=fmt, cache=cache))

    relabel.__name__ = f"as_{name}"
    return relabel


def without(*fields: str) -> Callable[[Problem], Problem]:
    def drop(problem: Problem) -> Problem:
        return problem._replace(**dict.fromkeys(fields))

    drop.__name__ = f"without_{fields[0]}"
    return drop


def scale_of_1(problem: Problem) -> Problem:
    return problem._replace(pool=problem.pool._replace(tensor_scale=None))


def query_scale_of_1(problem: Problem) -> Problem:
    return problem._replace(q_scale=1.0)


def not_causal(problem: Problem) -> Problem:
    return problem._replace(case=problem.case._replace(features=()))


def pools_swapped(problem: Problem) -> Problem:
    return problem._replace(
        extra_indices=None if problem.indices is None else problem.indices % 100
    )


def featured(case: Case, *features: str) -> Case:
    extra = case.kv_format if "extra_kv_pool" in features else None
    return case._replace(features=features, extra_kv_format=extra)


V41 = SPARSE._replace(kv_format="ds_mla_v41_inline")
MISREADINGS: list[tuple[Case, Callable[[Problem], Problem]]] = [
    (DENSE, next_page),
    (DENSE, one_token_more),
    (featured(DENSE, "causal"), not_causal),
    (featured(DENSE, "strided_pages"), slots_without_gaps),
    (featured(SPARSE, "strided_pages"), slots_without_gaps),
    (SPARSE, minus_one_is_slot_0),
    (SPARSE, next_slot),
    (featured(SPARSE, "topk_length"), without("topk_length")),
    (featured(SPARSE, "attention_sink"), without("sink")),
    (featured(DENSE, "attention_sink"), without("sink")),
    (featured(SPARSE, "extra_kv_pool"), without("extra", "extra_indices")),
    (featured(SPARSE, "extra_kv_pool"), pools_swapped),
    (featured(SPARSE, "extra_kv_pool", "topk_length"), without("extra_topk_length")),
    (DENSE._replace(kv_format="e4m3_576"), scale_of_1),
    (DENSE._replace(dtype="float8_e4m3fn"), query_scale_of_1),
    (V41, as_format("ds_mla_v41_footer")),
    (V41, as_format("ds_mla_v32_nope")),
    (V41._replace(kv_format="ds_mla_v41_footer"), as_format("ds_mla_v41_inline")),
    (SPARSE._replace(kv_format="bf16_512"), as_format("fp16_512")),
]


@pytest.mark.parametrize(
    ("case", "misread"), MISREADINGS, ids=[f"{c.kv_format}-{m.__name__}" for c, m in MISREADINGS]
)
def test_what_is_misread_is_wrong_by_far(
    monkeypatch: pytest.MonkeyPatch, case: Case, misread: Callable[[Problem], Problem]
) -> None:
    install(monkeypatch, exact)
    assert ask(case).outcome == "right"
    install(monkeypatch, lambda problem: exact(misread(problem)))
    answer = ask(case)
    assert answer.outcome == "wrong"
    assert answer.error is None or answer.error > 0.1, answer


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda got: got._replace(out=got.out * 1.02), "relative error 2.0e-02, more than 4e-03"),
        (lambda got: got._replace(out=got.out.fill_(torch.nan)), "100.0% of the output is NaN"),
        (lambda got: got._replace(out=got.out.index_fill(2, torch.tensor(1), torch.inf)), "25.0%"),
        (lambda got: got._replace(out=got.out[:1]), "an output of shape [1, 1, 4, 512]"),
        (lambda got: got._replace(lse=got.lse / 0.6931), "the LSE is off by"),
        (lambda got: got._replace(lse=got.lse.mT), "an LSE of shape [3, 1, 4]"),
        (lambda got: got._replace(lse=got.lse.fill_(torch.nan)), "the LSE is off by nan"),
    ],
)
def test_a_spoilt_result_is_wrong(
    monkeypatch: pytest.MonkeyPatch, spoil: Callable[[Result], Result], words: str
) -> None:
    install(monkeypatch, lambda problem: spoil(exact(problem)))
    answer = ask(featured(SPARSE, "lse"))
    assert answer.outcome == "wrong"
    assert words in str(answer.message)


def test_an_lse_may_hold_the_sink(monkeypatch: pytest.MonkeyPatch) -> None:
    def call(problem: Problem) -> Result:
        out, lse, _ = exact(problem)
        assert lse is not None
        assert problem.sink is not None
        return Result(out, torch.logaddexp(lse, problem.sink[:, None]), lse_has_sink=True)

    install(monkeypatch, call)
    assert ask(featured(SPARSE, "attention_sink", "lse")).outcome == "right"


TORCH_TEXT = "q must be bfloat16\n\nException raised from check at /a/b.cpp:12 (most recent call)"


@pytest.mark.parametrize(
    ("error", "outcome", "words"),
    [
        (RuntimeError(TORCH_TEXT), "refused", "RuntimeError: q must be bfloat16"),
        (ValueError("no\nsuch\nthing\nat all"), "refused", "ValueError: no such thing"),
        (NotImplementedError(), "refused", "NotImplementedError"),
        (TypeError("scale must be a float"), "refused", "TypeError: scale must be a float"),
        (torch.OutOfMemoryError("CUDA out of memory"), "untested", "out of memory"),
        (ImportError("no cutlass"), "untested", "ImportError: no cutlass"),
        (FileNotFoundError("ninja"), "untested", "FileNotFoundError: ninja"),
        (
            RuntimeError("Ninja build failed. Ninja output:\nx.h: No such file"),
            "untested",
            "RuntimeError: Ninja build failed. Ninja output: x.h: No such file",
        ),
        (
            RuntimeError('Ninja build failed.\nerror: static assertion failed with "64 only"\n'),
            "refused",
            'static assertion failed with "64 only"',
        ),
        (AssertionError("Failed to get checksums.txt"), "untested", "Failed to get"),
    ],
)
def test_exceptions_of_a_library(
    monkeypatch: pytest.MonkeyPatch, error: Exception, outcome: str, words: str
) -> None:
    def call(problem: Problem) -> Result:
        raise error

    install(monkeypatch, call)
    answer = ask(SPARSE)
    assert answer.outcome == outcome
    assert words in str(answer.message)
    assert "b.cpp" not in str(answer.message)


@pytest.mark.parametrize(
    "error",
    [
        TypeError("plan() got an unexpected keyword argument 'metadata'"),
        RuntimeError("op() is missing value for argument 'out'."),
        RuntimeError("op() Expected a value of type 'Tensor' for argument 'q'"),
        KernelError("block_table", 3, "another"),
    ],
)
def test_our_own_mistakes_are_no_refusals(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def call(problem: Problem) -> Result:
        raise error

    install(monkeypatch, call)
    with pytest.raises(type(error)):
        ask(SPARSE)


def test_a_missing_library_is_untested(monkeypatch: pytest.MonkeyPatch) -> None:
    case = SPARSE._replace(kernel="flash_mla.sparse_decode", query_heads=64)
    for why in ("not installed", "failed to import (ImportError: libcuda)"):
        monkeypatch.setattr(flash_mla, "load_flash_mla", lambda name, why=why: Absent(why))
        answer = callers.examine(case, ("vllm", "0.33.0"), "cpu")
        assert answer == Answer("untested", None, f"vllm {why}")


def test_a_kernel_that_nobody_calls_is_untested() -> None:
    answer = ask(SPARSE._replace(kernel="theirs.kernel"))
    assert answer == Answer("untested", None, "the probe has no call of theirs.kernel")


def test_a_lost_gpu_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(device: Any) -> None:
        raise RuntimeError("CUDA error: an illegal memory access was encountered\nmore")

    monkeypatch.setattr(torch.cuda, "synchronize", lost)
    with pytest.raises(callers.FatalError, match="an illegal memory access"):
        failure.settle(torch.device("cuda"))


def test_nothing_is_built_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert callers.compile_jobs([SPARSE], ("flashinfer-python", "0.7.4")) == []


def test_warming_says_what_does_not_load() -> None:
    callers.warm(TORCH)
    with pytest.raises(Exception, match="vllm"):
        callers.warm(("vllm", "0.33.0"))


def test_every_kernel_of_the_matrix_has_a_call() -> None:
    from attnmatrix.registry import kernel_names

    assert {*callers.CALLERS} == {*kernel_names()}
