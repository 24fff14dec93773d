"""`attnmatrix gen`: writes what is needed, keeps what it must, and says how to mend the rest."""

from __future__ import annotations

import errno
import importlib.util
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from keyword import iskeyword
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from attnmatrix.cli import main
from attnmatrix.codegen.header import Header
from attnmatrix.codegen.render import class_name
from tests.sources import BASE, EXAMPLES, REAL

ROOT = Path(__file__).parents[1]
FOLDERS = ("generated", "docs/reference")
MARK = Header().mark
LEFT_OVER = ".attnmatrix-0123456789abcdef-7"
"""What the generator calls a file for a while; then `.new` or `.old`."""

BETA = """\
  {name}:
    summary: Another one, {name}
    mla: true
    sparse: false
    dtypes: [bfloat16]
    head_sizes: [128]
    features: []
    variants:
      - compute_capability: ["9.0"]
        kernels: {{decode: fastlib.decode}}
        block_sizes: [64]
        query_heads: [32]
        kv_cache_dtypes: {{{name_lower}_cache: {{format: packed}}}}
    sources: [engine==0.33.0 engine/beta.py]
"""


def backend(name: str) -> str:
    return BETA.format(name=name, name_lower=name.lower())


def snapshot(root: Path) -> dict[str, tuple[bytes, int]]:
    """Every file under a folder but caches, with its bytes and the time it was written."""
    return {
        path.relative_to(root).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.parent.name != "__pycache__"
    }


def contents(root: Path) -> dict[str, bytes]:
    return {
        name: content
        for name, (content, _) in snapshot(root).items()
        if name.startswith(tuple(f"{folder}/" for folder in FOLDERS))
    }


