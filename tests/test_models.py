"""Models: names people type, what they fill in, what their KV cache takes."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

import attnmatrix
from attnmatrix import Request, RequestError, get_model, judge, model_names, select
from attnmatrix.cli import main


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("DeepSeek-V3", "DeepSeek-V3"),
        ("deepseek-ai/DeepSeek-R1", "DeepSeek-V3"),
        ("deepseek v3.2", "DeepSeek-V3.2"),
        ("GLM_5.1", "GLM-5"),
        ("moonshotai/Kimi-K2-Instruct", "Kimi-K2"),
    ],
)
def test_names_as_people_type_them(typed: str, name: str) -> None:
    assert get_model(typed).name == name


def test_an_unknown_name_is_refused_with_the_known() -> None:
    with pytest.raises(RequestError, match=r"did you mean 'DeepSeek-V4-Pro'.*known: DeepSeek-V3,"):
        get_model("DeepSeek-V4-Prp")
    with pytest.raises(RequestError, match="not a name"):
        get_model(4)  # type: ignore[arg-type]


def test_a_model_fills_in_what_is_not_named() -> None:
    request = Request(model="DeepSeek-V4-Flash", tensor_parallel=8)
    assert (request.dtype, request.head_size, request.query_heads) == ("bfloat16", 512, 8)
    assert (request.mla, request.sparse, request.sink, request.topk) == (True, True, True, 512)
    assert request.block_size is None
    dense = Request(model="DeepSeek-V3")
    assert (dense.query_heads, dense.sparse, dense.topk) == (128, False, None)


def test_an_explicit_value_wins() -> None:
    request = Request(model="DeepSeek-V4-Flash", sink=False, query_heads=3, head_size=576)
    assert (request.sink, request.query_heads, request.head_size) == (False, 3, 576)


def test_replacing_the_model_refills_and_keeps_what_was_named() -> None:
    request = Request(model="DeepSeek-V4-Flash", tensor_parallel=8, dtype="float16")
    other = request.replace(model="DeepSeek-V3")
    assert other == Request(model="DeepSeek-V3", tensor_parallel=8, dtype="float16")
    assert (other.query_heads, other.dtype, other.topk) == (16, "float16", None)
    assert request.replace(model=None, tensor_parallel=None) == Request(dtype="float16")
    assert "head_size" not in repr(request)
    for copied in (copy.copy(request), pickle.loads(pickle.dumps(request))):
        assert copied == request
        assert copied.replace(tensor_parallel=16).query_heads == 4


def test_heads_are_shared_equally() -> None:
    with pytest.raises(RequestError, match="3 GPUs cannot share the 64 query heads"):
        Request(model="Kimi-K2", tensor_parallel=3)
    with pytest.raises(RequestError, match="name one"):
        Request(tensor_parallel=8)
    for odd in (0, -1, True):
        with pytest.raises(RequestError, match="positive whole number"):
            Request(model="Kimi-K2", tensor_parallel=odd)


@pytest.mark.parametrize(
    ("fields", "selected"),
    [
        ({"gpu": "H200", "model": "DeepSeek-R1"}, "FLASH_ATTN_MLA"),
        ({"gpu": "H200", "model": "DeepSeek-V3.2"}, "FLASH_ATTN_MLA_SPARSE"),
        ({"gpu": "H200", "model": "DeepSeek-V3.2", "kv_cache_dtype": "fp8"}, "FLASHMLA_SPARSE"),
        ({"gpu": "H200", "model": "DeepSeek-V4-Pro"}, "FLASHMLA_SPARSE_DSV4"),
        ({"gpu": "H200", "model": "DeepSeek-V4.1-Flash"}, "FLASHMLA_SPARSE_DSV41"),
        ({"gpu": "H200", "model": "GLM-5.3-Flash"}, "FLASHINFER_MLA_SPARSE_SM90"),
        ({"gpu": "B200", "model": "Kimi-K2.6", "tensor_parallel": 8}, "FLASHINFER_MLA"),
        (
            {"gpu": "RTX PRO 6000", "model": "DeepSeek-V4-Flash", "kv_cache_dtype": "fp8"},
            "FLASHINFER_MLA_SPARSE_DSV4",
        ),
        ({"gpu": "A100", "model": "DeepSeek-R1"}, "TRITON_MLA"),
        ({"gpu": "A100", "model": "DeepSeek-V3.2"}, None),
    ],
)
def test_the_backend_of_a_model(fields: dict[str, object], selected: str | None) -> None:
    found = select(**fields).selected
    assert (found and found.name) == selected


def test_only_a_model_s_own_backends_are_tried() -> None:
    selection = select(gpu="B200", model="DeepSeek-V4.1-Flash")
    own = {"FLASHMLA_SPARSE_DSV41", "FLASHINFER_MLA_SPARSE_DSV41", "FLASHMLA_MEGA_ATTN_DSV41"}
    assert {verdict.backend.name for verdict in selection.candidates} == own
    assert selection.unranked == ()


@pytest.mark.parametrize("name", model_names())
def test_every_model_runs_somewhere(name: str) -> None:
    assert any(
        select(model=name, tensor_parallel=gpus, gpu=gpu, kv_cache_dtype=spelling).selected
        for gpu in ("H200", "B200")
        for spelling in ("auto", "fp8")
        for gpus in (1, 4)
    )


def test_kv_memory_is_that_of_the_layers_rows() -> None:
    # 61 layers x (512 + 64) elements x 2 B, the 70 KB a token of DeepSeek-V3's report.
    assert get_model("DeepSeek-V3").kv_cache_bytes(1, 1152) == 70_272
    assert get_model("DeepSeek-V3").kv_cache_bytes(1000, 656) == 61 * 656 * 1000
    # 43 windows of 128 tokens, 21 layers of one record for 4 tokens, 20 of one for 128.
    flash = get_model("DeepSeek-V4-Flash")
    assert flash.kv_cache_bytes(4096, 584) == (43 * 128 + 21 * 1024 + 20 * 32) * 584
    assert flash.kv_cache_bytes(100, 584) == (43 * 100 + 21 * 25) * 584
    assert flash.kv_cache_bytes(128, 584, 288) == 43 * 128 * 584 + (21 * 32 + 20) * 288
    assert get_model("Kimi-Linear").kv_cache_bytes(10, 1152) == 7 * 10 * 1152


def test_the_command_takes_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["select", "--model", "DeepSeek-V3.2", "--gpu", "H200", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["selected"] == "FLASH_ATTN_MLA_SPARSE"
    arguments = ["--model", "deepseek-v4-flash", "--tensor-parallel", "8", "--gpu", "H200"]
    assert main(["explain", "FLASHMLA_SPARSE_DSV4", *arguments]) == 0
    assert "query heads: 8, padded to 64" in capsys.readouterr().out
    assert main(["explain", "--model", "DeepSeek-V5"]) == 2
    assert "--model: 'DeepSeek-V5' is not in the matrix" in capsys.readouterr().err
    assert main(["explain", "--model", "Kimi-K2", "--tensor-parallel", "3"]) == 2
    assert "--tensor-parallel: 3 GPUs cannot share" in capsys.readouterr().err


def test_a_model_s_field_can_fail() -> None:
    (reason,) = judge("FLASHMLA", gpu="H200", model="DeepSeek-V3.2", sparse=False).reasons
    assert (reason.field, reason.value) == ("topk", 2048)
    assert attnmatrix.Model.__doc__
