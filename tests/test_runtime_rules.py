"""What the runtime may need, and what an installation puts where."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

_SELECTS = """
import sys
before = set(sys.modules)
import attnmatrix
verdict = attnmatrix.judge("FLASHMLA_SPARSE_DSV4", gpu="H200", kv_cache_dtype="bfloat16",
                           libraries={"vllm": "0.33.0"})
assert verdict.reasons[0].message
assert attnmatrix.select(gpu="H200", mla=True).selected
assert attnmatrix.explain(gpu="B200")
from attnmatrix.cli import main
assert main(["explain", "--json", "--gpu", "H200"]) == 0
new = {name.partition(".")[0] for name in set(sys.modules) - before}
foreign = sorted(new - set(sys.stdlib_module_names) - {"attnmatrix"})
assert not foreign, foreign
"""


def test_selection_needs_the_standard_library_alone() -> None:
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}){_SELECTS}"
    done = subprocess.run(
        [sys.executable, "-S", "-I", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_importing_loads_nothing_else() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); before = set(sys.modules); "
        "import attnmatrix; print(sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-I", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "['__future__', 'attnmatrix']"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The names in the project's wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    checkout = tmp_path_factory.mktemp("checkout") / "attnmatrix"  # a build leaves folders behind
    skipped = shutil.ignore_patterns(".*", "build", "site", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT, checkout, symlinks=True, ignore=skipped)
    command = ["-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(folder)]
    done = subprocess.run(
        [sys.executable, *command, str(checkout)], capture_output=True, text=True, check=False
    )
    if "No module named 'setuptools'" in done.stderr or "BackendUnavailable" in done.stderr:
        pytest.skip("setuptools is not installed here")
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path).namelist()


def test_an_installation_adds_one_import_name(wheel: list[str]) -> None:
    tops = {name.partition("/")[0] for name in wheel}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"attnmatrix"}


def test_a_wheel_holds_everything_that_runs(wheel: list[str]) -> None:
    own = (ROOT / "attnmatrix" / folder for folder in ("audit", "probe"))
    for folder in (*own, *(ROOT / folder for folder in ("codegen", "generated", "kernels"))):
        for path in folder.rglob("*"):
            if path.suffix in (".py", ".j2", ".json") and path.parent.name != "__pycache__":
                inside = path.relative_to(ROOT).as_posix().removeprefix("attnmatrix/")
                assert f"attnmatrix/{inside}" in wheel
    assert "attnmatrix/py.typed" in wheel


def test_public_names_load_and_are_documented() -> None:
    import attnmatrix

    for name in attnmatrix.__all__:
        assert getattr(attnmatrix, name).__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = attnmatrix.nothing  # type: ignore[attr-defined]
