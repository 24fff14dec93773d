"""What cannot be read ends in exit code 2, with a sentence that says why."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from attnmatrix.audit.reading import read_release
from attnmatrix.audit.tree import AuditError
from attnmatrix.cli import main
from tests.audit.engine import files_of, write_tree, write_wheel


def engine(tmp_path: Path, module: str) -> str:
    tree = files_of({"ONE": "one.Backend"}, {"vllm/one.py": module})
    return str(write_wheel(tmp_path / "vllm-1.2.3-py3-none-any.whl", tree))


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="there is no .*absent.whl; give a wheel, a folder"):
        read_release("vllm", str(tmp_path / "absent.whl"))


def test_no_wheel(tmp_path: Path) -> None:
    (tmp_path / "a.whl").write_text("no zip")
    with pytest.raises(AuditError, match=r"a\.whl is not a wheel"):
        read_release("vllm", str(tmp_path / "a.whl"))


def test_a_wheel_of_something_else(tmp_path: Path) -> None:
    write_wheel(tmp_path / "a.whl", {"other/__init__.py": ""})
    import zipfile

    with zipfile.ZipFile(tmp_path / "b.whl", "w") as archive:
        archive.writestr("other/__init__.py", "")
    with pytest.raises(AuditError, match="holds no package vllm"):
        read_release("vllm", str(tmp_path / "b.whl"))


def test_a_folder_without_the_package(tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="holds no folder vllm/"):
        read_release("vllm", str(tmp_path))


def test_no_registry(tmp_path: Path) -> None:
    write_tree(tmp_path, {"vllm/__init__.py": ""})
    with pytest.raises(AuditError, match=r"no v1\.attention\.backends\.registry or"):
        read_release("vllm", str(tmp_path))


def test_a_damaged_wheel(tmp_path: Path) -> None:
    wheel = Path(engine(tmp_path, "x = 1\n" * 50))
    data = bytearray(wheel.read_bytes())
    at = data.index(b"registry.py") + len("registry.py")
    data[at : at + 40] = b"\xff" * 40
    wheel.write_bytes(data)
    with pytest.raises(AuditError, match=r"registry\.py is damaged"):
        read_release("vllm", str(wheel))


def test_a_truncated_wheel(tmp_path: Path) -> None:
    wheel = Path(engine(tmp_path, ""))
    wheel.write_bytes(wheel.read_bytes()[:-200])
    with pytest.raises(AuditError, match="is not a wheel"):
        read_release("vllm", str(wheel))


def test_not_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    with pytest.raises(AuditError, match="vllm is not installed here"):
        read_release("vllm", "installed")


def test_an_installed_release(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write_tree(tmp_path, files_of({"TAG": ""}))
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    assert read_release("vllm", "installed").version == "1.2.3"


HANGING = """
from vllm.v1.attention.backend import AttentionBackend


class Backend(AttentionBackend):
    while True:
        pass
"""


def test_code_that_hangs_is_ended(tmp_path: Path) -> None:
    begun = time.monotonic()
    with pytest.raises(AuditError, match="took more than 2 s; --time-limit allows more"):
        read_release("vllm", engine(tmp_path, HANGING), limit_s=2)
    assert time.monotonic() - begun < 10


def test_code_that_ends_the_process_or_prints(tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="its code ended the reader"):
        read_release("vllm", engine(tmp_path, "import os\n\nBackend = os._exit(3)\n"))
    printing = "print('x')\n\nBackend = print('{}') or None\n"
    assert read_release("vllm", engine(tmp_path, printing)).declared["ONE"]["sink"] is None


def test_a_module_that_is_no_python(tmp_path: Path) -> None:
    reading = read_release("vllm", engine(tmp_path, "class Backend(:\n"))
    assert reading.declared["ONE"]["sink"] is None
    assert "invalid syntax" in reading.unknown["ONE", "sink"]


@pytest.mark.parametrize("form", [[], ["--json"], ["--format", "github"]])
def test_the_command_answers_2(
    tmp_path: Path, form: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", "vllm", str(tmp_path), *form]) == 2
    captured = capsys.readouterr()
    assert "holds no folder vllm/" in captured.err
    assert ("::error" in captured.out) == ("github" in form)
    assert main(["import", "vllm", str(tmp_path)]) == 2


def test_it_needs_the_standard_library_alone(tmp_path: Path) -> None:
    import subprocess
    import sys

    root = Path(__file__).parent.parent
    code = (
        f"import sys; sys.path.insert(0, {str(root)!r}); from attnmatrix.cli import main; "
        f"sys.exit(main(['audit', 'vllm', {engine(tmp_path, 'Backend = 1')!r}]))"
    )
    command = [sys.executable, "-I", "-S", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert (done.returncode, done.stderr) == (1, "")  # it lacks the backends of the matrix


def test_the_command_loads_nothing_of_it_unless_asked() -> None:
    import subprocess
    import sys

    code = (
        "import sys, attnmatrix.cli as c; c._parser(); assert 'attnmatrix.audit' not in sys.modules"
    )
    root = Path(__file__).parent.parent
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root)  # noqa: S603
