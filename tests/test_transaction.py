"""Changes to files happen all or not at all, wherever they fail."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from attnmatrix.codegen.transaction import change, is_left_over


def made(root: Path) -> Path:
    """A folder with two files to change, two to remove, a link, and files that stay."""
    for name in ("a/one", "a/two", "b/gone", "b/gone too", "b/stays", "elsewhere"):
        (root / name).parent.mkdir(exist_ok=True, parents=True)
        (root / name).write_text(f"old {name}\n", encoding="utf-8")
    (root / "a/link").symlink_to("../elsewhere")
    return root


@pytest.fixture
def root(tmp_path) -> Path:
    return made(tmp_path)


def state(root: Path) -> dict[str, object]:
    """Every file, link and folder, with what it holds."""
    found: dict[str, object] = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            found[name] = path.readlink()
        else:
            found[name] = (path.read_text(), path.stat().st_mtime_ns) if path.is_file() else None
    return found


def texts(root: Path) -> dict[Path, str]:
    return {root / name: f"new {name}\n" for name in ("a/one", "a/two", "a/link", "new/deep/three")}


def gone(root: Path) -> list[Path]:
    return [root / "b/gone", root / "b/gone too"]


def test_all_happens(root):
    before = state(root)
    change(texts(root), gone(root))
    after = state(root)
    assert set(after) == {*before, "new", "new/deep", "new/deep/three"} - {"b/gone", "b/gone too"}
    for path, text in texts(root).items():
        assert path.read_text() == text
        assert not path.is_symlink()
    assert (after["b/stays"], after["elsewhere"]) == (before["b/stays"], before["elsewhere"])


def fail_at(patch: pytest.MonkeyPatch, number: int) -> Callable[[], int]:
    """Lets the call of a number fail, of all calls that change the disk; returns their count."""
    calls = 0

    def wrapped(real: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **options: object) -> object:
            nonlocal calls
            calls += 1
            if calls == number:
                raise OSError(errno.ENOSPC, "No space left on device")
            return real(*arguments, **options)

        return call

    for where, name in (
        (os, "replace"),
        (os, "link"),
        (shutil, "copy2"),
        (Path, "open"),
        (Path, "rename"),
        (Path, "mkdir"),
    ):
        patch.setattr(where, name, wrapped(getattr(where, name)))
    return lambda: calls


def test_whatever_fails_all_is_as_it_was(tmp_path, monkeypatch):
    failed = 0
    for number in range(1, 100):
        root = made(tmp_path / str(number))
        before = state(root)
        with monkeypatch.context() as patch:
            calls = fail_at(patch, number)
            try:
                change(texts(root), gone(root))
            except OSError as error:
                failed += 1
                assert error.errno == errno.ENOSPC
                assert not hasattr(error, "__notes__")
                assert state(root) == before
            else:  # a link that failed was replaced by a copy
                assert not (root / "b/gone").exists()
        if calls() < number:
            break
    assert failed == 4 + 2 + 4 + 1 + 2  # files opened, folders made, files put, moved, taken


def test_a_disk_without_links(root, monkeypatch):
    before = state(root)

    def no_links(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    real = Path.rename

    def last_fails(path: Path, target: Path) -> Path:
        if path.name == "gone too":
            raise OSError(errno.EACCES, "Permission denied")
        return real(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", last_fails)
        with pytest.raises(PermissionError):
            change(texts(root), gone(root))
    assert {name: held and held[0] for name, held in state(root).items() if name != "a/link"} == {
        name: held and held[0] for name, held in before.items() if name != "a/link"
    }
    assert (root / "a/link").is_symlink()
    change(texts(root), gone(root))
    assert (root / "a/one").read_text() == "new a/one\n"


def test_a_caller_may_stop_it_between_any_two_steps(root):
    before = state(root)

    class Enough(BaseException):
        pass

    def stop_after(number: int) -> Callable[[], None]:
        left = iter(range(number))

        def check() -> None:
            if next(left, None) is None:
                raise Enough

        return check

    stops = 2 * len(texts(root)) + len(gone(root))
    for number in range(stops):
        with pytest.raises(Enough):
            change(texts(root), gone(root), stop_after(number))
        assert state(root) == before
    change(texts(root), gone(root), stop_after(stops))
    assert state(root) != before


def test_what_cannot_be_put_back_is_told(root, monkeypatch):
    real = os.replace

    def only_new(source: Path, target: Path) -> None:
        if not Path(source).name.endswith(".new"):
            raise OSError(errno.EIO, "Input/output error")
        if Path(target).name == "two":
            raise OSError(errno.ENOSPC, "No space left on device")
        real(source, target)

    monkeypatch.setattr(os, "replace", only_new)
    with pytest.raises(OSError, match="No space left") as caught:
        change(texts(root), [])
    (note, *_) = (n for n in caught.value.__notes__ if "a/one" in n)
    kept = Path(note.partition(" may lie in ")[2].partition(" now: ")[0])
    assert kept.read_text() == "old a/one\n"


def test_other_files_beside_are_left_alone(root):
    beside = [".one.new", ".one.old", ".one.attnmatrix", ".attnmatrix-0.new", ".attnmatrix"]
    for name in beside:
        (root / "a" / name).write_text("mine", encoding="utf-8")
        assert not is_left_over(name)
    change(texts(root), gone(root))
    assert all((root / "a" / name).read_text() == "mine" for name in beside)


def test_long_names(root):
    name = "n" * 255
    change({root / name: "first\n"}, [])
    change({root / name: "second\n"}, [])
    assert (root / name).read_text() == "second\n"
    change({}, [root / name])
    assert not (root / name).exists()
