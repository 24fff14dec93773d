"""The command `attnmatrix`: explain, select, gen, probe, audit and import.

Exit codes: 0 fine, 1 findings (none accepts, files differ), 2 broken (bad usage, unreadable input).
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from importlib import import_module

from . import __version__
from .libraries import BUILT_IN
from .output import Output
from .probe.options import add_options as add_probe_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .request import Request
    from .verdict import Verdict


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns its exit code."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if isinstance(sys.stdout, io.TextIOWrapper):  # a letter that a terminal lacks is no crash
        sys.stdout.reconfigure(errors="backslashreplace")
    if sys.stdout is None:
        return _fail("cannot print: standard output is closed")
    with Output() as output:
        try:
            code: int = arguments.run(arguments)
        except _Usage as error:
            code = _fail(error)
    if output.error is None or isinstance(output.error, BrokenPipeError):
        return code  # the reader of a pipe may stop reading
    return _fail(f"cannot print: {output.error.strerror}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="attnmatrix", description="What each attention backend supports, and why not the rest."
    )
    parser.add_argument("--version", action="version", version=f"attnmatrix {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    explain = commands.add_parser(
        "explain",
        help="each backend's verdict on a combination, with every reason",
        description="Each backend's verdict on a combination. What is not named is not checked. "
        "Exit code 0 if any named backend accepts, 1 if none does, 2 on bad usage.",
    )
    explain.add_argument("backends", nargs="*", metavar="BACKEND", help="default: all")
    _add_request(explain)
    explain.set_defaults(run=_explain)
    select = commands.add_parser(
        "select",
        help="the first supported backend by priority, and why others were passed over",
        description="The first supported backend by priority. Exit code 0 if there is one, 1 if "
        "none, 2 on bad usage.",
    )
    _add_request(select)
    select.set_defaults(run=_select)
    gen = commands.add_parser(
        "gen",
        help="write backend classes, docs and data files from a YAML file",
        description="Writes DIR/generated and DIR/docs/reference. Exit code 0 if all is written "
        "or in step, 1 if --check finds a difference, 2 if the YAML file has errors.",
    )
    gen.add_argument("--source", default="capabilities.yaml", metavar="F", help="%(default)s")
    gen.add_argument("--out", metavar="DIR", help="default: the folder of the source")
    gen.add_argument("--check", action="store_true", help="write nothing; print a diff")
    gen.set_defaults(run=_gen)
    probe = commands.add_parser(
        "probe",
        help="run the kernels on this GPU, and hold the answers against the matrix",
        description="Runs every combination near what kernels claim, each apart from the others in "
        "worker processes, and compares with float64. Exit code 0 if the matrix and the GPU agree, "
        "1 if they do not, 2 if nothing could be tried.",
    )
    add_probe_options(probe)
    _add_matrix(probe)
    probe.set_defaults(run=_probe)
    _add_audit(commands)
    return parser


def _add_audit(commands: Any) -> None:
    audit = commands.add_parser(
        "audit",
        help="compare with what an engine release declares",
        description="What an engine release declares of its attention backends, against the "
        "matrix; or, of two releases, what changed. The release's own declarations run in a "
        "separate process with a time limit; nothing of it or its libraries need be installed. "
        "Exit code 0 if they agree, 1 if they differ, 2 if a release cannot be read.",
    )
    audit.add_argument("engine", choices=["vllm"], metavar="ENGINE", help="vllm")
    audit.add_argument("release", metavar="RELEASE", help="a wheel, a folder, or installed")
    audit.add_argument("later", metavar="LATER", nargs="?", help="a release to compare it with")
    form = audit.add_mutually_exclusive_group()
    form.add_argument("--format", choices=["text", "json", "github"], default="text")
    form.add_argument("--json", dest="format", action="store_const", const="json")
    audit.set_defaults(run=_audit)
    draft = commands.add_parser(
        "import",
        help="draft YAML entries for an engine's backends that the matrix lacks",
        description="Prints YAML entries for the backends of a release that the matrix lacks. "
        "Exit code 0, or 2 if the release cannot be read.",
    )
    draft.add_argument("engine", choices=["vllm"], metavar="ENGINE", help="vllm")
    draft.add_argument("release", metavar="RELEASE", help="a wheel, a folder, or installed")
    draft.set_defaults(run=_import)
    for parser in (audit, draft):
        _add_matrix(parser)
        parser.add_argument(
            "--time-limit", type=float, default=60.0, metavar="S", help="seconds, by default 60"
        )


def _add_request(parser: argparse.ArgumentParser) -> None:
    gpu = parser.add_mutually_exclusive_group()
    gpu.add_argument("--gpu", metavar="NAME", help="such as H200; rocm, xpu, or none")
    gpu.add_argument("--compute-capability", metavar="X.Y", help="such as 9.0, 9.0a or sm_90a")
    parser.add_argument(
        "--model", metavar="NAME", help="such as DeepSeek-V3.2: fills in what is not named"
    )
    parser.add_argument(
        "--tensor-parallel", type=int, metavar="N", help="GPUs that share the model's query heads"
    )
    parser.add_argument("--dtype", metavar="D", help="the model's, such as bfloat16")
    parser.add_argument("--kv-cache-dtype", metavar="D", help="such as auto, fp8 or fp8_ds_mla")
    for option, unit in (
        ("head-size", "elements"),
        ("block-size", "tokens"),
        ("query-heads", "heads on one GPU"),
        ("topk", "indices a query selects"),
    ):
        parser.add_argument(f"--{option}", type=int, metavar="N", help=unit)
    for option in ("mla", "sparse", "sink"):
        parser.add_argument(f"--{option}", action=argparse.BooleanOptionalAction, default=None)
    parser.add_argument("--phase", metavar="P", default="decode", help="decode or prefill")
    parser.add_argument(
        "--feature", action="append", default=[], metavar="NAME", help="such as strided_pages"
    )
    parser.add_argument(
        "--library",
        action="append",
        default=[],
        metavar="DIST==VERSION",
        help="such as vllm==0.33.0",
    )
    parser.add_argument(
        "--installed", action="store_true", help="judge by the libraries that this machine has"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    _add_matrix(parser)


def _add_matrix(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--matrix",
        metavar="PACKAGE",
        default=BUILT_IN,
        help="another matrix's generated modules, such as theirs.generated",
    )


class _Usage(Exception):
    """Bad usage: what is wrong and what is accepted."""


def _request(arguments: argparse.Namespace) -> Request:
    from .errors import RequestError
    from .request import Request

    _find_matrix(arguments.matrix)
    libraries: dict[str, Any] = {}
    if arguments.installed:
        from .libraries import installed_libraries

        libraries.update(installed_libraries(arguments.matrix))
    named: set[str] = set()
    for text in arguments.library:
        name, separator, version = text.partition("==")
        if not separator or not name.strip() or not version.strip():
            raise _Usage(f"--library: {text!r} is not DIST==VERSION, such as vllm==0.33.0")
        if name.strip() in named:
            raise _Usage(f"--library: {name.strip()} is named twice: name one version")
        named.add(name.strip())
        libraries[name.strip()] = version.strip()
    try:
        return Request(
            gpu=arguments.gpu,
            compute_capability=arguments.compute_capability,
            dtype=arguments.dtype,
            kv_cache_dtype=arguments.kv_cache_dtype,
            head_size=arguments.head_size,
            block_size=arguments.block_size,
            query_heads=arguments.query_heads,
            topk=arguments.topk,
            mla=arguments.mla,
            sparse=arguments.sparse,
            sink=arguments.sink,
            phase=arguments.phase,
            features=arguments.feature,
            libraries=libraries,
            model=arguments.model,
            tensor_parallel=arguments.tensor_parallel,
            matrix=arguments.matrix,
        )
    except RequestError as error:
        option = {"features": "feature", "libraries": "library"}.get(error.field, error.field)
        message = str(error).removeprefix(f"{error.field}: ")
        raise _Usage(f"--{option.replace('_', '-')}: {message}") from None


def _find_matrix(package: str) -> None:
    """Makes another matrix's generated modules importable. Raises _Usage if they are not."""
    if package == BUILT_IN:
        return
    sys.path.insert(0, "")  # the generated modules of the repository one stands in
    try:
        import_module(f"{package}.libraries")
    except ImportError as error:
        raise _Usage(f"--matrix: no generated modules: {error}") from None


