"""A run with nothing to do sees so; a run with anything to do does it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from attnmatrix.cli import main
from attnmatrix.codegen import load as loading
from tests.sources import BASE

ROOT = Path(__file__).parents[1]
RECORD = "generated/__pycache__/attnmatrix-gen.json"


@pytest.fixture
def root(tmp_path, monkeypatch) -> Path:
    """A folder in which the generator has run and kept its record."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (tmp_path / "capabilities.yaml").write_text(BASE, encoding="utf-8")
    assert gen(tmp_path) == 0
    assert (tmp_path / RECORD).is_file()
    return tmp_path


def gen(root: Path, *options: str) -> int:
    return main(["gen", "--source", str(root / "capabilities.yaml"), *options])


@pytest.fixture
def reads(monkeypatch) -> list[Path]:
    """The sources that were parsed."""
    found: list[Path] = []
    parse = loading.load

    def load(path, **options):
        found.append(path)
        return parse(path, **options)

    monkeypatch.setattr(loading, "load", load)
    return found


def test_nothing_to_do(root, reads, capsys):
    assert gen(root) == 0
    assert reads == []
    assert "0 files written" in capsys.readouterr().out


def edit_generated(root: Path) -> None:
    path = root / "generated/gpus.py"
    path.write_bytes(path.read_bytes().replace(b"GPU", b"GPV", 1))


def same_size_and_time(root: Path) -> None:
    path = root / "generated/gpus.py"
    before = path.stat()
    edit_generated(root)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def remove_generated(root: Path) -> None:
    (root / "generated/gpus.py").unlink()


def leave_an_orphan(root: Path) -> None:
    shutil.copy(root / "generated/gpus.py", root / "generated/gpus_of_old.py")


def spoil_the_record(root: Path) -> None:
    (root / RECORD).write_text('{"inputs": []}', encoding="utf-8")


@pytest.mark.parametrize(
    "change",
    [edit_generated, same_size_and_time, remove_generated, leave_an_orphan, spoil_the_record],
)
def test_anything_else_is_done_anew(root, reads, change):
    wanted = {p: p.read_bytes() for p in (root / "generated").glob("*.py")}
    change(root)
    assert gen(root) == 0
    assert len(reads) == 1
    assert {p: p.read_bytes() for p in (root / "generated").glob("*.py")} == wanted


def test_a_changed_source(root, reads):
    source = root / "capabilities.yaml"
    text = source.read_text(encoding="utf-8")
    source.write_text(f"{text}# a comment\n", encoding="utf-8")
    assert gen(root) == 0
    assert len(reads) == 1
    source.write_text(text.replace("gpus:", "gpus:\n  New One: '9.0'", 1), encoding="utf-8")
    assert gen(root) == 0
    assert "New One" in (root / "generated/gpus.py").read_text(encoding="utf-8")


def test_a_check_never_trusts_the_record(root, reads):
    assert gen(root, "--check") == 0
    assert len(reads) == 1


def test_an_error_leaves_no_record_that_hides_it(root):
    source = root / "capabilities.yaml"
    text = source.read_text(encoding="utf-8")
    source.write_text(f"{text}nonsense: 1\n", encoding="utf-8")
    assert [gen(root), gen(root)] == [2, 2]


@pytest.mark.parametrize("where", ["codegen/templates/table.py.j2", "codegen/text.py"])
def test_changed_code_counts(tmp_path, where):
    """A tree of its own: its templates and modules are inputs as the source is."""
    ignored = shutil.ignore_patterns("__pycache__", "audit", "generated", "kernels")
    shutil.copytree(ROOT / "attnmatrix", tmp_path / "tree/attnmatrix", ignore=ignored)
    shutil.rmtree(tmp_path / "tree/attnmatrix/codegen", ignore_errors=True)
    shutil.copytree(ROOT / "codegen", tmp_path / "tree/attnmatrix/codegen")
    (tmp_path / "capabilities.yaml").write_text(BASE, encoding="utf-8")
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    code = (
        "import sys; from attnmatrix.cli import main; main(['gen']); print('jinja2' in sys.modules)"
    )

    def did_all() -> bool:
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=tmp_path,
            env={**environment, "PYTHONPATH": str(tmp_path / "tree")},
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.split()[-1] == "True"

    assert [did_all(), did_all()] == [True, False]
    changed = tmp_path / "tree/attnmatrix" / where
    changed.write_text(f"{changed.read_text(encoding='utf-8')}\n", encoding="utf-8")
    assert [did_all(), did_all()] == [True, False]
