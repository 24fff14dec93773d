"""What went wrong for users of such matrices, each as a question with the right answer.

Numbers are those of the list of cases that this project began with.
"""

from __future__ import annotations

import pytest

import attnmatrix
from attnmatrix import Absent, Request, judge

DSV4 = {"mla": True, "sparse": True, "head_size": 512, "block_size": 256, "dtype": "bfloat16"}


def accepted(backend: str, field: str, **request: object) -> list[object]:
    """What the one reason of a refusal accepts."""
    verdict = judge(backend, **request)  # type: ignore[arg-type]
    assert verdict.status == "unsupported"
    (reason,) = verdict.reasons
    assert reason.field == field
    return list(reason.accepted)


# 1. vLLM PR 44892


@pytest.mark.parametrize("capability", ["9.0", "10.0", "10.3"])
def test_1_flashmla_dsv4_takes_no_bfloat16_cache(capability: str) -> None:
    request = {**DSV4, "compute_capability": capability, "kv_cache_dtype": "bfloat16"}
    names = accepted("FLASHMLA_SPARSE_DSV4", "kv_cache_dtype", **request)
    assert sorted(map(str, names)) == ["auto", "fp8", "fp8_ds_mla"]


@pytest.mark.parametrize("capability", ["10.0", "10.3"])
def test_1_flashinfer_dsv4_takes_a_plain_cache_on_sm100(capability: str) -> None:
    request = {**DSV4, "compute_capability": capability}
    names = accepted(
        "FLASHINFER_MLA_SPARSE_DSV4", "kv_cache_dtype", **request, kv_cache_dtype="fp8_ds_mla"
    )
    assert {"auto", "bfloat16", "fp8"} <= set(names)
    for name, kv_format in (("auto", "bf16_512"), ("bfloat16", "bf16_512"), ("fp8", "e4m3_512")):
        verdict = judge("FLASHINFER_MLA_SPARSE_DSV4", **request, kv_cache_dtype=name)
        assert (verdict.status, verdict.kv_format) == ("supported", kv_format)


@pytest.mark.parametrize("capability", ["12.0", "12.1"])
def test_1_but_the_packed_record_on_sm120(capability: str) -> None:
    request = {**DSV4, "compute_capability": capability, "kv_cache_dtype": "fp8_ds_mla"}
    verdict = judge("FLASHINFER_MLA_SPARSE_DSV4", **request)
    assert (verdict.status, verdict.bytes_per_token) == ("supported", 584)


# 2. Resolving comes before judging, and resolving what was resolved changes nothing


def test_2_auto_means_what_the_backend_stores() -> None:
    flashmla = attnmatrix.get_backend("FLASHMLA_SPARSE_DSV4")
    flashinfer = attnmatrix.get_backend("FLASHINFER_MLA_SPARSE_DSV4")
    assert flashmla.resolve_kv_cache_dtype("auto", "9.0") == "fp8_ds_mla"
    assert flashinfer.resolve_kv_cache_dtype("auto", "10.0") == "bfloat16"
    assert flashinfer.resolve_kv_cache_dtype("fp8", "10.0") == "fp8_e4m3"
    assert flashinfer.resolve_kv_cache_dtype("fp8", "12.0") == "fp8_ds_mla"


def test_2_auto_follows_the_model_where_the_backend_does() -> None:
    flashmla = attnmatrix.get_backend("FLASHMLA")
    assert flashmla.resolve_kv_cache_dtype("auto", "9.0", "bfloat16") == "bfloat16"
    assert flashmla.resolve_kv_cache_dtype("auto", "9.0", "float16") == "float16"
    assert flashmla.resolve_kv_cache_dtype("auto", "9.0") is None