def _explain(arguments: argparse.Namespace) -> int:
    from .errors import UnknownName
    from .registry import backend_names, get_backend
    from .selection import explain

    request = _request(arguments)
    try:
        backends = arguments.backends or backend_names(arguments.matrix)
        found = [get_backend(name, arguments.matrix) for name in backends]
        verdicts = explain(found, request)
    except UnknownName as error:
        return _fail(error)
    if arguments.json:
        _print_json([verdict.to_json() for verdict in verdicts])
    else:
        for verdict in verdicts:
            print(_verdict_text(verdict))
    return 0 if any(verdict.status == "supported" for verdict in verdicts) else 1


def _select(arguments: argparse.Namespace) -> int:
    from .selection import select

    selection = select(_request(arguments), matrix=arguments.matrix)
    if arguments.json:
        _print_json(selection.to_json())
    else:
        print(f"selected: {selection.selected.name if selection.selected else 'none'}")
        for verdict in selection.candidates:
            print(_verdict_text(verdict))
        if selection.unranked:
            names = ", ".join(backend.name for backend in selection.unranked)
            print(f"accepted, but in no priority for such a request: {names}")
    return 0 if selection.selected else 1


def _gen(arguments: argparse.Namespace) -> int:
    import os

    before = os.environ.get("PYDANTIC_DISABLE_PLUGINS")
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"  # or it reads every package's metadata
    try:
        from .codegen.command import generate
    except ModuleNotFoundError as error:
        return _fail(
            f"gen needs {error.name}: install attnmatrix[codegen], or run make gen in a checkout"
        )
    finally:
        if before is None:
            del os.environ["PYDANTIC_DISABLE_PLUGINS"]
        else:
            os.environ["PYDANTIC_DISABLE_PLUGINS"] = before
    return generate(arguments.source, arguments.out, check=arguments.check)


