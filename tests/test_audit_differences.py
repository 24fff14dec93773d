"""A release against the matrix, and one release against another."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attnmatrix.annotation import annotation
from attnmatrix.audit.capabilities import CAPABILITY_TEXTS as GPUS
from attnmatrix.audit.difference import LESS, MORE, NEEDLESS, SPELLING, Difference
from attnmatrix.audit.differences import compare
from attnmatrix.audit.history import changes
from attnmatrix.audit.reading import FIELDS, Reading
from attnmatrix.cli import main
from tests.audit.engine import files_of, write_wheel

DSV4: dict[str, Any] = {
    "dtypes": ["bfloat16"],
    "kv_cache_dtypes": ["auto", "fp8_ds_mla", "fp8"],
    "block_sizes": [256],
    "head_sizes": [512],
    "compute_capabilities": ["9.0", "10.0", "10.3"],
    "sink": True,
    "sparse": True,
    "mla": True,
}


def reading(row: dict[str, Any], name: str = "FLASHMLA_SPARSE_DSV4", **changed: Any) -> Reading:
    found = Reading("vllm", "0.33.0", declared={name: row})
    found.platforms[name] = "cuda"
    found.further_capabilities[name] = ["10.1", "10.7"]
    found.places[name] = ("vllm/models/x.py", 12)
    return replace(found, **changed)


def differences(row: dict[str, Any], **changed: Any) -> list[Difference]:
    found = compare(reading(row, **changed))
    return [d for d in found if d.backend == "FLASHMLA_SPARSE_DSV4"]


def test_a_release_that_says_the_same() -> None:
    assert differences(DSV4) == []


@pytest.mark.parametrize(
    ("field", "value", "kind", "named"),
    [
        ("kv_cache_dtypes", ["auto", "bfloat16", "fp8_ds_mla", "fp8"], MORE, "bfloat16"),
        ("kv_cache_dtypes", ["auto"], SPELLING, "fp8"),
        ("dtypes", ["bfloat16", "float16"], MORE, "float16"),
        ("head_sizes", [512, 576], MORE, "576"),
        ("head_sizes", [], MORE, "any size"),
        ("block_sizes", [64], MORE, "claims more than the matrix: 64"),
        ("block_sizes", [1024], LESS, "claims less than the matrix: 256"),
        ("compute_capabilities", ["9.0"], LESS, "10.0, 10.3"),
        ("compute_capabilities", [*DSV4["compute_capabilities"], "8.0"], MORE, "8.0"),
        ("sink", False, LESS, "says False, the matrix True"),
        ("mla", False, LESS, "says False, the matrix True"),
    ],
)
def test_one_field_that_differs(field: str, value: Any, kind: str, named: str) -> None:
    found = differences({**DSV4, field: value})
    assert {d.field for d in found} == {field}
    assert kind in {d.kind for d in found}
    assert any(named in d.message for d in found)
    assert all(d.place == ("vllm/models/x.py", 12) for d in found)


def test_a_field_that_is_unknown_is_no_difference() -> None:
    assert differences({**DSV4, "kv_cache_dtypes": None, "sink": None}) == []
    by_gpu = dict.fromkeys(GPUS, [256]) | {"9.0": None}
    assert differences({**DSV4, "block_sizes": by_gpu}) == []


def test_a_block_size_that_means_its_multiples_is_a_spelling() -> None:
    row = {**DSV4, "block_sizes": ["%128"]}
    assert {d.kind for d in differences(row)} == {MORE}
    flashmla = next(
        d
        for d in compare(reading({**DSV4, "block_sizes": [64]}, "FLASHMLA"))
        if d.backend == "FLASHMLA" and d.field == "block_sizes"
    )
    assert flashmla.kind == SPELLING
    assert not flashmla.counts


def combination(**axes: Any) -> dict[str, Any]:
    row = {"compute_capability": "9.0", "dtype": "bfloat16", "kv_cache_dtype": "fp8"}
    return {**row, "head_size": 512, "reasons": [], "model": False, **axes}


def test_combinations_that_the_fields_do_not_explain() -> None:
    rows = [combination(), combination(compute_capability="10.0", reasons=["its second thought"])]
    found = differences(DSV4, combinations={"FLASHMLA_SPARSE_DSV4": rows})
    assert [(d.field, d.kind) for d in found] == [("combinations", LESS)]
    assert "10.0 × bfloat16 × fp8 × head size 512" in found[0].message
    assert "its second thought" in found[0].message


def test_combinations_that_are_unknown_or_explained_are_left_out() -> None:
    rows = [combination(reasons=None, unknown="x"), combination(head_size=576)]
    row = {**DSV4, "head_sizes": [512, 576]}
    found = differences(row, combinations={"FLASHMLA_SPARSE_DSV4": rows})
    assert [d.field for d in found] == ["head_sizes"]


FLASHMLA = {
    **DSV4,
    "dtypes": ["float16", "bfloat16"],
    "kv_cache_dtypes": ["auto", "float16", "bfloat16", "fp8", "fp8_e4m3"],
    "block_sizes": [64],
    "head_sizes": [320, 512, 576],
    "sink": False,
    "sparse": False,
}


def test_acknowledged_and_needless() -> None:
    found = [d for d in compare(reading(FLASHMLA, "FLASHMLA")) if d.backend == "FLASHMLA"]
    by_field = {d.field: d for d in found if d.kind != SPELLING}
    assert by_field["head_sizes"].acknowledged
    assert not by_field["head_sizes"].counts
    exact = {**FLASHMLA, "head_sizes": [512, 576]}
    found = [d for d in compare(reading(exact, "FLASHMLA")) if d.backend == "FLASHMLA"]
    needless = [d for d in found if d.kind == NEEDLESS]
    assert "head_sizes" in {d.field for d in needless}
    assert all(d.counts for d in needless)


def test_an_acknowledgement_is_about_its_release_alone() -> None:
    found = compare(reading(FLASHMLA, "FLASHMLA", version="0.34.0"))
    heads = [d for d in found if d.backend == "FLASHMLA" and d.field == "head_sizes"]
    assert [d.acknowledged for d in heads] == [None]


def test_backends_that_one_side_lacks() -> None:
    found = compare(reading(DSV4, "NEWCOMER"))
    assert {(d.backend, d.kind) for d in found if d.field == "backend"} >= {
        ("NEWCOMER", MORE),
        ("FLASHMLA", LESS),
    }
    assert "REFERENCE" not in {d.backend for d in found}  # ours, no engine's


def test_history_says_what_was_lost_and_gained() -> None:
    old = {**DSV4, "kv_cache_dtypes": ["auto", "bfloat16", "fp8_ds_mla", "fp8"], "sink": False}
    new = {**DSV4, "block_sizes": dict.fromkeys(GPUS, [256]) | {"9.0": [64]}}
    found = changes(reading(old), reading(new, version="0.34.0"))
    assert [change.message for change in found] == [
        "kv_cache_dtypes: lost bfloat16",
        "block_sizes on 9.0: lost 256; gained 64",
        "sink: no -> yes",
    ]
    assert found[0].to_json()["lost"] == ["bfloat16"]
    assert changes(reading(old), reading(old)) == []
    assert changes(reading({**old, "sink": None}), reading({**old, "sink": True})) == []


def test_history_of_backends_and_combinations() -> None:
    rows = {"FLASHMLA_SPARSE_DSV4": [combination()]}
    refused = {"FLASHMLA_SPARSE_DSV4": [combination(reasons=["no"])]}
    (change,) = changes(reading(DSV4, combinations=rows), reading(DSV4, combinations=refused))
    assert change.message == "combinations on 9.0: lost bfloat16 × fp8 × head size 512"
    found = changes(reading(DSV4, "A"), reading(DSV4, "B"))
    assert [(c.backend, c.message) for c in found] == [("A", "removed"), ("B", "new")]


def test_annotations_escape_what_would_end_them() -> None:
    line = annotation("error", "a: b, c", "50 %\nnext", ("x.py", 3))
    assert line == "::error file=x.py,line=3,title=a%3A b%2C c::50 %25%0Anext"


ONE = """
from vllm.v1.attention.backend import AttentionBackend