class Project:
    """A folder with a source, and what was generated from it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.source = root / "capabilities.yaml"
        self.source.write_text(BASE, encoding="utf-8")

    @property
    def command(self) -> list[str]:
        return ["gen", "--source", str(self.source)]

    def gen(self, *options: str) -> int:
        return main([*self.command, *options])

    def edit(self, old: str, new: str) -> None:
        text = self.source.read_text(encoding="utf-8")
        assert old in text
        self.source.write_text(text.replace(old, new), encoding="utf-8")

    def add(self, name: str) -> None:
        self.edit("priorities:\n", f"{backend(name)}priorities:\n")


@pytest.fixture
def project(tmp_path, capfd) -> Project:
    made = Project(tmp_path)
    assert made.gen() == 0
    capfd.readouterr()
    return made


@pytest.fixture
def told(capfd) -> Callable[[], str]:
    """What was printed since it was last asked."""

    def read() -> str:
        out, error = capfd.readouterr()
        assert "Traceback" not in error
        return out + error

    return read


# Writing


def test_gen_writes_beside_the_source(project):
    files = contents(project.root)
    for name in (
        "generated/backends/alpha.py",
        "generated/data/kv_formats/packed.json",
        "generated/capabilities.schema.json",
        "docs/reference/matrix.md",
        "docs/reference/kernels/fastlib.decode.md",
    ):
        assert name in files
    assert set(snapshot(project.root)) == {*files, "capabilities.yaml"}


def test_every_file_says_where_it_comes_from(project):
    for name, content in contents(project.root).items():
        head = content.decode()[:400]
        assert MARK in head, name
        assert "make gen" in head, name
        if name.endswith(".py"):
            first, second, *_ = head.splitlines()
            assert first == (
                "# Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT."
            ), name
            assert second == "# Regenerate with make gen, or attnmatrix gen.", name


def test_files_are_utf8_with_plain_newlines(project):
    for name, content in contents(project.root).items():
        content.decode()
        assert b"\r" not in content, name
        assert content.endswith(b"\n"), name
        assert not content.endswith(b"\n\n"), name


def test_a_second_run_writes_nothing(project, told):
    before = snapshot(project.root)
    assert project.gen() == 0
    assert snapshot(project.root) == before
    assert told().startswith("0 files written")


def test_only_what_changed_is_written(project):
    before = snapshot(project.root)
    project.edit("Plain and packed MLA through FastLib", "Both caches through FastLib")
    assert project.gen() == 0
    after = snapshot(project.root)
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {
        "capabilities.yaml",
        "generated/backends/alpha.py",
        "generated/data/backends/ALPHA.json",
        "docs/reference/backends/ALPHA.md",
        "docs/reference/backends/index.md",
        "docs/reference/picker.jsonl",
    }


def test_files_of_a_removed_backend_go(project, told):
    start = contents(project.root)
    project.add("BETA")
    assert project.gen() == 0
    added = set(contents(project.root)) - set(start)
    assert {"generated/backends/beta.py", "docs/reference/backends/BETA.md"} <= added
    project.edit(backend("BETA"), "")
    told()
    assert project.gen() == 0
    assert contents(project.root) == start
    assert f"{len(added)} removed" in told()


def test_folders_that_are_empty_go_too(project):
    folder = project.root / "docs/reference/old/deeper"
    (folder / "__pycache__").mkdir(parents=True)
    (folder / "__pycache__/page.cpython-311.pyc").write_bytes(b"\0")
    (folder / "page.md").write_text(f"<!-- {MARK} -->\n", encoding="utf-8")
    assert project.gen() == 0
    assert not (project.root / "docs/reference/old").exists()


def test_a_folder_that_holds_more_than_bytecode_stays(project):
    cache = project.root / "generated/old/__pycache__"
    cache.mkdir(parents=True)
    (cache / "kernel.nbi").write_bytes(b"mine")
    (project.root / "generated/old/page.py").write_text(f"# {MARK}\n", encoding="utf-8")
    project.edit("Plain and packed MLA through FastLib", "Both caches through FastLib")
    assert project.gen() == 0
    assert [path.name for path in (project.root / "generated/old").rglob("*")] == [
        "__pycache__",
        "kernel.nbi",
    ]
    assert project.gen("--check") == 0


@pytest.mark.parametrize("end", ["new", "old"])
def test_what_a_killed_run_left_is_removed(project, end):
    before = contents(project.root)
    (project.root / f"generated/backends/{LEFT_OVER}.{end}").write_text("half", encoding="utf-8")
    assert project.gen("--check") == 1
    assert project.gen() == 0
    assert contents(project.root) == before


# Checking


def check_finds(project: Project, told: Callable[[], str]) -> str:
    """Runs the check, which must find something, write nothing, and print what mends it."""
    before = snapshot(project.root)
    assert project.gen("--check") == 1
    assert snapshot(project.root) == before
    shown = told()
    command = shlex.split(shown.splitlines()[-1].partition("Run: ")[2])
    assert command[0] == "attnmatrix"
    assert main(command[1:]) == 0
    told()
    assert project.gen("--check") == 0
    told()
    return shown


def test_check_in_step(project, told):
    before = snapshot(project.root)
    assert project.gen("--check") == 0
    assert snapshot(project.root) == before
    assert f"{len(contents(project.root))} files are in step" in told()


def test_check_names_stale_files_and_shows_the_difference(project, told):
    project.edit("Plain and packed MLA through FastLib", "Both caches through FastLib")
    shown = check_finds(project, told)
    assert "differs: generated/backends/alpha.py\n" in shown
    assert "--- a/generated/backends/alpha.py\n+++ b/generated/backends/alpha.py\n" in shown
    assert '-    summary = "Plain and packed MLA through FastLib"\n' in shown
    assert '+    summary = "Both caches through FastLib"\n' in shown


def test_check_names_a_file_edited_by_hand(project, told):
    file = project.root / "docs/reference/matrix.md"
    file.write_text(file.read_text(encoding="utf-8") + "A remark.\n", encoding="utf-8")
    shown = check_finds(project, told)
    assert "differs: docs/reference/matrix.md\n" in shown
    assert "-A remark.\n" in shown


@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: content.replace(b"\n", b"\r\n"),
        lambda content: b"\xef\xbb\xbf" + content,
        lambda content: content[:-1],
        lambda content: content + b"\xff",
        lambda content: b"",
    ],
    ids=["carriage returns", "byte order mark", "no last newline", "not UTF-8", "empty"],
)
def test_check_sees_every_byte(project, told, spoil):
    file = project.root / "generated/gpus.py"
    file.write_bytes(spoil(file.read_bytes()))
    assert "differs: generated/gpus.py\n" in check_finds(project, told)


def test_check_names_missing_files(project, told):
    (project.root / "generated/gpus.py").unlink()
    shutil.rmtree(project.root / "docs/reference/backends")
    shown = check_finds(project, told)
    assert "missing: generated/gpus.py\n" in shown
    assert "missing: docs/reference/backends/ALPHA.md\n" in shown
    assert "--- /dev/null\n+++ b/generated/gpus.py\n" in shown


def test_check_names_orphans(project, told):
    project.add("BETA")
    assert project.gen() == 0
    project.edit(backend("BETA"), "")
    told()
    shown = check_finds(project, told)
    assert "orphaned: generated/backends/beta.py\n" in shown
    assert "orphaned: docs/reference/backends/BETA.md\n" in shown


def test_check_in_a_repository_says_make_gen(project, told, monkeypatch):
    monkeypatch.chdir(project.root)
    assert main(["gen", "--check"]) == 0
    (project.root / "generated/gpus.py").unlink()
    assert main(["gen", "--check"]) == 1
    assert told().splitlines()[-1].endswith("Run: make gen")


def test_bytecode_is_no_orphan(project):
    cache = project.root / "generated/backends/__pycache__"
    cache.mkdir()
    (cache / "alpha.cpython-311.pyc").write_bytes(b"\0")
    assert project.gen("--check") == 0
    assert project.gen() == 0
    assert (cache / "alpha.cpython-311.pyc").exists()


# Failing


@pytest.mark.parametrize(
    "name",
    [
        "generated/backends/mine.py",
        "docs/reference/notes.md",
        "generated/data/x.bin",
        "generated/backends/.alpha.py.old",
        "generated/backends/.mine.new",
        f"generated/backends/{LEFT_OVER}",
        f"generated/backends/{LEFT_OVER}.old.py",
    ],
)
def test_files_that_were_not_generated_are_kept(project, told, name):
    (project.root / name).write_bytes(b"mine\xff")
    project.edit("Plain and packed MLA through FastLib", "Both caches through FastLib")
    before = snapshot(project.root)
    assert project.gen() == 2
    assert snapshot(project.root) == before
    shown = told()
    assert str(project.root / name) in shown
    assert "Move them elsewhere" in shown


def test_errors_leave_every_file_as_it_was(project, told):
    project.edit("head_size: 128", "head_size: 129")
    before = snapshot(project.root)
    assert project.gen() == 2
    assert project.gen("--check") == 2
    assert snapshot(project.root) == before
    shown = told()
    assert f"{project.source}:" in shown
    assert "error[format-size]" in shown
    assert "nothing written" in shown


def pipe(path: Path) -> None:
    os.mkfifo(path)


def socket(path: Path) -> None:
    import socket

    before = Path.cwd()
    os.chdir(path.parent)  # an address has room for 107 bytes
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(before)


def link_to_nothing(path: Path) -> None:
    path.symlink_to("nowhere")


def link_to_a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.skipif(os.name != "posix", reason="makes what POSIX has")
@pytest.mark.parametrize("make", [pipe, socket, link_to_nothing, link_to_a_device, folder])
@pytest.mark.parametrize("name", ["generated/gpus.py", "generated/mine.py"])
def test_what_is_no_file_is_kept_and_never_opened(project, told, name, make):
    project.edit("Plain and packed MLA through FastLib", "Both caches through FastLib")
    path = project.root / name
    path.unlink(missing_ok=True)
    make(path)
    if make is folder and name == "generated/mine.py":  # an empty one is nothing
        assert project.gen() == 0
        return
    if make is link_to_nothing and name == "generated/gpus.py":  # replaced by the file
        assert project.gen() == 0
        assert not path.is_symlink()
        return
    before, kind = snapshot(project.root), path.lstat().st_mode
    for options in ([], ["--check"]):
        done = run([sys.executable, "-m", "attnmatrix", *project.command, *options], timeout=20)
        assert done.returncode == 2
        assert str(path) in done.stderr
        assert "Traceback" not in done.stderr
    assert (snapshot(project.root), path.lstat().st_mode) == (before, kind)


def test_a_link_to_a_file_is_replaced_and_its_file_is_kept(project, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "gpus.py"
    path = project.root / "generated/gpus.py"
    elsewhere.write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(elsewhere)
    kept = elsewhere.read_bytes()
    assert project.gen("--check") == 0
    project.edit("  H200:", "  H201:")
    assert project.gen() == 0
    assert elsewhere.read_bytes() == kept
    assert not path.is_symlink()


@pytest.mark.parametrize("number", [1, 2, 5])
@pytest.mark.parametrize("failing", ["open", "replace", "rename"])
def test_a_failing_disk_leaves_every_file_as_it_was(project, told, monkeypatch, failing, number):
    for name in "FGHIJ":
        project.add(name)
    assert project.gen() == 0
    for name in "FGHIJ":
        project.edit(backend(name), "")
    project.add("BETA")
    project.edit("Plain and packed MLA through FastLib", "Both caches through FastLib")
    before = snapshot(project.root)
    calls = 0
    real_open, real_replace, real_rename = Path.open, os.replace, Path.rename

    def fail() -> None:
        nonlocal calls
        calls += 1
        if calls == number:
            raise OSError(errno.ENOSPC, "No space left on device")

    def failing_open(self, mode="r", *args, **kwargs):
        if mode != "r" and mode != "rb":
            fail()
        return real_open(self, mode, *args, **kwargs)

    def failing_replace(*args, **kwargs):
        fail()
        return real_replace(*args, **kwargs)

    def failing_rename(*args, **kwargs):
        fail()
        return real_rename(*args, **kwargs)

    with monkeypatch.context() as patch:
        if failing == "open":
            patch.setattr(Path, "open", failing_open)
        elif failing == "rename":
            patch.setattr(Path, "rename", failing_rename)
        else:
            patch.setattr(os, "replace", failing_replace)
        assert project.gen() == 2
    assert calls >= number
    assert snapshot(project.root) == before
    assert "No space left on device" in told()
    assert project.gen() == 0
    assert project.gen("--check") == 0


def test_a_limit_on_file_sizes_leaves_every_file_as_it_was(project):
    pytest.importorskip("resource")
    project.edit("Plain and packed MLA", "Both")
    project.add("BETA")
    before = snapshot(project.root)
    program = (
        "import resource, sys; from attnmatrix.cli import main;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500));"
        "sys.exit(main(['gen', '--source', sys.argv[1]]))"
    )
    done = run([sys.executable, "-B", "-c", program, str(project.source)])
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert snapshot(project.root) == before


def test_a_source_that_is_missing(tmp_path, told):
    absent = tmp_path / "absent.yaml"
    assert main(["gen", "--source", str(absent)]) == 2
    shown = told()
    assert str(absent) in shown
    assert "No such file" in shown
    assert list(tmp_path.iterdir()) == []


def test_a_source_that_is_a_folder(tmp_path, told):
    assert main(["gen", "--source", str(tmp_path)]) == 2
    assert str(tmp_path) in told()
    assert list(tmp_path.iterdir()) == []


def test_a_source_that_is_not_text(project, told):
    project.source.write_bytes(b"gpus:\n  \xff: x\n")
    before = snapshot(project.root)
    assert project.gen() == 2
    assert snapshot(project.root) == before
    assert f"{project.source}:2:" in told()


def test_an_output_that_is_a_file(project, told, tmp_path):
    file = tmp_path / "file"
    file.write_text("mine", encoding="utf-8")
    assert project.gen("--out", str(file)) == 2
    assert file.read_text(encoding="utf-8") == "mine"
    assert "file" in told()


def test_a_folder_in_the_place_of_a_file(project, told):
    (project.root / "generated/gpus.py").unlink()
    (project.root / "generated/gpus.py").mkdir()
    project.add("BETA")
    before = snapshot(project.root)
    assert project.gen() == 2
    assert snapshot(project.root) == before
    assert "gpus.py" in told()


# Two runs at once, and runs that are stopped


STOPPED = """
import os, signal, sys
from attnmatrix.cli import main
from attnmatrix.codegen import transaction
name, number = sys.argv[1], int(sys.argv[2])
real, calls = os.replace, 0
def replace(*paths):
    global calls
    calls += 1
    if calls >= number:  # the first asks it to stop; the others come while it undoes
        os.kill(os.getpid(), getattr(signal, name))
    return real(*paths)
