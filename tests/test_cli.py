"""The commands as users type them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import attnmatrix
from attnmatrix.cli import main

KEYS = {
    "backend",
    "verdict",
    "reasons",
    "kv_cache_dtype",
    "kv_format",
    "bytes_per_token",
    "kernel",
    "evidence",
}
DSV4 = "--mla --sparse --head-size 512 --block-size 256 --dtype bfloat16".split()


def run(*arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    try:
        code = main(arguments)
    except SystemExit as stop:
        code = int(stop.code or 0)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_explain_says_what_an_alias_means(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(
        "explain", "FLASHMLA_SPARSE_DSV4", "--gpu", "H200", *DSV4, "--kv-cache-dtype", "fp8",
        "--query-heads", "16", capsys=capsys,
    )  # fmt: skip
    assert code == 0
    assert "FLASHMLA_SPARSE_DSV4: supported" in out
    assert "fp8 -> fp8_ds_mla (ds_mla_v4, 584 B per token" in out
    assert "padded to 64" in out


def test_explain_exits_1_when_none_accepts(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(
        "explain", "flashmla_sparse_dsv4", "--gpu", "H200", "--kv-cache-dtype", "bfloat16",
        capsys=capsys,
    )  # fmt: skip
    assert code == 1
    assert "accepted: auto, fp8_ds_mla, fp8" in out or "accepted: auto, fp8, fp8_ds_mla" in out


def test_explain_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(
        "explain", "--gpu", "B200", "--kv-cache-dtype", "fp8", "--json", capsys=capsys
    )
    answers = json.loads(out)
    assert [answer["backend"] for answer in answers] == list(attnmatrix.backend_names())
    for answer in answers:
        assert set(answer) >= KEYS
        assert answer["verdict"] in ("supported", "unsupported", "unknown")
        for reason in answer["reasons"]:
            assert set(reason) == {"field", "value", "accepted", "message"}
    assert code == 0


def test_json_holds_every_kind_of_value(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(
        "explain", "--gpu", "A100", "--kv-cache-dtype", "x", "--dtype", "float32", "--head-size",
        "1", "--block-size", "7", "--query-heads", "999", "--topk", "3", "--no-mla", "--sink",
        "--feature", "causal", "--library", "vllm==0.1", "--library", "flashinfer_python==0.1",
        "--phase", "prefill", "--json", capsys=capsys,
    )  # fmt: skip
    fields = {reason["field"] for answer in json.loads(out) for reason in answer["reasons"]}
    assert fields >= {"compute_capability", "kv_cache_dtype", "mla", "libraries", "topk", "phase"}


def test_select_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run("select", "--gpu", "B200", *DSV4, "--json", capsys=capsys)
    answer = json.loads(out)
    assert code == 0
    assert answer["selected"] == "FLASHMLA_SPARSE_DSV4"
    names = [candidate["backend"] for candidate in answer["candidates"]]
    assert names.index("FLASHMLA_SPARSE_DSV4") < names.index("FLASHINFER_MLA_SPARSE_DSV4")
    assert all(set(candidate) >= KEYS for candidate in answer["candidates"])


def test_select_finds_none(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run("select", "--gpu", "A100", "--mla", "--sparse", "--json", capsys=capsys)
    answer = json.loads(out)
    assert (code, answer["selected"]) == (1, None)
    assert all(candidate["reasons"] for candidate in answer["candidates"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["explain", "FLASHMLA_SPARS"], "did you mean 'FLASHMLA_SPARSE'"),
        (["explain", "--gpu", "H2000"], "did you mean 'H200'"),
        (["explain", "--compute-capability", "9"], "write it as '9.0'"),
        (["explain", "--gpu", "H200", "--compute-capability", "9.0"], "not allowed with"),
        (["explain", "--library", "vllm"], "DIST==VERSION"),
        (["explain", "--library", "vllm==new"], "is not a version"),
        (["explain", "--library", "vlllm==0.33.0"], "did you mean 'vllm'"),
        (["explain", "--head-size", "big"], "invalid int"),
        (["explain", "--head-size", "0"], "positive whole number"),
        (["explain", "--phase", "decoding"], "did you mean 'decode'"),
        (["explain", "--feature", "sink"], "--feature: 'sink' is not one of"),
        (["select", "FLASHMLA"], "unrecognized arguments"),
        ([], "required"),
        (["explian"], "invalid choice"),
    ],
)
def test_bad_usage_exits_2(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(*arguments, capsys=capsys)
    assert (code, out) == (2, "")
    assert words in err


def test_installed_libraries_are_judged(capsys: pytest.CaptureFixture[str]) -> None:
    """On a machine without them, their absence is a reason."""
    have = attnmatrix.installed_libraries()
    code, out, _ = run("explain", "FLASHINFER_MLA", "--gpu", "B200", "--installed", capsys=capsys)
    if isinstance(have["flashinfer-python"], attnmatrix.Absent):
        assert code == 1
        assert "flashinfer-python not installed: install flashinfer-python" in out


def test_a_reader_that_closes_early_is_no_error() -> None:
    command = f"{sys.executable} -m attnmatrix explain --json | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
