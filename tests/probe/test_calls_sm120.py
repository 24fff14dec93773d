"""FlashInfer's calls for packed records on 12.x, made to a stand-in."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from attnmatrix.probe.callers import examine, flashinfer, flashinfer_sm120
from attnmatrix.probe.case import Answer, Case
from tests.probe import stand_ins_sm120

V4 = Case("flashinfer.sparse_mla_sm120", "ds_mla_v4", "bfloat16", 512, 8, 64, 64)
V32 = V4._replace(kv_format="ds_mla_v32", head_size=576)
ALL = ("attention_sink", "extra_kv_pool", "strided_pages", "topk_length")


@pytest.fixture(autouse=True)
def _library(monkeypatch: pytest.MonkeyPatch) -> None:
    found = (stand_ins_sm120.flashinfer_mla(), "0.7.4")
    monkeypatch.setattr(flashinfer, "find_flashinfer", lambda: found)
    monkeypatch.setattr(flashinfer_sm120, "workspace", lambda device: torch.zeros(1))


def ask(case: Case) -> Answer:
    return examine(case, ("flashinfer-python", "0.7.4"), "cpu")


def both(main: str, extra: str, **axes: Any) -> Case:
    return V4._replace(kv_format=main, extra_kv_format=extra, features=ALL, **axes)


@pytest.mark.parametrize(
    "case",
    [
        V4,
        V4._replace(kernel="flashinfer.sparse_mla_sm120_prefill"),
        both("ds_mla_v4", "ds_mla_v4"),
        both("ds_mla_v4_nvfp4", "ds_mla_v4_nvfp4"),
        V4._replace(kv_format="ds_mla_v41_footer"),
        both("ds_mla_v41_footer", "ds_mla_v41_footer", page_size=3),
        both("ds_mla_v41_footer", "ds_mla_v41_fp4_footer"),
        V4._replace(kv_format="ds_mla_v41_inline"),
        both("ds_mla_v41_inline", "ds_mla_v41_inline", page_size=3),
        both("ds_mla_v41_inline", "ds_mla_v41_fp4_inline"),
        V32,
        V32._replace(features=("attention_sink", "lse", "strided_pages", "topk_length")),
        V32._replace(kv_format="ds_mla_v32_nope", head_size=512, features=("lse",)),
        V32._replace(kv_format="ds_mla_v32_nope_656", head_size=512),
    ],
    ids=Case.key,
)
def test_a_right_library_is_right(case: Case) -> None:
    answer = ask(case)
    assert answer.outcome == "right", answer
    assert answer.error is not None
    assert answer.error < 3e-3


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (V4._replace(kv_format="bf16_512"), "expected 584 bytes"),
        (V4._replace(kv_format="ds_mla_v41_fp4_inline"), "expected 584 bytes"),
        (V4._replace(dtype="float16"), "BF16 query"),
        (V4._replace(features=("lse",)), "the library's call returns no LSE"),
        (V32._replace(head_size=512), "BF16 query of 512|expected 584 bytes"),
        (
            V32._replace(features=("extra_kv_pool",), extra_kv_format="ds_mla_v32"),
            "no argument for an extra KV pool",
        ),
    ],
)
def test_what_it_does_not_take_is_refused(case: Case, words: str) -> None:
    answer = ask(case)
    assert answer.outcome == "refused", answer
    assert any(word in str(answer.message) for word in words.split("|"))