transaction.os.replace = replace
sys.exit(main(sys.argv[3:]))
"""


def stop(project: Project, name: str, number: int, **options) -> subprocess.CompletedProcess[str]:
    """Runs gen, which gets a signal on putting the file of a number, and on each after it."""
    return run([sys.executable, "-c", STOPPED, name, str(number), *project.command], **options)


@pytest.fixture
def much(project) -> Project:
    """A project in which much is to be written and removed."""
    for name in "FGH":
        project.add(name)
    assert project.gen() == 0
    project.edit(backend("F"), "")
    project.add("BETA")
    project.edit("Plain and packed MLA through FastLib", "Both caches through FastLib")
    project.edit("  H200:", "  H201:")
    return project


@pytest.mark.skipif(os.name != "posix", reason="sends signals")
@pytest.mark.parametrize("number", [1, 2, 9])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_leaves_every_file_as_it_was(much, name, number):
    before = snapshot(much.root)
    done = stop(much, name, number)
    assert done.returncode == -getattr(signal, name), done.stderr
    assert snapshot(much.root) == before
    assert much.gen() == 0
    assert much.gen("--check") == 0


@pytest.mark.skipif(os.name != "posix", reason="sends signals")
def test_a_signal_that_is_ignored_stays_ignored(much):
    done = stop(much, "SIGHUP", 1, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    assert done.returncode == 0, done.stderr
    assert much.gen("--check") == 0


@pytest.mark.skipif(os.name != "posix", reason="sends signals")
def test_handlers_are_given_back(much):
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    before = [signal.getsignal(getattr(signal, name)) for name in names]
    assert much.gen() == 0
    assert [signal.getsignal(getattr(signal, name)) for name in names] == before


def test_gen_runs_in_a_thread(much):
    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(much.gen).result() == 0
    assert much.gen("--check") == 0


@pytest.mark.skipif(os.name != "posix", reason="sends signals")
@pytest.mark.parametrize("number", [1, 2, 9])
def test_after_a_killed_run_the_next_one_mends_all(much, number, tmp_path_factory):
    assert stop(much, "SIGKILL", number).returncode == -signal.SIGKILL
    assert any(".attnmatrix-" in name for name in snapshot(much.root))
    assert much.gen("--check") == 1
    assert much.gen() == 0
    assert contents(much.root) == fresh(much, tmp_path_factory)


def fresh(project: Project, tmp_path_factory) -> dict[str, bytes]:
    """What a run gives that finds nothing written."""
    root = tmp_path_factory.mktemp("fresh")
    shutil.copy(project.source, root)
    assert main(["gen", "--source", str(root / "capabilities.yaml")]) == 0
    return contents(root)


@pytest.mark.parametrize("round_", range(3))
def test_runs_at_once_leave_what_one_would(much, round_, tmp_path_factory):
    command = [sys.executable, "-m", "attnmatrix", *much.command]
    with ThreadPoolExecutor(4) as threads:
        done = list(threads.map(run, [command] * 4))
    assert [one.returncode for one in done] == [0] * 4, [one.stderr for one in done]
    assert contents(much.root) == fresh(much, tmp_path_factory)
    assert set(snapshot(much.root)) == {*contents(much.root), "capabilities.yaml"}


@pytest.mark.parametrize("options", [[], ["--check"]], ids=["gen", "check"])
def test_a_run_waits_for_another_and_says_so(project, options):
    fcntl = pytest.importorskip("fcntl")
    command = [sys.executable, "-u", "-m", "attnmatrix", *project.command, *options]
    before = snapshot(project.root)
    held = os.open(project.root, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        project.edit("Plain and packed MLA through FastLib", "Both caches through FastLib")
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as waiting:
            assert waiting.stderr is not None
            assert waiting.stderr.readline() == (
                f"waiting: another attnmatrix gen is at work under {project.root}\n"
            )
            assert waiting.poll() is None
            now = snapshot(project.root)
            assert {name for name in now if now[name] != before[name]} == {"capabilities.yaml"}
            fcntl.flock(held, fcntl.LOCK_UN)
            assert waiting.wait(60) == (1 if options else 0)
    finally:
        os.close(held)


# What checking and generating write elsewhere


def test_templates_are_compiled_where_that_is_wanted(tmp_path):
    for name in ("attnmatrix", "codegen"):
        ignored = shutil.ignore_patterns("__pycache__", "audit", "generated", "kernels")
        shutil.copytree(ROOT / name, tmp_path / "tree" / name, symlinks=True, ignore=ignored)
    (tmp_path / "capabilities.yaml").write_text(BASE, encoding="utf-8")
    compiled = tmp_path / "tree/codegen/templates/__pycache__"

    def gen(*options: str, **environment: str) -> set[str]:
        settings = {
            "PYTHONPATH": str(tmp_path / "tree"),
            "PYTHONPYCACHEPREFIX": str(tmp_path / "bytecode"),
            "PYTHONDONTWRITEBYTECODE": "",
            **environment,
        }
        done = run(
            [sys.executable, "-m", "attnmatrix", "gen", *options], cwd=tmp_path, env=settings
        )
        assert done.returncode == (0 if compiled.exists() or not options else 1), done.stderr
        return {path.name for path in compiled.iterdir()} if compiled.exists() else set()

    assert gen("--check") == set()
    assert gen(PYTHONDONTWRITEBYTECODE="1") == set()
    shutil.rmtree(tmp_path / "generated")
    kept = gen()
    assert len(kept) == len(list((tmp_path / "tree/codegen/templates").glob("*.j2")))
    shutil.copy(*(compiled / name for name in sorted(kept)[:2]))  # one that is stale
    before = snapshot(compiled)
    assert gen("--check") == kept
    assert snapshot(compiled) == before


# The same bytes everywhere


def run(command: list[str], **options) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("env", {})}
    return subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=options.pop("timeout", 60),
        **options,
    )


def many_forms() -> str:
    """A source with every form, and letters of several scripts and Unicode versions."""
    text = (EXAMPLES / "good" / "every_form.yaml").read_text(encoding="utf-8")
    letters = "İstanbul ıiIß Ωmega 漢字 🎉 \U00031350\U0001fae8 \u202ex"
    assert "Only tried with one sequence." in text
    return text.replace("Only tried with one sequence.", f"Only tried with {letters}.")


@pytest.fixture(scope="module")
def usual(tmp_path_factory) -> dict[str, bytes]:
    root = tmp_path_factory.mktemp("usual")
    (root / "capabilities.yaml").write_text(many_forms(), encoding="utf-8")
    assert main(["gen", "--source", str(root / "capabilities.yaml")]) == 0
    return contents(root)


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "0", "LC_ALL": "C", "TZ": "Asia/Kathmandu"},
        {"PYTHONHASHSEED": "1", "LC_ALL": "C.UTF-8", "PATH": "/nowhere", "HOME": "/nowhere"},
        {"PYTHONHASHSEED": "random", "LC_ALL": "tr_TR.UTF-8", "PYTHONUTF8": "0"},
        {"PYTHONHASHSEED": "2", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=lambda environment: " ".join(f"{k}={v}" for k, v in environment.items()),
)
def test_the_environment_changes_nothing(tmp_path, usual, environment):
    if environment["LC_ALL"].startswith("tr_TR"):
        listed = shutil.which("locale") and run(["locale", "-a"]).stdout.lower()
        if not listed or "tr_tr.utf" not in listed:
            pytest.skip("no Turkish locale here")
    elsewhere = tmp_path / "some where"
    elsewhere.mkdir()
    (tmp_path / "their files").mkdir()
    (tmp_path / "their files/capabilities.yaml").write_text(many_forms(), encoding="utf-8")
    done = run(
        [sys.executable, "-m", "attnmatrix", "gen", "--out", "o"]
        + ["--source", "../their files/capabilities.yaml"],
        cwd=elsewhere,
        env=environment,
        umask=0o077,
    )
    assert done.returncode == 0, done.stderr
    assert contents(elsewhere / "o") == usual


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_the_version_of_python_changes_nothing(tmp_path, usual, version):
    python = shutil.which(f"python{version}")
    needed = "import yaml, jinja2, pydantic"
    if python is None or run([python, "-c", needed]).returncode != 0:
        pytest.skip(f"no Python {version} with what gen needs")
    (tmp_path / "capabilities.yaml").write_text(many_forms(), encoding="utf-8")
    source = str(tmp_path / "capabilities.yaml")
    done = run([python, "-m", "attnmatrix", "gen", "--source", source])
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path) == usual


def test_a_check_prints_what_the_terminal_cannot_show(tmp_path):
    (tmp_path / "capabilities.yaml").write_text(many_forms(), encoding="utf-8")
    source = str(tmp_path / "capabilities.yaml")
    done = run(
        [sys.executable, "-m", "attnmatrix", "gen", "--check", "--source", source],
        env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
    )
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert "Run: attnmatrix gen" in done.stdout


def test_reordered_names_change_nothing_but_their_order(project):
    # What is generated follows the file: two backends exchanged exchange their rows, no more.
    project.add("BETA")
    assert project.gen() == 0
    before = contents(project.root)
    text = project.source.read_text(encoding="utf-8")
    start, rest = text.split("backends:\n")
    alpha = rest[: rest.index("  BETA:")]
    project.source.write_text(
        start + "backends:\n" + backend("BETA") + alpha + rest[rest.index("priorities:") :],
        encoding="utf-8",
    )
    assert project.gen() == 0
    after = contents(project.root)
    assert set(after) == set(before)
    for name in after:
        assert sorted(after[name].splitlines()) == sorted(before[name].splitlines()), name


# Another repository's file


def test_a_foreign_file_elsewhere(tmp_path, told):
    source = tmp_path / "in" / "theirs.yaml"
    source.parent.mkdir()
    text = BASE.replace("ALPHA", "THEIR_BACKEND").replace("fastlib", "theirlib")
    source.write_text(text.replace("packed_fp8", "their_fp8"), encoding="utf-8")
    out = tmp_path / "made" / "theirs"
    command = ["gen", "--source", str(source), "--out", str(out)]
    assert main(command) == 0
    assert list(source.parent.iterdir()) == [source]
    assert main([*command, "--check"]) == 0
    told()
    (out / "generated/gpus.py").unlink()
    assert main([*command, "--check"]) == 1
    assert told().splitlines()[-1].endswith(shlex.join(["Run:", "attnmatrix", *command])[5:])

    their = module(out / "generated/backends/their_backend.py").ENTRY
    assert their.get_name() == "THEIR_BACKEND"
    request = {"compute_capability": "9.0", "head_size": 128, "query_heads": 16, "block_size": 64}
    taken = their.judge(**request, dtype="bfloat16", kv_cache_dtype="fp8")
    assert (taken.status, taken.kv_cache_dtype, taken.kv_format) == (
        "supported",
        "their_fp8",
        "packed",
    )
    assert taken.bytes_per_token == 130
    automatic = their.judge(**request, dtype="bfloat16", kv_cache_dtype="auto")
    assert (automatic.status, automatic.kv_cache_dtype) == ("supported", "bfloat16")
    for change, field in (
        ({"compute_capability": "10.0"}, "compute_capability"),
        ({"head_size": 64}, "head_size"),
        ({"query_heads": 32}, "query_heads"),
        ({"block_size": 128}, "block_size"),
    ):
        refused = their.judge(**{**request, **change})
        assert refused.status == "unsupported"
        assert [reason.field for reason in refused.reasons] == [field]
    kv_format = module(out / "generated/kv_formats/packed.py").ENTRY
    assert kv_format.page_bytes(1) == 192  # 130 B, rounded up to a multiple of 64 B


@pytest.mark.parametrize(
    "name",
    [
        "theirs.yaml",
        "their file.yaml",
        "it's.yaml",
        "-->.yaml",
        '""".yaml',
        "a\nimport os\n#.yaml",
        "a\\u000a.yaml",
        "{{ 7 * 7 }}.yaml",
        "漢字\u202e.yaml",
        b"\xff.yaml",
    ],
)
def test_files_name_the_file_that_they_come_from(tmp_path, told, name):
    if os.name != "posix" and name != "theirs.yaml":
        pytest.skip("no file can have the name here")
    name = os.fsdecode(name)
    (tmp_path / name).write_text(BASE, encoding="utf-8")
    command = ["gen", "--source", str(tmp_path / name)]
    assert main(command) == 0
    mark = Header(name).mark
    assert mark.startswith("Code generated from ")
    assert mark.endswith(".yaml by attnmatrix. DO NOT EDIT.")
    for path, content in contents(tmp_path).items():
        head = content.decode()[:400]
        assert mark in head, path
        assert "capabilities.yaml" not in head, path
        assert "gen --source " in head, path
        if path.endswith(".py"):
            compile(content, path, "exec")
        if path.endswith(".md"):
            comment, _, rest = content.decode().partition("-->\n")
            assert comment.count("<!--") == 1, path
            assert "-->" not in rest, path
    if name == "theirs.yaml":
        assert mark == "Code generated from theirs.yaml by attnmatrix. DO NOT EDIT."
        assert "# Regenerate with attnmatrix gen --source theirs.yaml\n" in (
            (tmp_path / "generated/gpus.py").read_text(encoding="utf-8")
        )
    # They are known as generated whatever the file is called later.
    (tmp_path / name).rename(tmp_path / "capabilities.yaml")
    text = BASE.replace("ALPHA", "GAMMA")
    (tmp_path / "capabilities.yaml").write_text(text, encoding="utf-8")
    assert main(["gen", "--source", str(tmp_path / "capabilities.yaml")]) == 0
    assert not (tmp_path / "generated/backends/alpha.py").exists()