@pytest.mark.parametrize("name", attnmatrix.backend_names())
def test_2_resolving_is_idempotent(name: str) -> None:
    backend = attnmatrix.get_backend(name)
    for capability in ("none", "9.0", "10.0", "12.0"):
        gpu = {"gpu": "none"} if capability == "none" else {"compute_capability": capability}
        for spelling in backend.supported_kv_cache_dtypes:
            for size in backend.get_supported_head_sizes()[-2:] or (576,):
                request = Request(**gpu, kv_cache_dtype=spelling, head_size=size, dtype="bfloat16")  # type: ignore[arg-type]
                once = judge(backend, request)
                if once.status == "unsupported" or once.kv_cache_dtype is None:
                    continue
                twice = judge(backend, request.replace(kv_cache_dtype=once.kv_cache_dtype))
                assert twice.status == once.status
                assert (twice.kv_cache_dtype, twice.kv_format) == (
                    once.kv_cache_dtype,
                    once.kv_format,
                )


# 3. The caller's object stays as it was


def test_3_a_request_never_changes() -> None:
    libraries = {"vllm": "0.33.0"}
    request = Request(**DSV4, gpu="H200", kv_cache_dtype="auto", libraries=libraries)  # type: ignore[arg-type]
    before = (repr(request), dict(libraries))
    attnmatrix.explain(request=request)
    attnmatrix.select(request)
    assert (repr(request), libraries) == before
    with pytest.raises(AttributeError):
        request.kv_cache_dtype = "fp8_ds_mla"


# 4. Each accepted spelling has a supported cell, or is refused with the list

VLLM_SPELLINGS = (
    "auto float16 bfloat16 fp8 fp8_e4m3 fp8_e5m2 fp8_inc fp8_ds_mla nvfp4_ds_mla turboquant_k8v4 "
    "turboquant_4bit_nc turboquant_k3v4_nc turboquant_3bit_nc octave_k3v4 octave_k3v3 "
    "octave_k3v3_compact ultraquant_4bit int4_per_token_head int8_per_token_head "
    "fp8_per_token_head nvfp4 nvfp4_4over6"
).split()


@pytest.mark.parametrize("name", attnmatrix.backend_names())
def test_4_every_spelling_is_taken_or_refused_with_the_list(name: str) -> None:
    for spelling in VLLM_SPELLINGS:
        verdict = judge(name, kv_cache_dtype=spelling)
        if verdict.status == "unsupported":
            (reason,) = verdict.reasons
            assert reason.accepted
            for other in reason.accepted:
                assert judge(name, kv_cache_dtype=other).status != "unsupported"


# 7, 9. Bytes


def test_7_pages_are_counted_in_stored_bytes() -> None:
    assert 512 * attnmatrix.get_kv_format("ds_mla_v32").page_bytes(64) == 21_495_808


def test_7_a_v4_page_is_rounded_up_to_576() -> None:
    assert attnmatrix.get_kv_format("ds_mla_v4").page_bytes(64) == 37_440
    assert attnmatrix.get_kv_format("ds_mla_v4").page_bytes(256) == 149_760


def test_9_a_plain_row_of_576_elements() -> None:
    plain = attnmatrix.get_kv_format("bf16_576")
    assert (plain.head_size, plain.bytes_per_token) == (576, 1152)


# 8. Strided pages are a property of the kernel


def test_8_strided_pages_are_asked_of_the_kernel() -> None:
    verdict = judge("FLASHMLA_SPARSE_DSV4", **DSV4, gpu="H200", features=["strided_pages"])
    assert verdict.status == "supported"


# 10. GPUs


def test_10_capabilities_are_not_decimals() -> None:
    sm120 = attnmatrix.get_backend("FLASHINFER_MLA_SPARSE_SM120")
    flashmla = attnmatrix.get_backend("FLASHMLA_SPARSE_DSV4")
    assert sm120.supports_compute_capability("12.0")
    assert not sm120.supports_compute_capability("9.0")
    assert not flashmla.supports_compute_capability("12.0")
    assert flashmla.supports_compute_capability("10.3")
    assert flashmla.supports_compute_capability("9.0a")


# 11. Query heads


@pytest.mark.parametrize(
    ("heads", "called"), [(1, 64), (16, 64), (64, None), (96, 128), (128, None)]
)
def test_11_few_heads_are_padded_visibly(heads: int, called: int | None) -> None:
    verdict = judge("FLASHMLA_SPARSE_DSV4", **DSV4, gpu="H200", query_heads=heads)
    assert (verdict.status, verdict.padded_query_heads) == ("supported", called)


