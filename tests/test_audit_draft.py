"""Drafted entries pass the grammar and the cross-checks, and say what the release says."""

from __future__ import annotations

from pathlib import Path

import pytest

from attnmatrix.cli import main
from attnmatrix.codegen.load import check
from attnmatrix.codegen.source import parse_source
from attnmatrix.intset import IntSet, Multiples
from tests.audit.engine import files_of, write_wheel
from tests.sources import EXAMPLES

MODULE = """
import torch
from vllm.platforms import current_platform
from vllm.v1.attention.backend import AttentionBackend, MultipleOf


class Plain(AttentionBackend):
    supported_kv_cache_dtypes = ['auto', 'float16', 'bfloat16', 'fp8', 'fp8_e4m3']

    @staticmethod
    def get_supported_kernel_block_sizes():
        return [16, MultipleOf(64)]

    @classmethod
    def get_supported_head_sizes(cls):
        return [64, 128]

    @classmethod
    def supports_compute_capability(cls, capability):
        return capability.major in (9, 10)

    @classmethod
    def supports_sink(cls):
        return current_platform.is_family(90)

    @classmethod
    def supports_combination(cls, head_size, kv_cache_dtype, device_capability):
        return 'not 64' if kv_cache_dtype == 'fp8' and head_size == 64 else None


class Anywhere(AttentionBackend):
    @classmethod
    def supports_head_size(cls, head_size):
        return head_size >= 32


class Doubtful(AttentionBackend):
    @classmethod
    def supports_kv_cache_dtype(cls, name):
        return torch.doubt()
"""


@pytest.fixture
def draft(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    names = {"PLAIN": "one.Plain", "ANYWHERE": "one.Anywhere", "DOUBTFUL": "one.Doubtful"}
    names |= {"ROCM_ANYWHERE": "two.Anywhere", "FLASHMLA": "one.Plain"}
    modules = {"vllm/one.py": MODULE, "vllm/two.py": MODULE}
    wheel = write_wheel(tmp_path / "a.whl", files_of(names, modules))
    assert main(["import", "vllm", str(wheel)]) == 0
    return capsys.readouterr().out


def test_a_draft_is_valid(draft: str) -> None:
    text = (EXAMPLES / "base.yaml").read_text(encoding="utf-8")
    head, separator, rest = text.partition("\nbackends:\n")
    assert separator
    matrix = check(parse_source(f"{head}{separator}{draft}{rest}", "drafted.yaml"))
    plain = matrix.document.backends["PLAIN"]
    assert plain.sources == ["vllm==1.2.3 vllm/one.py:6"]
    assert [[p.text for p in v.compute_capability] for v in plain.variants] == [["9.0"], ["10.x"]]
    assert {v.kernels.decode for v in plain.variants} == {"none"}
    assert [v.features for v in plain.variants] == [None, []]
    assert plain.features == ["attention_sink"]
    cells = matrix.cells["PLAIN"]
    assert {cell.kv_format for cell in cells} == {None}
    assert all(64 in cell.head_sizes and 96 not in cell.head_sizes for cell in cells)
    anywhere = matrix.document.backends["ANYWHERE"]
    assert anywhere.head_sizes == IntSet(multiples=[Multiples(minimum=32)])
    (rocm,) = matrix.document.backends["ROCM_ANYWHERE"].variants
    assert [pattern.text for pattern in rocm.compute_capability] == ["rocm"]


def test_a_draft_says_what_it_leaves_out(draft: str) -> None:
    assert "# DOUBTFUL: not drafted: kv_cache_dtypes: torch.doubt()" in draft
    assert "# PLAIN refuses 9.0 × fp8 × 64, 10.0 × fp8 × 64" in draft
    assert "  FLASHMLA:" not in draft  # the matrix has it