NAMES = [
    *("NONE", "TRUE", "FALSE", "CLASS", "IMPORT", "TYPE", "BACKEND", "CELL", "ANY", "INT_SET"),
    *("NONE_BACKEND", "A_N_Y", "N_O_N_E", "N_A_M_E", "NAME", "ENTRY", "MULTIPLES", "MULTIPLE_OF"),
    *("A", "A_", "A_B", "AB", "A_B_", "A1B", "A1_B", "FOO_1", "FOO1", "FOO_BAR", "FOOBAR"),
]


@pytest.mark.parametrize("together", [False, True], ids=["each", "all"])
def test_backends_may_have_any_name(tmp_path, together):
    for number, names in enumerate([NAMES] if together else [[name] for name in NAMES]):
        root = tmp_path / str(number)
        root.mkdir()
        start, rest = BASE.replace("order: [ALPHA]", f"order: ['{names[0]}']").split("  ALPHA:")
        alpha, end = rest.split("priorities:")
        text = start + "".join(f"  '{name}':{alpha}" for name in names) + f"priorities:{end}"
        (root / "capabilities.yaml").write_text(text, encoding="utf-8")
        assert main(["gen", "--source", str(root / "capabilities.yaml")]) == 0
        for name in names:
            made = module(root / f"generated/backends/{name.lower()}.py")
            assert made.ENTRY.get_name() == made.NAME == name
            assert made.ENTRY.__name__ == class_name(name)
            assert made.ENTRY.judge(compute_capability="9.0").status == "supported"