def _probe(arguments: argparse.Namespace) -> int:
    from .probe.command import probe

    _find_matrix(arguments.matrix)
    return probe(arguments)


def _audit(arguments: argparse.Namespace) -> int:
    from .audit.command import audit

    _find_matrix(arguments.matrix)
    releases = [arguments.release, *([arguments.later] if arguments.later else [])]
    return audit(
        arguments.engine, releases, arguments.format, arguments.time_limit, arguments.matrix
    )


def _import(arguments: argparse.Namespace) -> int:
    from .audit.command import import_

    _find_matrix(arguments.matrix)
    return import_(arguments.engine, arguments.release, arguments.time_limit, arguments.matrix)


def _verdict_text(verdict: Verdict) -> str:
    lines = [f"{verdict.backend.name}: {verdict.status}"]
    lines += [f"  - {reason.message}" for reason in verdict.reasons]
    asked, resolved = verdict.request.kv_cache_dtype, verdict.kv_cache_dtype
    if verdict.status != "unsupported":
        if resolved is not None:
            arrow = f"{asked} -> " if asked not in (None, resolved) else ""
            size = f", {verdict.bytes_per_token} B per token" if verdict.bytes_per_token else ""
            extra = f", extra pool {verdict.extra_kv_format}" if verdict.extra_kv_format else ""
            shown = f" ({verdict.kv_format}{size}{extra})" if verdict.kv_format else ""
            lines.append(f"  KV cache: {arrow}{resolved}{shown}")
        if verdict.kernel is not None:
            lines.append(f"  kernel: {verdict.kernel}")
        if verdict.padded_query_heads is not None:
            asked_heads = verdict.request.query_heads
            lines.append(f"  query heads: {asked_heads}, padded to {verdict.padded_query_heads}")
        if evidence := verdict.evidence:
            from .verified import words

            lines += [f"  evidence: {text}" for text in words(evidence)]
    lines += [f"  note: {note}" for note in verdict.notes]
    return "\n".join(lines)


def _print_json(data: Any) -> None:
    import json

    print(json.dumps(data, indent=2))


def _fail(error: object) -> int:
    print(f"attnmatrix: error: {error}", file=sys.stderr)
    return 2
