"""The GPU against the matrix: what disagrees is found, with its cause, and nothing else is."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from tests.probe.bench import DENSE, SPARSE, Bench, case_key, keys

MATRIX = "theirs.generated"


class Theirs:
    """The repository's own matrix as generated, with kernels' rows changed by hand."""

    def __init__(self, folder: Path) -> None:
        copied = folder / "theirs" / "generated"
        shutil.copytree(files("attnmatrix.generated"), copied)
        self._kernels = copied / "data" / "kernels"

    @contextmanager
    def rows(self, kernel: str) -> Iterator[list[dict[str, Any]]]:
        """A kernel's rows, to change."""
        file = self._kernels / f"{kernel}.json"
        data = json.loads(file.read_text(encoding="utf-8"))
        yield data["rows"]
        file.write_text(json.dumps(data), encoding="utf-8")


def of_format(rows: list[dict[str, Any]], kv_format: str) -> dict[str, Any]:
    """The first row for a KV format."""
    return next(row for row in rows if row["kv_formats"] == [kv_format])


def test_the_true_matrix_agrees(bench: Bench) -> None:
    ran = bench.probe("--json", "--kernel", SPARSE, "--kernel", DENSE)
    assert ran.code == 0
    assert ran.data["agrees"] is True
    assert ran.data["findings"] == []
    for standings in ran.data["standings"]["vllm"].values():
        assert {*standings} == {"verified", "agreed"}


def test_two_wrong_claims_are_reported_and_no_more(bench: Bench) -> None:
    theirs = Theirs(bench.folder)
    with theirs.rows(SPARSE) as rows:
        of_format(rows, "ds_mla_v4")["kv_formats"].append("bf16_512")  # vLLM PR 44892
    with theirs.rows(DENSE) as rows:
        rows.remove(of_format(rows, "fp16_576"))
    ran = bench.probe("--json", "--matrix", MATRIX)
    assert ran.code == 1
    under, over = ran.data["findings"]
    assert (over["standing"], over["kernel"]) == ("overclaim", SPARSE)
    assert over["where"] == {"kv_format": "bf16_512", "dtype": "bfloat16"}
    assert over["outcomes"] == {"refused": over["of"]}
    assert over["of"] > 50
    assert over["message"] == "fake: not built for this"
    assert (under["standing"], under["kernel"]) == ("underclaim", DENSE)
    assert under["where"] == {"kv_format": "fp16_576", "dtype": "float16"}
    assert under["outcomes"] == {"right": 1}


def test_one_value_too_many_and_one_too_few(bench: Bench) -> None:
    with Theirs(bench.folder).rows(SPARSE) as rows:
        row = of_format(rows, "ds_mla_v4")
        row["query_heads"] = [64, 96]
        row["features"]["known"].remove("topk_length")
    ran = bench.probe("--json", "--matrix", MATRIX, "--kernel", SPARSE)
    here = {"kv_format": "ds_mla_v4", "dtype": "bfloat16"}
    found = [(finding["standing"], finding["where"]) for finding in ran.data["findings"]]
    assert ("overclaim", here | {"query_heads": 96}) in found
    assert ("underclaim", here | {"query_heads": 128}) in found
    assert ("underclaim", here | {"features": "topk_length"}) in found
    both = here | {"query_heads": 128, "features": "topk_length"}
    assert all(where == both or len(where) == 3 for _, where in found)


@pytest.mark.parametrize("behaviour", ["refused", "wrong", "fatal"])
def test_an_overclaim_is_anything_but_right(bench: Bench, behaviour: str) -> None:
    bench.bid(({"query_heads": 128}, behaviour))
    ran = bench.probe("--json", *keys([{"query_heads": heads} for heads in (64, 96, 128)]))
    assert ran.code == 1
    (finding,) = ran.data["findings"]
    assert finding["standing"] == "overclaim"
    assert finding["where"]["query_heads"] == 128


