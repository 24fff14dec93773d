"""Takes the machine away from foreign code."""

from __future__ import annotations

import os
import posixpath
import sys
from pathlib import Path

from .lazy import VIRTUAL_ROOT
from .standins import Unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .tree import Tree


def confine(tree: Tree, limit_s: float) -> None:
    """Takes the machine away from the code that runs next, and limits its time."""

    os.environ.clear()
    sys.argv[:] = ["python"]
    prefix = f"{VIRTUAL_ROOT}/"

    def asks(files: bool, folders: bool) -> Any:
        def exists(path: Any) -> bool:
            text = posixpath.normpath(os.fspath(path))
            if not text.startswith(prefix):
                raise Unknown(f"whether the machine has {text}")
            name = text[len(prefix) :]
            return (files and name in tree.names) or (folders and name in tree.folders)

        return exists

    both, files, folders = asks(True, True), asks(True, False), asks(False, True)
    os.path.exists, os.path.isfile, os.path.isdir = both, files, folders
    Path.exists, Path.is_file, Path.is_dir = both, files, folders  # type: ignore[method-assign]

    refused = (
        "socket.",
        "subprocess.",
        "os.system",
        "os.exec",
        "os.posix_spawn",
        "os.fork",
        "ctypes.",
    )
    writes = ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.chmod", "os.link", "os.symlink")
    kept = tuple(os.path.realpath(folder) for folder in sys.path if folder)

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode = arguments[0], arguments[1]
            if isinstance(path, str) and (mode is None or set(mode) <= set("rbt")):
                if path.startswith((*kept, tree.path)):
                    return
            elif isinstance(path, int):
                return
            raise Unknown(f"a file of the machine: {path}")
        if event.startswith(refused) or event in writes:
            raise Unknown(f"the machine, through {event}")

    try:
        import resource

        seconds = max(1, int(limit_s) + 1)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    except (ImportError, ValueError, OSError):  # no such limits here; the parent's clock remains
        pass
    sys.addaudithook(audit)
