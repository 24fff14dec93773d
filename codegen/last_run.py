"""What the last run read and left, so that a run with nothing to do sees it without doing the work.

A record lies with Python's own caches, in generated/__pycache__, and git does not see it. It holds
digests of contents, no times: of every input (the YAML, the snapshots, the generator's code and
templates, the versions of what it is installed with) and of every file that it left. One byte
elsewhere and the run does all.
`gen --check` never asks here.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path

from .folders import files_under

_RECORD = Path("generated/__pycache__/attnmatrix-gen.json")
_LIBRARIES = ("jinja2", "pydantic", "yaml")


def inputs_digest(paths: Collection[Path], words: Iterable[str]) -> str | None:
    """One digest of all that a run depends on: these files and words, the code, its libraries.

    None where that cannot be told: a file is missing, or no plain file (a pipe is read once).
    """
    if not all(path.is_file() for path in paths):
        return None
    try:
        return _digest_of(paths, words)
    except OSError:
        return None


def _digest_of(paths: Collection[Path], words: Iterable[str]) -> str:
    digest = blake2b(digest_size=16)
    for word in (*words, sys.version, *_distributions()):
        digest.update(f"{word}\0".encode(errors="surrogateescape"))
    for path in (*paths, *_code()):
        digest.update(os.fsencode(path) + b"\0")
        digest.update(blake2b(path.read_bytes()).digest())
    return digest.hexdigest()


def unchanged(root: Path, inputs: str) -> int | None:
    """The number of files, if the last run under `root` had these inputs and left what lies there.

    Nothing is missing then, nothing differs, nothing is left over.
    """
    try:
        record = json.loads((root / _RECORD).read_text(encoding="utf-8"))
        if record["inputs"] != inputs or set(files_under(root)) != set(record["outputs"]):
            return None
        for path, digest in record["outputs"].items():
            if _digest((root / path).read_bytes()) != digest:
                return None
        return len(record["outputs"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def remember(root: Path, inputs: str, files: Mapping[str, str]) -> None:
    """Keeps the record of a run; says nothing where it cannot, or where bytecode is not wanted."""
    if sys.dont_write_bytecode:
        return
    record = {"inputs": inputs, "outputs": {p: _digest(t.encode()) for p, t in files.items()}}
    with suppress(OSError):
        (root / _RECORD).parent.mkdir(exist_ok=True)
        (root / _RECORD).with_name(".gitignore").write_text("*\n", encoding="utf-8")
        beside = (root / _RECORD).with_suffix(f".{os.getpid()}")
        beside.write_text(json.dumps(record), encoding="utf-8")
        beside.replace(root / _RECORD)


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


def _code() -> list[Path]:
    """Files of the generator, and of the runtime that it renders with."""
    here = Path(__file__).parent
    runtime = Path(sys.modules["attnmatrix"].__path__[0])
    templates = [p for p in (here / "templates").iterdir() if p.is_file()]
    return sorted((*here.glob("*.py"), *runtime.glob("*.py"), *templates))


def _distributions() -> list[str]:
    """Names with versions of what is installed beside the generator's libraries."""
    specs = [find_spec(name) for name in _LIBRARIES]
    sites = {Path(spec.origin).parent.parent for spec in specs if spec and spec.origin}
    return sorted(
        f"{site}/{name}"
        for site in sites
        for name in os.listdir(site)
        if name.endswith((".dist-info", ".egg-info"))
    )
