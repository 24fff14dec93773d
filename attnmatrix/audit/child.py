"""The child process: runs an engine's declarations apart from us, and prints what they answer.

Started as `python -I -S child.py` with a request as JSON on its input: `path` and `package` of the
release, `home` (the folder that holds attnmatrix), `limit_s`, `every_gpu`. It answers with JSON on its output.
Whatever the foreign code prints goes to the error output; it gets no network, no other process, no
file but the release's, and no environment variable.
"""

from __future__ import annotations

import json
import os
import sys
from itertools import product

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from attnmatrix.audit.questions import Examiner
    from attnmatrix.audit.tree import Tree

SAMPLE_HEAD_SIZES = (64, 128, 192, 256, 512, 576)
"""Head sizes, in elements, that combinations are tried with where a backend names none."""


def main() -> None:
    """Answers the request on standard input."""
    request = json.load(sys.stdin)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.path[:] = [request["home"], *sys.path]
    from attnmatrix.audit import questions, standins, static, tree, world  # noqa: F401

    sys.path.remove(request["home"])  # third-party packages may lie there, too
    try:
        found = tree.open_tree(request["path"], request["package"])
        _ = found.folders, found.requirements, found.version  # read while files may be looked for
        _confine(found, request["limit_s"])
        result = read(found, request["every_gpu"])
    except tree.AuditError as error:
        result = {"error": str(error)}
    except (Exception, standins.Unknown) as error:  # of its registry: a backend's are its answers
        result = {"error": f"{request['path']}: {_why(error)['unknown']}"}
    json.dump(result, answers)
    answers.close()
    sys.stderr.flush()
    os._exit(0)  # foreign exit handlers have no say


def read(tree: Tree, every_gpu: bool = False) -> dict[str, Any]:
    """Everything that the release answers; each cell a value, or `{"unknown": why}`."""
    from attnmatrix.audit.questions import (
        CAPABILITIES,
        FURTHER_CAPABILITIES,
        Examiner,
        platform_of,
        registered,
    )
    from attnmatrix.audit.static import StaticReader
    from attnmatrix.audit.world import Sources

    sources = Sources(tree)
    gpus = (*CAPABILITIES, *FURTHER_CAPABILITIES) if every_gpu else CAPABILITIES
    paths = registered(sources)
    static = StaticReader(sources)
    examiners: dict[str, list[Examiner]] = {}
    result: dict[str, Any] = {"version": tree.version, "backends": {}, "placeholders": []}
    for name, path in paths.items():
        if not path:
            result["placeholders"].append(name)
            continue
        platform = platform_of(name)
        if platform not in examiners:
            examiners[platform] = [
                Examiner(sources, platform, capability)
                for capability in (gpus if platform == "cuda" else (None,))
            ]
        runs = {
            "any" if examiner.capability is None else "{}.{}".format(*examiner.capability): _ask(
                examiner, path
            )
            for examiner in examiners[platform]
        }
        result["backends"][name] = {
            "path": path,
            "platform": platform,
            "place": sources.place(path),
            "runs": runs,
            "static": static.fields(path),
        }
    return result


def _ask(examiner: Examiner, path: str) -> dict[str, Any]:
    from attnmatrix.audit.questions import FURTHER_CAPABILITIES, ask_fields, compute_capabilities
    from attnmatrix.audit.standins import Unknown

    try:
        backend = examiner.backend(path)
    except (Exception, Unknown) as error:
        return {"class": _why(error)}
    fields = ask_fields(examiner, backend)
    try:
        further = compute_capabilities(examiner, backend, FURTHER_CAPABILITIES)
    except (Exception, Unknown):
        further = []
    answers = {
        field: _why(value) if isinstance(value, BaseException) else value
        for field, value in fields.items()
    }
    return {
        "fields": answers,
        "further": further,
        "combinations": _combinations(examiner, backend, fields),
    }


def _combinations(examiner: Examiner, backend: Any, fields: dict[str, Any]) -> list[dict[str, Any]]:
    """What the engine's own check says of each combination inside what the fields declare."""
    from attnmatrix.audit.questions import combination_reasons, expand
    from attnmatrix.audit.standins import Unknown

    names = ("dtypes", "kv_cache_dtypes", "head_sizes", "compute_capabilities")
    if examiner.capability is None or not all(isinstance(fields[name], list) for name in names):
        return []
    if not fields["compute_capabilities"]:
        return []
    found = []
    sizes = expand(fields["head_sizes"], SAMPLE_HEAD_SIZES)
    for dtype, spelling, size in product(fields["dtypes"], fields["kv_cache_dtypes"], sizes):
        row: dict[str, Any] = {"dtype": dtype, "kv_cache_dtype": spelling, "head_size": size}
        examiner.model_asked = False
        try:
            row["reasons"] = combination_reasons(examiner, backend, spelling, size, dtype)
        except (Exception, Unknown) as error:
            row |= {"reasons": None, **_why(error)}
        row["model"] = examiner.model_asked
        found.append(row)
    return found


def _why(error: BaseException) -> dict[str, str]:
    from attnmatrix.audit.standins import Unknown

    text = str(error) if isinstance(error, Unknown) else f"{type(error).__name__}: {error}"
    return {"unknown": text}


def _confine(tree: Tree, limit_s: float) -> None:
    """Takes the machine away from the code that runs next, and limits its time."""
    import posixpath
    from pathlib import Path

    from attnmatrix.audit.lazy import VIRTUAL_ROOT
    from attnmatrix.audit.standins import Unknown

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

    refused = ("socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork", "ctypes.")
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


if __name__ == "__main__":
    main()
