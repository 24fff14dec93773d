"""The verdict against a plain reading of the cells, and what a refusal promises."""

from __future__ import annotations

import copy
import itertools
import pickle
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import attnmatrix
from attnmatrix import Request, judge
from attnmatrix.capability import CapabilityPattern
from attnmatrix.cell import Cell
from attnmatrix.intset import ANY, IntSet, Multiples
from attnmatrix.versions import Specifier

BACKENDS = [attnmatrix.get_backend(name) for name in attnmatrix.backend_names()]
CAPABILITIES = ["7.5", "8.0", "9.0", "10.0", "10.1", "10.3", "12.0", "12.1"]
SPELLINGS = sorted({s for b in BACKENDS for s in b.supported_kv_cache_dtypes} | {"fp8_inc"})


def answer(cell: Cell, request: Request) -> bool | None:
    """Whether a cell takes a request, read axis by axis; None where nobody knows."""
    answers: list[bool | None] = [cell.phase == request.phase]
    if (gpu := request.compute_capability) is not None:
        answers.append(any(CapabilityPattern(p).matches(gpu) for p in cell.compute_capability))
        answers.append(not any(CapabilityPattern(p).matches(gpu) for p in cell.except_capability))
    for value, allowed, axis in (
        (request.kv_cache_dtype, cell.spellings, ""),
        (request.dtype, cell.dtypes, "dtypes"),
        (request.head_size, cell.head_sizes, "head_sizes"),
        (request.block_size, cell.block_sizes, "block_sizes"),
        (request.query_heads, cell.query_heads, "query_heads"),
        (request.topk, cell.topk, "topk"),
    ):
        if value is not None:
            taken = value in allowed  # type: ignore[operator]
            answers.append(None if taken and axis in cell.unknown else taken)
    wanted = [*request.features, *(["attention_sink"] if request.sink else [])]
    for feature in wanted:
        answers.append(None if feature in cell.unknown_features else feature in cell.features)
    kernel: list[bool | None] = []
    for name, version in request.libraries:
        for versions, found in ((cell.engines, answers), (cell.versions, kernel)):
            text = (versions or {}).get(name)
            if text is not None:
                found.append(
                    {"any": True, "none": False, "unknown": None}[text]
                    if text in ("any", "none", "unknown")
                    else Specifier(text).contains(version)  # type: ignore[arg-type]
                )
    if kernel:
        answers.append(True if True in kernel else None if None in kernel else False)
    return False if False in answers else None if None in answers else True


requests = st.builds(
    Request,
    compute_capability=st.none() | st.sampled_from(CAPABILITIES),
    dtype=st.none() | st.sampled_from(["float16", "bfloat16", "float32"]),
    kv_cache_dtype=st.none() | st.sampled_from(SPELLINGS),
    head_size=st.none() | st.sampled_from([64, 320, 512, 576]),
    block_size=st.none() | st.sampled_from([1, 16, 32, 64, 100, 128, 256]),
    query_heads=st.none() | st.sampled_from([1, 8, 16, 24, 64, 96, 128, 192]),
    topk=st.none() | st.sampled_from([1, 64, 100, 512, 2048]),
    sink=st.none() | st.booleans(),
    phase=st.sampled_from(["decode", "decode", "prefill"]),
    features=st.lists(st.sampled_from(["strided_pages", "topk_length", "lse"]), max_size=2),
    libraries=st.sampled_from(
        [
            None,
            {"vllm": "0.33.0"},
            {"vllm": "0.24.0", "flashinfer-python": "0.7.4"},
            {"flashinfer-python": "0.7.4"},
            {"sglang-kernel": "0.4.10", "vllm": "0.1"},
        ]
    ),
)


@settings(max_examples=400)
@given(requests, st.sampled_from(BACKENDS))
def test_the_verdict_is_that_of_the_cells(
    request: Request, backend: type[attnmatrix.Backend]
) -> None:
    answers = [answer(cell, request) for cell in backend.cells]
    expected = "supported" if True in answers else "unknown" if None in answers else "unsupported"
    verdict = judge(backend, request)
    assert verdict.status == expected
    assert bool(verdict) == (expected == "supported")
    assert (verdict.reasons == ()) == (expected == "supported")