@given(st.lists(st.from_regex(r"[A-Z][A-Z0-9_]{0,5}", fullmatch=True), max_size=20))
@example(NAMES)
@example(["BACKEND", "BACKEND_BACKEND", "NONE", "NONE_BACKEND", "NONE_BACKEND_BACKEND"])
def test_no_two_backends_share_a_class_name(names):
    made = {class_name(name) for name in names}
    assert len(made) == len(set(names))
    assert all(name.isidentifier() and not iskeyword(name) for name in made)


def test_class_names_are_what_they_were():
    assert class_name("FLASHMLA_SPARSE_DSV4") == "FlashmlaSparseDsv4"
    assert class_name("NONE") == "NoneBackend"


@pytest.mark.parametrize("source", [EXAMPLES / "good" / "every_form.yaml", REAL])
def test_another_repository_can_lint_what_it_gets(tmp_path, source):
    pytest.importorskip("ruff")
    assert main(["gen", "--source", str(source), "--out", str(tmp_path)]) == 0
    ignored = "CPY,D203,D213,RUF001"  # a copyright is theirs to add; two contradict others
    options = ["--isolated", "--no-cache", "--select", "ALL", "--ignore", ignored]
    done = run([sys.executable, "-m", "ruff", "check", *options, str(tmp_path)])
    assert done.returncode == 0, done.stdout