def test_11_more_heads_than_the_kernel_has_are_refused() -> None:
    assert accepted("FLASHMLA_SPARSE_DSV4", "query_heads", **DSV4, gpu="H200", query_heads=192) == [
        "1 to 128"
    ]


# 12. Library versions


def test_12_versions_are_compared_by_number() -> None:
    (reason,) = judge(
        "FLASHINFER_MLA_SPARSE_DSV4", **DSV4, gpu="B200", libraries={"flashinfer-python": "0.6.9"}
    ).reasons
    assert "too old (has 0.6.9, needs" in reason.message
    later = judge(
        "FLASHINFER_MLA_SPARSE_DSV4", **DSV4, gpu="B200", libraries={"flashinfer-python": "0.6.14"}
    )
    assert later.status == "supported"


def test_12_an_engine_must_have_the_backend_too() -> None:
    """The kernel library is new enough, but the engine's release does not have the backend."""
    libraries = {"vllm": "0.24.0", "flashinfer-python": "0.7.4"}
    (reason,) = judge("FLASHINFER_MLA_SPARSE_DSV41", gpu="B200", libraries=libraries).reasons
    assert reason.message.startswith(
        "vllm is too old (has 0.24.0, needs >=0.30) for FLASHINFER_MLA_SPARSE_DSV41"
    )
    libraries["vllm"] = "0.30.0"
    assert judge("FLASHINFER_MLA_SPARSE_DSV41", gpu="B200", libraries=libraries)


def test_12_absence_has_reasons_of_its_own() -> None:
    for absent, words in (
        (Absent(), "not installed: install flashinfer-python"),
        (Absent("failed to import (libcudart.so.13)"), "failed to import (libcudart.so.13)"),
    ):
        verdict = judge(
            "FLASHINFER_MLA_SPARSE_DSV4", gpu="B200", libraries={"flashinfer-python": absent}
        )
        assert verdict.status == "unsupported"
        assert words in verdict.reasons[0].message


# 13. No stale caching


def test_13_two_calls_under_other_versions_answer_anew() -> None:
    answers = [
        judge("FLASHMLA_SPARSE_DSV4", gpu="H200", libraries={"vllm": version}).status
        for version in ("0.33.0", "0.1.0", "0.33.0")
    ]
    assert answers == ["supported", "unsupported", "supported"]


# 14. Every failing field, with what is accepted and what to do


def test_14_all_reasons_at_once() -> None:
    verdict = judge(
        "FLASHMLA_SPARSE_DSV4",
        gpu="A100",
        dtype="float16",
        kv_cache_dtype="bfloat16",
        head_size=576,
        block_size=100,
        query_heads=200,
        topk=100,
        sparse=False,
        libraries={"vllm": "0.1"},
    )
    assert [reason.field for reason in verdict.reasons] == [
        "sparse",
        "compute_capability",
        "kv_cache_dtype",
        "dtype",
        "head_size",
        "block_size",
        "query_heads",
        "topk",
        "engine",
        "libraries",
    ]
    for reason in verdict.reasons:
        assert reason.accepted
        if not isinstance(reason.accepted[0], bool):
            assert str(reason.accepted[0]).split(">=")[0] in reason.message


def test_14_a_misspelling_is_answered_with_the_nearest() -> None:
    (reason,) = judge("FLASHMLA_SPARSE_DSV4", kv_cache_dtype="fp8_dsmla").reasons
    assert "did you mean 'fp8_ds_mla'" in reason.message


# 15. One function answers: dense FlashMLA is for Hopper alone


def test_15_dense_flashmla_is_hopper_only() -> None:
    backend = attnmatrix.get_backend("FLASHMLA")
    assert backend.supports_compute_capability("9.0")
    assert not backend.supports_compute_capability("10.0")
    assert any("compute_capabilities" in text for text in backend.differs)
