"""What people, programs and code hosts read of a probe."""

from __future__ import annotations

import html
import io
import shlex
from collections import Counter
from pathlib import Path

import markdown
import pytest

from attnmatrix.probe.progress import Progress
from attnmatrix.probe.words import LONGEST, tidy
from tests.probe.bench import SPARSE, Bench, case_key, keys

CASES = keys([{"query_heads": heads} for heads in (8, 64, 96, 128)])


@pytest.fixture
def mixed(bench: Bench) -> Bench:
    """One of each: 128 heads an overclaim, 96 an underclaim, 8 a hazard."""
    rules = (({"query_heads": 128}, "refused"), ({"query_heads": 96}, "right"))
    bench.bid(*rules, ({"query_heads": 8}, "wrong"))
    return bench


def test_text_has_disagreements_first(mixed: Bench) -> None:
    ran = mixed.probe(*CASES)
    assert ran.code == 1
    lines = ran.out.splitlines()
    assert lines[0] == "H200 (9.0), driver 580.1, CUDA 13.0, PyTorch 2.11.0"
    assert "flash_mla from vllm 0.33.0" in lines
    head = "kernel cases overclaim underclaim hazard excepted verified agreed untested"
    table = lines.index("flash_mla from vllm 0.33.0")
    assert lines[table + 1].split() == head.split()
    assert lines[table + 2].split() == [SPARSE, "4", "1", "1", "1", "-", "1", "-", "-"]
    where = f"{SPARSE}: kv_format ds_mla_v4, dtype bfloat16, query_heads"
    assert lines[table + 3] == f"  overclaim: {where} 128: 1 claimed case: refused 1"
    assert lines[table + 4] == "    RuntimeError: key must have dtype fp8_e4m3fn at 0x…"
    assert lines[table + 6] == f"  underclaim: {where} 96: 1 unclaimed case: right 1"
    assert lines[table + 9] == f"  hazard: {where} 8: 1 unclaimed case: wrong 1"
    assert "    query_heads: right 64, 96; wrong 8; refused 128" in lines
    assert lines[-1] == "the matrix and the GPU disagree: 1 overclaim, 1 underclaim"


def test_the_command_reproduces_the_case(mixed: Bench) -> None:
    first = mixed.probe("--json", *CASES).data["findings"][0]
    program, command, *options = shlex.split(first["command"])
    assert (program, command) == ("attnmatrix", "probe")
    again = mixed.probe("--json", *options)
    assert again.code == 1
    (record,) = again.records
    assert record["case"] == first["first"]
    assert record["outcome"] == "refused"


def test_json(mixed: Bench) -> None:
    data = mixed.probe("--json", *CASES).data
    assert data["agrees"] is False
    assert data["standings"] == {
        "vllm": {SPARSE: {"overclaim": 1, "underclaim": 1, "hazard": 1, "verified": 1}}
    }
    assert [finding["standing"] for finding in data["findings"]] == [
        "overclaim",
        "underclaim",
        "hazard",
    ]
    (file,) = data["evidence"]
    assert file["provider"] == {"distribution": "vllm", "version": "0.33.0"}
    assert len(file["records"]) == 4


def test_github(mixed: Bench) -> None:
    out = mixed.probe("--format", "github", *CASES).out.splitlines()
    assert [line.partition(" ")[0] for line in out] == ["::error", "::error", "::warning", "the"]
    assert out[0].startswith(f"::error title=overclaim%3A {SPARSE}::kv_format ds_mla_v4")
    assert "%0Aattnmatrix probe --provider vllm --case kernel=" in out[0]


def test_markdown(mixed: Bench) -> None:
    mixed.bid(({"query_heads": 128}, "refused"), ({"query_heads": 8}, "wrong"))
    mixed.probe("--report", "pages/report.md", *CASES)
    text = Path("pages/report.md").read_text()
    assert text.index("### Disagreements") < text.index("### Hazards") < text.index("by axis")
    page = markdown.markdown(text, extensions=["tables"])
    assert page.count("<table>") == 4
    row = next(line for line in text.splitlines() if line.startswith("| overclaim |"))
    assert f"--case {case_key(query_heads=128)}" in html.unescape(row)
    assert "| query_heads | 96 |  | 1 |  |  |  |" in text


def test_a_report_that_cannot_be_written(bench: Bench) -> None:
    bench.bid()
    (bench.folder / "file").write_text("")
    ran = bench.probe("--report", "file/report.md", "--case", case_key())
    assert ran.code == 2
    assert "file" in ran.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--kernel", "flash_mla.sparse"), "did you mean 'flash_mla.sparse_decode'?"),
        (("--provider", "vlm"), "did you mean 'vllm'?"),
        (("--axis", "pagesize"), "did you mean 'page_size'?"),
        (("--axis", "page_size=0"), "page_size: '0' is not a positive integer"),
        (("--axis", "kv_format=ds_mla_v5"), "there is no KV format 'ds_mla_v5'"),
        (("--case", case_key(kv_format="ds_mla_v5")), "there is no KV format 'ds_mla_v5'"),
        (("--case", "kernel=x"), "missing"),
        (("--case", case_key(), "--quick"), "drop --kernel, --axis and --quick"),
        (("--time-limit", "0"), "--time-limit and --workers take positive numbers"),
        (("--matrix", "no.such"), "--matrix: no generated modules"),
    ],
)
def test_bad_usage(bench: Bench, options: tuple[str, ...], words: str) -> None:
    ran = bench.probe(*options)
    assert ran.code == 2
    assert words in ran.err
    assert ran.out == ""


def test_progress_off_a_terminal(bench: Bench) -> None:
    bench.bid()
    err = bench.probe("--kernel", SPARSE, "--quick").err.splitlines()
    assert err[0].startswith("probe: 0/")
    done, total = err[-1].split()[1].split("/")
    assert done == total
    assert "right" in err[-1]
    assert len(err) < 6


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    terminal = Terminal()
    progress = Progress(terminal, 4, Counter({"right": 1}))
    progress.say("building failed")
    for outcome in ("right", "refused", "crashed"):
        progress.add(outcome, SPARSE)
    progress.close()
    shown = terminal.getvalue().split("\r\x1b[K")
    assert shown[1].startswith("[#####...............] 1/4 right 1 0 s")
    assert shown[2] == "building failed\n"
    assert shown[-1].startswith("[####################] 4/4 right 2 refused 1 crashed 1 0 s")
    assert all(len(line.rstrip("\n")) < 60 for line in shown)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("two\n  lines\t here ", "two lines here"),
        ("at 0x7fffdeadbeef in x", "at 0x… in x"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("/a/b/site-packages/flashinfer/mla/_core.py:12: no", "mla/_core.py:12: no"),
        ("a/b of shape [2, 3] and 1/2", "a/b of shape [2, 3] and 1/2"),
        ("process 4711 gave up", "process … gave up"),
        ("CUDA error: x\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1", "CUDA error: x"),
    ],
)
def test_words_are_kept_short_and_alike(said: str, kept: str) -> None:
    assert tidy(said) == kept


def test_long_words_are_cut() -> None:
    assert len(tidy("word " * 500)) == LONGEST