@pytest.mark.parametrize("behaviour", ["wrong", "abort"])
def test_a_hazard_is_listed_and_no_disagreement(bench: Bench, behaviour: str) -> None:
    bench.bid(({"query_heads": 96}, behaviour))
    ran = bench.probe(*keys([{"query_heads": heads} for heads in (64, 96, 128)]))
    assert ran.code == 0
    assert f"hazard: {SPARSE}: kv_format ds_mla_v4, dtype bfloat16, query_heads 96" in ran.out
    assert "the matrix and the GPU agree" in ran.out


def test_untested_is_never_no(bench: Bench) -> None:
    bench.bid(({"query_heads": 128}, "out_of_memory"), ({"query_heads": 96}, "untested"))
    ran = bench.probe("--json", *keys([{"query_heads": heads} for heads in (64, 96, 128)]))
    assert ran.code == 0
    assert ran.data["findings"] == []


class TestExceptions:
    @pytest.fixture(autouse=True)
    def _excepting(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        """96 heads come right here and there, which nobody promises."""
        from attnmatrix.probe import target
        from attnmatrix.probe.claims import load_claims

        exception = {"reason": "not promised", "sources": ["x"], "query_heads": [96]}

        def loaded(kernel: str, matrix: str) -> Any:
            return load_claims(kernel, matrix)._replace(exceptions=[exception])

        monkeypatch.setattr(target, "load_claims", loaded)

    def test_an_exception_takes_what_is_right(self, bench: Bench) -> None:
        bench.bid(({"query_heads": 96}, "right"))
        ran = bench.probe("--json", "--kernel", SPARSE)
        assert ran.code == 0
        assert ran.data["standings"]["vllm"][SPARSE]["excepted"] > 10

    def test_one_that_nothing_needs_is_an_error(self, bench: Bench) -> None:
        ran = bench.probe("--kernel", SPARSE)
        assert ran.code == 1
        assert f'needless exception: {SPARSE}: "not promised": none of its' in ran.out
        assert "the matrix and the GPU disagree: 1 needless exception" in ran.out

    def test_a_narrowed_grid_cannot_tell(self, bench: Bench) -> None:
        assert bench.probe("--kernel", SPARSE, "--quick").code == 0

    def test_it_does_not_take_what_is_wrong(self, bench: Bench) -> None:
        bench.bid(({"query_heads": 96, "page_size": 64}, "wrong"), ({"query_heads": 96}, "right"))
        ran = bench.probe("--json", "--kernel", SPARSE)
        assert {finding["standing"] for finding in ran.data["findings"]} == {"hazard"}


def test_the_record_is_stored(bench: Bench) -> None:
    from attnmatrix import evidence

    bench.bid(({"query_heads": 96, "kernel": SPARSE, "topk": 128, "page_size": 64}, "wrong"))
    ran = bench.probe("--write", "--out", "kept", "--resume", "journal")
    assert ran.code == 0
    (file,) = (bench.folder / "kept").iterdir()
    assert file.name == "h200-flash_mla-vllm-0.33.0.json"
    kept = evidence.read(file)
    assert (kept.gpu, kept.compute_capability, kept.provider) == ("H200", "9.0", ("vllm", "0.33.0"))
    assert kept.command == "attnmatrix probe --provider vllm --write"
    assert {record.outcome for record in kept.records} == {"right", "refused", "wrong"}
    assert {record.error for record in kept.records} == {None, 0.00123, 1.0}
    first = file.read_bytes()
    bench.probe("--write", "--out", "kept", "--resume", "journal")
    assert file.read_bytes() == first


@pytest.mark.parametrize("option", [("--quick",), ("--kernel", SPARSE), ("--case", case_key())])
def test_a_part_is_not_stored(bench: Bench, option: tuple[str, ...]) -> None:
    ran = bench.probe("--write", *option)
    assert ran.code == 2
    assert "--write stores whole grids" in ran.err
    assert not Path("evidence").exists()