def first_value(accepted: object) -> object:
    """A value that a description accepts: itself, or a number out of words such as
    'multiples of 64 from 128' or '17 to 31'."""
    if not isinstance(accepted, str):
        return accepted
    words = accepted.split()
    if re.fullmatch(r"\d+\.x", accepted):
        return accepted.replace("x", "0")
    if words[1:2] == ["to"]:
        return int(words[0])
    if words[0] in ("any", "multiples"):
        if "from" in words:
            return int(words[words.index("from") + 1])
        return int(words[2]) if words[0] == "multiples" else 1
    return accepted


FIXABLE = (
    "compute_capability",
    "dtype",
    "kv_cache_dtype",
    "head_size",
    "block_size",
    "query_heads",
    "topk",
    "sink",
)


@settings(max_examples=300)
@given(requests, st.sampled_from(BACKENDS))
def test_a_refusal_names_what_would_be_accepted(
    request: Request, backend: type[attnmatrix.Backend]
) -> None:
    """Any choice among the accepted values, one for every failing field, is no longer refused."""
    verdict = judge(backend, request)
    if verdict.status != "unsupported" or not all(r.field in FIXABLE for r in verdict.reasons):
        return
    choices = []
    for reason in verdict.reasons:
        values = [first_value(a) for a in reason.accepted] or [None]
        choices.append([(reason.field, value) for value in values])
    for choice in itertools.product(*choices):
        assert judge(backend, request.replace(**dict(choice))).status != "unsupported", choice


def made_up(*cells: Cell) -> type[attnmatrix.Backend]:
    return type(
        "MadeUp",
        (attnmatrix.Backend,),
        {
            "name": "MADE_UP",
            "summary": "",
            "mla": True,
            "sparse": True,
            "cells": cells,
            "supported_kv_cache_dtypes": (),
        },
    )


def cell(**changes: object) -> Cell:
    plain: dict[str, object] = {
        "phase": "decode",
        "compute_capability": ("9.0",),
        "kernel": "k",
        "spellings": ("fp8",),
        "kv_cache_dtype": "fp8",
        "kv_format": "f",
        "dtypes": ("bfloat16",),
    }
    return Cell(**{**plain, **changes})  # type: ignore[arg-type]


def test_an_axis_that_nobody_has_established_is_unknown() -> None:
    backend = made_up(cell(unknown=("query_heads",), unknown_features=("attention_sink",)))
    assert judge(backend, compute_capability="9.0").status == "supported"
    verdict = judge(backend, compute_capability="9.0", query_heads=8, sink=True)
    assert verdict.status == "unknown"
    assert [reason.field for reason in verdict.reasons] == ["query_heads", "sink"]
    assert all("nobody has established" in reason.message for reason in verdict.reasons)
    assert judge(backend, compute_capability="10.0", query_heads=8).status == "unsupported"


def test_a_sure_cell_outweighs_an_unknown_one() -> None:
    unknown = cell(unknown=("query_heads",), kernel="unsure")
    sure = cell(query_heads=IntSet([64]), kernel="sure")
    verdict = judge(made_up(unknown, sure), query_heads=64)
    assert (verdict.status, verdict.kernel) == ("supported", "sure")
    assert judge(made_up(unknown, sure), query_heads=8).status == "unknown"


def test_a_refusal_is_about_the_nearest_cell() -> None:
    """The GPU cannot be changed, so cells for it are nearer than those that take the rest."""
    backend = made_up(
        cell(compute_capability=("10.x",), spellings=("bfloat16",), dtypes=("bfloat16",)),
        cell(compute_capability=("9.0",), spellings=("fp8",), dtypes=("bfloat16", "float16")),
    )
    (reason,) = judge(backend, compute_capability="9.0", kv_cache_dtype="bfloat16").reasons
    assert (reason.field, reason.accepted) == ("kv_cache_dtype", ("fp8",))


def test_known_failures_are_told() -> None:
    backend = made_up(cell())
    backend.refusals = (cell(spellings=("int8",), refuses="it aborts the process"),)
    assert judge(backend, kv_cache_dtype="int8").notes == ("k: it aborts the process",)
    assert judge(backend, kv_cache_dtype="int4").notes == ()


