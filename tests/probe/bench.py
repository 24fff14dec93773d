"""The command `attnmatrix probe` on a made-up H200, with a made-up library."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from attnmatrix.cli import main
from attnmatrix.probe import command
from attnmatrix.probe.machine import Machine

H200 = Machine("H200", (9, 0), "cpu", 0, "580.1", "13.0", "2.11.0")
NOTHING = Machine("none", (0, 0), "cpu", 0, "none", "none", "2.11.0")
SPARSE, DENSE = "flash_mla.sparse_decode", "flash_mla.dense_decode"


class Ran(NamedTuple):
    """What a run left: its exit code and what it printed."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> dict[str, Any]:
        """What it printed, as JSON."""
        return dict(json.loads(self.out))

    @property
    def records(self) -> list[dict[str, Any]]:
        """Every record of its JSON."""
        return [record for file in self.data["evidence"] for record in file["records"]]


class Bench:
    """Runs the command; `bid` says what the library does."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, capfd: Any) -> None:
        self.folder, self._patch, self._capfd = folder, patch, capfd
        self.site = folder / "site"
        self.site.mkdir()
        patch.syspath_prepend(str(self.site))
        patch.chdir(folder)
        patch.setattr(command, "CALLERS", "tests.probe.fake_callers")
        for name in [name for name in sys.modules if name.partition(".")[0] == "theirs"]:
            patch.delitem(sys.modules, name)  # another test's matrix
        self.machine(H200)
        self.install("vllm", "0.33.0")

    def machine(self, machine: Machine) -> None:
        """Stands on another machine."""
        self._patch.setattr(command, "find_machine", lambda matrix: machine)

    def install(self, name: str, version: str) -> None:
        """Puts a distribution on the path, by its metadata alone."""
        folder = self.site / f"{name.replace('-', '_')}-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )

    def bid(self, *rules: tuple[dict[str, Any], str], **more: Any) -> Path:
        """Cases with these axes behave so; returns where the library notes what it is asked."""
        log = self.folder / "library.log"
        file = self.folder / "library.json"
        file.write_text(json.dumps({"rules": rules, "log": str(log), **more}))
        self._patch.setenv("FAKE_LIBRARY", str(file))
        return log

    def probe(self, *options: str) -> Ran:
        """Runs `attnmatrix probe` with two workers."""
        self._capfd.readouterr()
        code = main(["probe", "--workers", "2", *options])
        return Ran(code, *self._capfd.readouterr())

    def outcomes(self, *options: str) -> dict[str, dict[str, Any]]:
        """The record of each case of a run with --json, by the case's number of query heads."""
        ran = self.probe("--json", *options)
        return {record["case"]["query_heads"]: record for record in ran.records}


def case_key(kernel: str = SPARSE, **axes: Any) -> str:
    """A case of DeepSeek-V4 through FlashMLA, or with other axes."""
    whole = {
        "kernel": kernel,
        "kv_format": "ds_mla_v4",
        "dtype": "bfloat16",
        "head_size": 512,
        "query_heads": 64,
        "page_size": 64,
        "topk": 128,
    } | axes
    return ",".join(f"{axis}={value}" for axis, value in whole.items() if value is not None)


def keys(cases: Sequence[dict[str, Any]]) -> list[str]:
    """Options that name these cases."""
    return [word for axes in cases for word in ("--case", case_key(**axes))]