def module(path: Path):
    spec = importlib.util.spec_from_file_location(f"theirs_{path.stem}", path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


# Two people at once


class Repository(Project):
    """A project under git, with the attributes that this repository sets."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        shutil.copy(ROOT / ".gitattributes", root)
        self.git("init", "-q", "-b", "main")
        assert self.gen() == 0
        self.commit("start")

    def git(self, *words: str, ok: bool = True) -> str:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "gc.auto=0"]
        environment = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        done = run(["git", *identity, *words], cwd=self.root, env=environment)
        assert done.returncode == 0 or not ok, done.stdout + done.stderr
        return done.stdout

    def commit(self, message: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def branch(self, name: str, old: str, new: str) -> None:
        """A branch on which the source is edited and generated from."""
        self.git("checkout", "-q", "-b", name, "main")
        self.edit(old, new)
        assert self.gen() == 0
        self.commit(name)

    @property
    def conflicts(self) -> list[str]:
        return self.git("diff", "--name-only", "--diff-filter=U").split()


@pytest.fixture
def repository(tmp_path) -> Repository:
    if shutil.which("git") is None:
        pytest.skip("no git here")
    return Repository(tmp_path)


def check_holds_both(repository: Repository) -> None:
    assert repository.gen() == 0
    assert repository.gen("--check") == 0
    files = contents(repository.root)
    for name in ("BETA", "OMEGA"):
        assert f"generated/backends/{name.lower()}.py" in files
        assert f"[`{name}`]".encode() in files["docs/reference/matrix.md"]
        assert f"[`{name}`]".encode() in files["docs/reference/kv-formats/packed.md"]
    assert not any(b"<<<<<<<" in content for content in files.values())


@pytest.mark.parametrize("attributes", [True, False], ids=["with attributes", "without"])
def test_two_backends_in_different_places_merge(repository, attributes):
    if not attributes:  # as where a code host merges, and knows no merge drivers
        repository.git("rm", "-q", ".gitattributes")
        repository.commit("no attributes")
    repository.branch("one", "backends:\n", f"backends:\n{backend('BETA')}")
    repository.branch("two", "priorities:\n", backend("OMEGA") + "priorities:\n")
    repository.git("merge", "-q", "-m", "both", "one")
    assert repository.conflicts == []
    check_holds_both(repository)


def test_two_backends_in_one_place_conflict_in_the_source_alone(repository):
    repository.branch("one", "priorities:\n", backend("BETA") + "priorities:\n")
    repository.branch("two", "priorities:\n", backend("OMEGA") + "priorities:\n")
    repository.git("merge", "-q", "-m", "both", "one", ok=False)
    assert set(repository.conflicts) <= {"capabilities.yaml"}
    start, rest = repository.git("show", "main:capabilities.yaml").split("priorities:\n")
    both = start + backend("BETA") + backend("OMEGA") + "priorities:\n" + rest
    repository.source.write_text(both, encoding="utf-8")
    check_holds_both(repository)


def test_many_edits_end_where_a_fresh_run_does(project, tmp_path_factory):
    chosen = random.Random(7)
    present: list[str] = []
    for _ in range(8):
        if present and chosen.random() < 0.4:
            name = present.pop(chosen.randrange(len(present)))
            project.edit(backend(name), "")
        else:
            name = f"B{chosen.randrange(10**6)}"
            present.append(name)
            project.add(name)
        assert project.gen() == 0
    fresh = tmp_path_factory.mktemp("fresh")
    shutil.copy(project.source, fresh)
    assert main(["gen", "--source", str(fresh / "capabilities.yaml")]) == 0
    assert contents(fresh) == contents(project.root)
