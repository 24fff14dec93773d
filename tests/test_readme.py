"""README and guides say what happens: their commands and code are run, their output compared."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from attnmatrix.cli import main
from attnmatrix.codegen.load import check
from attnmatrix.codegen.problems import InvalidSource
from attnmatrix.codegen.source import parse_source

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def blocks(*languages: str) -> list[str]:
    return [body for language, body in BLOCK.findall(README) if language in languages]


COMMANDS = [
    match.groups()
    for body in blocks("console")
    for match in re.finditer(r"^\$ attnmatrix (.*)\n((?:(?!\$ ).*\n)*)", body, re.MULTILINE)
]
EXAMPLES = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize(("arguments", "output"), COMMANDS)
def test_commands(arguments: str, output: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(shlex.split(arguments))
    assert capsys.readouterr().out == output


@pytest.mark.parametrize(("code", "output"), EXAMPLES)
def test_examples(code: str, output: str) -> None:
    if "import torch" in code:
        pytest.importorskip("torch")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert printed.getvalue() == output


def test_there_is_something_to_test() -> None:
    assert COMMANDS
    assert len(EXAMPLES) == 2


def with_my_backend(change: tuple[str, str] = ("", "")) -> str:
    (example,) = blocks("yaml")
    entry = example.removeprefix("backends:\n")
    if change[0]:
        assert change[0] in entry
        entry = entry.replace(*change)
    source = (ROOT / "capabilities.yaml").read_text(encoding="utf-8")
    return source.replace("\nbackends:\n", f"\nbackends:\n{entry}", 1)


def test_the_backend_to_add_generates() -> None:
    assert "MY_BACKEND" in check(parse_source(with_my_backend())).cells


def test_and_its_wrong_claim_does_not() -> None:
    text = with_my_backend(("my_fp8: {format: ds_mla_v4}", "my_fp8: {format: bf16_512}"))
    with pytest.raises(InvalidSource) as error:
        check(parse_source(text))
    assert {problem.code for problem in error.value} == {"claim-outside-kernel"}
