"""What the guides show runs as they say."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from attnmatrix.cli import main
from tests.sources import BASE

GUIDES = Path(__file__).parents[1] / "docs" / "guides"


def blocks(guide: str, language: str) -> list[str]:
    """The code blocks of a guide, at the margin or in a list."""
    text = (GUIDES / guide).read_text(encoding="utf-8")
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL)
    return [re.sub(rf"^{margin}", "", body, flags=re.MULTILINE) for margin, body in found]


def test_the_example_of_a_verdict(capsys):
    command, *shown = blocks("read-a-verdict.md", "console")[0].splitlines()
    words = shlex.split(command.removeprefix("$ "))
    assert main(words[1:]) == 1
    assert capsys.readouterr().out.splitlines() == shown


def test_moving_over_from_hand_written_classes(tmp_path):
    """The entry generates, and the loop of the guide agrees with a class written by hand."""
    source = tmp_path / "theirs.yaml"
    source.write_text(blocks("from-hand-written-classes.md", "yaml")[0], encoding="utf-8")
    assert main(["gen", "--source", str(source)]) == 0
    compare = blocks("from-hand-written-classes.md", "python")[0]
    by_hand = (
        "def old_answer(dtype, kv_cache_dtype, head_size, capability):\n"
        "    caches = ['auto', 'float16', 'bfloat16']\n"
        "    caches += ['fp8', 'fp8_e4m3'] if capability == '9.0' else []\n"
        "    return (dtype in ('float16', 'bfloat16') and kv_cache_dtype in caches\n"
        "            and head_size in (64, 128) and capability in ('8.0', '8.9', '9.0'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{by_hand}\n{compare}"],
        cwd=tmp_path,
        env={"PYTHONPATH": f"{tmp_path}:{GUIDES.parents[1]}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_error_that_the_guide_adds_is_of_the_grammar(tmp_path):
    (entry,) = [b for b in blocks("add-a-backend.md", "yaml") if b.startswith("errors:")]
    source = tmp_path / "capabilities.yaml"
    source.write_text(BASE + entry.replace("my_lib.decode", "fastlib.decode"), encoding="utf-8")
    assert main(["gen", "--source", str(source)]) == 0
    page = (tmp_path / "docs/reference/reasons/topk.md").read_text(encoding="utf-8")
    assert "### topk (…) must be a multiple of 64\n" in page


@pytest.mark.parametrize("guide", sorted(path.name for path in GUIDES.glob("*.md")))
def test_every_guide_is_listed(guide):
    listed = (GUIDES / "index.md").read_text(encoding="utf-8")
    assert guide == "index.md" or f"]({guide})" in listed
