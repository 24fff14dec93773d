"""Selection by priority: engines' own order, and nothing replaced in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

import attnmatrix
from attnmatrix import Request, select
from attnmatrix.cli import main
from attnmatrix.generated.priorities import PRIORITIES
from attnmatrix.selection import Rule, candidate_backends
from tests.sources import EXAMPLES


def names(request: Request) -> list[str]:
    return [backend.name for backend in candidate_backends(request)]


@pytest.mark.parametrize(
    ("fields", "selected"),
    [
        ({"gpu": "H200", "sparse": False, "head_size": 576}, "FLASH_ATTN_MLA"),
        ({"gpu": "H200", "sparse": False, "head_size": 576, "kv_cache_dtype": "fp8"}, "FLASHMLA"),
        ({"gpu": "H200", "sparse": True, "head_size": 576}, "FLASH_ATTN_MLA_SPARSE"),
        (
            {"gpu": "H200", "sparse": True, "head_size": 576, "kv_cache_dtype": "fp8"},
            "FLASHMLA_SPARSE",
        ),
        (
            {"gpu": "H200", "sparse": True, "head_size": 512, "block_size": 256},
            "FLASHMLA_SPARSE_DSV4",
        ),
        ({"gpu": "B200", "sparse": False, "head_size": 576}, "FLASHINFER_MLA"),
        ({"gpu": "B200", "sparse": True, "head_size": 576, "query_heads": 128}, "FLASHMLA_SPARSE"),
        (
            {"gpu": "B200", "sparse": True, "head_size": 576, "query_heads": 16, "sink": False},
            "FLASHINFER_MLA_SPARSE",
        ),
        (
            {"gpu": "B200", "sparse": True, "head_size": 576, "kv_cache_dtype": "fp8"},
            "FLASHINFER_MLA_SPARSE",
        ),
        ({"gpu": "RTX 5090", "sparse": True, "head_size": 576}, "FLASHINFER_MLA_SPARSE_SM120"),
        ({"gpu": "none"}, "REFERENCE"),
        ({"gpu": "A100"}, "TRITON_MLA"),
        ({"gpu": "A100", "sparse": True}, None),
        ({"gpu": "rocm", "sparse": False}, "TRITON_MLA"),
        ({"gpu": "xpu", "sparse": True, "head_size": 576}, "XPU_MLA_SPARSE"),
    ],
)
def test_an_engine_s_order(fields: dict[str, object], selected: str | None) -> None:
    found = select(mla=True, **fields).selected
    assert (found and found.name) == selected


@pytest.mark.parametrize(
    ("fields", "selected"),
    [
        ({"gpu": "H200", "head_size": 128}, "FLASH_ATTN"),
        ({"gpu": "H200", "head_size": 128, "kv_cache_dtype": "fp8_e5m2"}, "FLASHINFER"),
        ({"gpu": "H200", "head_size": 96, "kv_cache_dtype": "fp8_e5m2"}, "TRITON_ATTN"),
        ({"gpu": "H200", "head_size": 24, "dtype": "float32"}, "FLEX_ATTENTION"),
        ({"gpu": "A100", "head_size": 128, "sink": True}, "TRITON_ATTN"),
        ({"gpu": "B200", "head_size": 128}, "FLASHINFER"),
        ({"gpu": "B200", "head_size": 96}, "FLASH_ATTN"),
        ({"gpu": "L40S", "kv_cache_dtype": "turboquant_k8v4"}, "TURBOQUANT"),
        ({"gpu": "T4", "head_size": 128, "dtype": "bfloat16"}, None),
        ({"gpu": "none", "head_size": 128}, "CPU_ATTN"),
        ({"gpu": "rocm", "head_size": 128, "sink": True}, "TRITON_ATTN"),
        ({"gpu": "xpu", "head_size": 512}, "FLASH_ATTN"),
    ],
)
def test_the_order_without_mla(fields: dict[str, object], selected: str | None) -> None:
    found = select(mla=False, sparse=False, **fields).selected
    assert (found and found.name) == selected


def test_a_condition_on_what_is_not_named_waits_for_a_rule_without_it() -> None:
    """16 heads or fewer change the order on 10.x; a request that names no heads is not such."""
    found = names(Request(gpu="B200", head_size=576))
    assert found.index("FLASHMLA_SPARSE") < found.index("FLASHINFER_MLA_SPARSE")
    few = names(Request(gpu="B200", head_size=576, query_heads=16))
    assert few.index("FLASHINFER_MLA_SPARSE") < few.index("FLASHMLA_SPARSE")


def test_every_candidate_is_judged_and_the_passed_over_say_why() -> None:
    selection = select(gpu="H200", mla=True, sparse=True, head_size=512, block_size=256)
    assert selection.selected is attnmatrix.get_backend("FLASHMLA_SPARSE_DSV4")
    before = selection.candidates[
        : [v.backend for v in selection.candidates].index(selection.selected)
    ]
    assert before
    assert all(verdict.reasons for verdict in before)


def test_a_rule_fits_only_what_it_does_not_contradict() -> None:
    rule = Rule(when={"compute_capability": ("10.x",), "mla": True}, order=("REFERENCE",))
    assert rule.fits(Request(gpu="B200", mla=True)) is True
    assert rule.fits(Request(gpu="B200")) is None
    assert rule.fits(Request(gpu="B200", mla=False)) is False


def test_what_no_priority_lists_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    selection = select(gpu="A100", mla=True, sparse=True)
    assert [backend.name for backend in selection.unranked] == ["REFERENCE"]
    assert main(["select", "--gpu", "A100", "--mla", "--sparse"]) == 1
    assert "in no priority for such a request: REFERENCE" in capsys.readouterr().out


def test_reference_is_never_picked_for_a_gpu() -> None:
    for rule in PRIORITIES:
        if "REFERENCE" in rule.order:
            assert rule.when == {"compute_capability": ("none",)}


def test_unknown_backends_are_refused_with_the_list() -> None:
    with pytest.raises(attnmatrix.UnknownName) as error:
        attnmatrix.judge("FLASHMLA_SPARSE_DSV5")
    assert "FLASHMLA_SPARSE_DSV4" in str(error.value)


def test_another_repository_s_matrix_judges_by_its_own_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """GPUs, distributions and priorities are those of the package that the classes come from."""
    text = (EXAMPLES / "base.yaml").read_text(encoding="utf-8")
    source = tmp_path / "theirs.yaml"
    source.write_text(text.replace('H200: "9.0"', 'MyGPU: "9.0"'), encoding="utf-8")
    package = "theirs_of_test_selection"
    assert main(["gen", "--source", str(source), "--out", str(tmp_path / package)]) == 0
    monkeypatch.syspath_prepend(str(tmp_path))
    matrix = f"{package}.generated"
    alpha = attnmatrix.get_backend("ALPHA", matrix)
    assert alpha.judge(gpu="MyGPU", libraries={"fastlib": "1.3"})
    assert alpha.judge(gpu="H200"), "GPUs that it does not name are the built-in ones"
    assert not alpha.judge(gpu="MyGPU", libraries={"fastlib": "1.0"})
    assert attnmatrix.judge("ALPHA", gpu="MyGPU", matrix=matrix)
    assert select(matrix=matrix, gpu="MyGPU").selected is alpha
    assert [v.backend for v in attnmatrix.explain(matrix=matrix, gpu="MyGPU")] == [alpha]
    with pytest.raises(attnmatrix.RequestError, match="vllm"):
        alpha.judge(libraries={"vllm": "0.33.0"})
    capsys.readouterr()
    assert main(["explain", "--matrix", matrix, "--gpu", "MyGPU"]) == 0
    assert capsys.readouterr().out.startswith("ALPHA: supported")
    assert main(["select", "--matrix", "nothing_of_that_name"]) == 2