class Backend(AttentionBackend):
    supported_kv_cache_dtypes = {names}
"""


@pytest.fixture
def wheels(tmp_path: Path) -> list[str]:
    found = []
    for i, names in enumerate((["auto", "bfloat16"], ["auto"])):
        tree = files_of({"ONE": "one.Backend"}, {"vllm/one.py": ONE.format(names=names)})
        found.append(str(write_wheel(tmp_path / f"{i}.whl", tree)))
    return found


def test_the_command_prints_differences(
    wheels: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", "vllm", wheels[0]]) == 1
    text = capsys.readouterr().out
    assert "vllm 1.2.3: 1 backends, 8 cells, 0 unknown" in text
    assert "ONE: vllm has it, the matrix does not" in text
    assert main(["audit", "vllm", wheels[0], "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert (data["engine"], data["version"]) == ("vllm", "1.2.3")
    assert list(data["declared"]["ONE"]) == list(FIELDS)
    assert {"backend", "field", "kind", "engine", "matrix"} <= set(data["differences"][0])
    assert main(["audit", "vllm", wheels[0], "--format", "github"]) == 1
    assert "::error file=vllm/one.py,line=4,title=ONE differs" in capsys.readouterr().out


THEIRS = """
libraries: {}
kv_formats: {}
kernels: {}
backends:
  ONE:
    summary: Of a made-up engine
    mla: false
    sparse: false
    dtypes: [float16, bfloat16]
    head_sizes: any
    features: []
    variants:
      - compute_capability: any
        kernels: {decode: none}
        block_sizes: any
        query_heads: any
        kv_cache_dtypes: {auto: {format: none}, bfloat16: {format: none, dtypes: [bfloat16]}}
    sources: [vllm==1.2.3 vllm/one.py:4]