def test_what_is_remembered_stays_bounded() -> None:
    backend = made_up(cell(block_sizes=IntSet(multiples=[Multiples(64)])))
    for size in range(1, 10_000):
        assert judge(backend, block_size=size).status == (
            "unsupported" if size % 64 else "supported"
        )
    assert max(len(table) for table in backend.index().tables) <= 4096


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda b: b.name)
def test_engine_names(backend: type[attnmatrix.Backend]) -> None:
    """The names of an engine's AttentionBackend answer as the verdict does."""
    assert backend.get_name() == backend.name
    assert backend.is_mla() == (backend.mla is not False)
    for size in backend.get_supported_head_sizes():
        assert backend.supports_head_size(size)
    for spelling in backend.supported_kv_cache_dtypes:
        assert backend.supports_kv_cache_dtype(spelling)
    assert not backend.supports_kv_cache_dtype("fp8_inc")
    for dtype in backend.supported_dtypes:
        assert backend.supports_dtype(dtype)
    for block in backend.get_supported_kernel_block_sizes():
        assert backend.supports_block_size(getattr(block, "base", block))
    assert backend.supports_sink() == (judge(backend, sink=True).status == "supported")
    for capability in CAPABILITIES:
        assert backend.validate_configuration(device_capability=capability) == [
            reason.message for reason in judge(backend, compute_capability=capability).reasons
        ]
        takes = backend.get_supported_kv_cache_dtypes(capability)
        assert bool(takes) == backend.supports_compute_capability(capability)


def test_requests_and_verdicts_travel() -> None:
    """Engines copy configurations and send them to workers."""
    libraries = {"vllm": "0.33.0rc1+cu130", "sglang-kernel": attnmatrix.Absent()}
    request = Request(gpu="H200", kv_cache_dtype="bf16", libraries=libraries, features=["lse"])
    verdict = judge("FLASHMLA_SPARSE_DSV4", request)
    for travel in (copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
        assert travel(request) == request
        assert hash(travel(request)) == hash(request)
        assert travel(verdict) == verdict
        assert hash(travel(verdict)) == hash(verdict)
        assert travel(verdict).to_json() == verdict.to_json()


def test_what_is_shared_cannot_be_changed() -> None:
    backend = attnmatrix.get_backend("FLASHMLA_SPARSE_DSV4")
    shared = backend.cells[0]
    with pytest.raises(TypeError):
        shared.versions["vllm"] = ">=99"  # type: ignore[index]
    for value, name in ((shared, "dtypes"), (shared.topk, "values"), (ANY, "multiples")):
        with pytest.raises(AttributeError):
            setattr(value, name, ())


def test_a_request_or_its_fields() -> None:
    with pytest.raises(TypeError, match="not both"):
        judge("FLASHMLA", Request(), gpu="B200")
    assert len(attnmatrix.explain("FLASHMLA")) == 1
    assert attnmatrix.explain([]) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"gpu": 5},
        {"libraries": ["vllm"]},
        {"libraries": {5: "1"}},
        {"libraries": {"flash_mla": "1", "flash-mla": "1"}},
        {"features": 5},
        {"compute_capability": 90},
        {"kv_cache_dtype": ""},
        {"dtype": "a b"},
        {"head_size": True},
        {"sink": 1},
    ],
    ids=str,
)
def test_what_cannot_be_read_is_one_kind_of_error(fields: dict[str, object]) -> None:
    with pytest.raises(attnmatrix.RequestError) as error:
        Request(**fields)  # type: ignore[arg-type]
    assert error.value.field in fields


def test_a_backend_that_does_both_answers_by_its_rows() -> None:
    """Features of sparse attention are not those of dense attention, and the other way round."""
    for sparse, feature, status in (
        (True, "extra_kv_pool", "supported"),
        (False, "extra_kv_pool", "unsupported"),
        (True, "causal", "unsupported"),
        (False, "causal", "supported"),
    ):
        assert judge("REFERENCE", sparse=sparse, features=[feature]).status == status
    assert judge("REFERENCE", sparse=False, topk=64).status == "unsupported"
