"""What changed from release to release, worked out from snapshots beside the source."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from attnmatrix.cli import main
from tests.sources import BASE


@pytest.fixture
def source(tmp_path) -> Path:
    path = tmp_path / "capabilities.yaml"
    path.write_text(BASE, encoding="utf-8")
    assert main(["gen", "--source", str(path)]) == 0
    return path


def record(source: Path, version: str, edit=lambda backends: None) -> None:
    """Records a release: matrix.json as it is, with what the release had otherwise."""
    matrix = json.loads((source.parent / "generated/data/matrix.json").read_bytes())
    edit(matrix["backends"])
    folder = source.parent / "changes"
    folder.mkdir(exist_ok=True)
    (folder / f"{version}.json").write_text(json.dumps(matrix), encoding="utf-8")


def page(source: Path) -> str:
    assert main(["gen", "--source", str(source)]) == 0
    return (source.parent / "docs/reference/changes.md").read_text(encoding="utf-8")


def test_without_a_release_the_page_says_so(source):
    assert "No release has been recorded yet" in page(source)


def test_a_release_without_changes_since(source):
    record(source, "1.0")
    content = page(source)
    assert "## 1.0\n" in content
    assert "Not released yet" not in content


def test_states_that_moved_name_their_gpus(source):
    record(source, "1.0", lambda b: b["ALPHA"]["fp8"].update({"9.0": "no", "10.0": "cited"}))
    content = page(source)
    assert "## Not released yet\n\n- `ALPHA`: fp8 on 9.0: no → cited\n" in content
    assert "- `ALPHA`: fp8 on 10.0: cited → no\n" in content


def test_what_came_and_went(source):
    def before(backends):
        backends["OLD"] = {"auto": {"9.0": "cited"}}
        backends["ALPHA"]["gone"] = {"9.0": "cited"}
        del backends["ALPHA"]["fp8"]

    record(source, "1.0", before)
    content = page(source)
    assert "- `OLD`: removed\n" in content
    assert "- `ALPHA`: gone: removed\n" in content
    assert "- `ALPHA`: fp8: added\n" in content


def test_a_gpu_that_is_new_changes_nothing(source):
    record(source, "1.0", lambda backends: backends["ALPHA"]["fp8"].pop("9.0"))
    assert "fp8" not in page(source)


def test_releases_are_ordered_as_versions_are(source):
    record(source, "0.9", lambda backends: backends.clear())
    record(source, "0.10", lambda backends: backends["ALPHA"].pop("fp8"))
    content = page(source)
    titles = [line for line in content.splitlines() if line.startswith("## ")]
    assert titles == ["## Not released yet", "## 0.10", "## 0.9"]
    assert "## 0.10\n\n- `ALPHA`: added\n" in content


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("first.json", "{}", "not a version"),
        ("1.0.json", "{", "Expecting"),
        ("1.0.json", '{"backends": {"ALPHA": ["auto"]}}', "no copy of matrix.json"),
        ("1.0.json", "[]", "no copy of matrix.json"),
    ],
)
def test_a_snapshot_that_cannot_be_read_stops_everything(source, capsys, name, text, words):
    (source.parent / "changes").mkdir()
    file = source.parent / "changes" / name
    file.write_text(text, encoding="utf-8")
    before = (source.parent / "docs/reference/changes.md").stat().st_mtime_ns
    assert main(["gen", "--source", str(source)]) == 2
    shown = capsys.readouterr().err
    assert f"{file}:1:1: error[invalid-value]:" in shown
    assert words in shown
    assert "copy generated/data/matrix.json" in shown
    assert (source.parent / "docs/reference/changes.md").stat().st_mtime_ns == before