"""


def test_another_repository_s_matrix(
    wheels: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """--matrix compares with theirs, and drafts what theirs lacks."""
    source, package = tmp_path / "theirs.yaml", "theirs_of_test_audit"
    source.write_text(THEIRS, encoding="utf-8")
    assert main(["gen", "--source", str(source), "--out", str(tmp_path / package)]) == 0
    monkeypatch.syspath_prepend(str(tmp_path))
    theirs = ["--matrix", f"{package}.generated"]
    assert main(["audit", "vllm", wheels[0], *theirs]) == 0
    assert main(["audit", "vllm", wheels[1], *theirs]) == 1
    assert "ONE: kv_cache_dtypes: vllm claims less" in capsys.readouterr().out
    assert main(["import", "vllm", wheels[0], *theirs]) == 0
    assert "ONE" not in capsys.readouterr().out
    assert main(["audit", "vllm", wheels[0], "--matrix", "nothing_of_that_name"]) == 2


@pytest.mark.parametrize(
    ("sizes", "found"),
    [
        ([">=32"], None),
        ([">=16"], (MORE, ">=16,<=31")),
        ([">=33"], (LESS, "claims less than the matrix: 32")),
        (["%8,>=32"], (LESS, "33, 34,")),
        ([], (MORE, "any size")),
    ],
)
def test_head_sizes_by_rule(sizes: list[Any], found: tuple[str, str] | None) -> None:
    row = {
        **DSV4,
        "dtypes": ["float16", "bfloat16"],
        "kv_cache_dtypes": ["auto", "float16", "bfloat16", "fp8", "fp8_e4m3", "fp8_e5m2"],
        "block_sizes": ["%16"],
        "head_sizes": sizes,
        "mla": False,
        "sparse": False,
    }
    name = "ROCM_AITER_UNIFIED_ATTN"
    release = reading(row, name, platforms={name: "rocm"})
    told = [(d.kind, d.message) for d in compare(release) if d.backend == name]
    assert [kind for kind, _ in told] == ([found[0]] if found else [])
    assert found is None or found[1] in told[0][1]


def test_the_command_prints_history(wheels: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "vllm", *wheels]) == 1
    assert "ONE: kv_cache_dtypes: lost bfloat16" in capsys.readouterr().out
    assert main(["audit", "vllm", *wheels, "--json"]) == 1
    (change,) = json.loads(capsys.readouterr().out)["changes"]
    assert change["lost"] == ["bfloat16"]
    assert main(["audit", "vllm", wheels[0], wheels[0]]) == 0
    assert main(["audit", "vllm", *wheels, "--format", "github"]) == 1
    assert "::notice file=vllm/one.py,line=4,title=ONE changed" in capsys.readouterr().out


SM120 = {**DSV4, "kv_cache_dtypes": ["auto", "fp8"], "head_sizes": [576], "sink": False}


def test_the_libraries_that_a_release_requires_count() -> None:
    row = {**SM120, "compute_capabilities": ["12.0", "12.1"], "block_sizes": ["%64"]}
    name = "FLASHINFER_MLA_SPARSE_SM120"
    for version, fields in (("0.6.0", {"compute_capabilities"}), ("0.7.4", {"head_sizes"})):
        pins = {"flashinfer-python": version, "numpy": "2.0"}
        found = reading(row, name, pins=pins, further_capabilities={name: []})
        differing = [d for d in compare(found) if d.backend == name and d.counts]
        assert {d.field for d in differing} == fields


def test_a_backend_of_another_platform_is_compared_without_gpus() -> None:
    found = reading({**DSV4, "compute_capabilities": None}, platforms={})
    found.platforms["FLASHMLA_SPARSE_DSV4"] = "rocm"
    assert [d for d in compare(found) if d.backend == "FLASHMLA_SPARSE_DSV4"] == []
