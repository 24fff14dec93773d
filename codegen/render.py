"""A checked matrix into the text of every generated file. Touches no disk but the templates."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

import jinja2

from attnmatrix.backend import Backend
from attnmatrix.intset import IntSet
from attnmatrix.registry import module_name

from . import pages, text
from .matrix import Matrix
from .runtime import backend_attributes, backend_class, kv_format, kv_format_attributes
from .schema import Document, Priority

MARK = "Code generated from capabilities.yaml by attnmatrix. DO NOT EDIT."
COMMAND = "Regenerate with make gen, or attnmatrix gen."
FOLDERS = ("generated", "docs/reference")
"""The folders that belong to the generator, under the root."""


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    def load(name: str) -> str:
        return (resources(__package__) / "templates" / name).read_text(encoding="utf-8")

    environment = jinja2.Environment(
        bytecode_cache=_bytecode_cache(),
        loader=jinja2.FunctionLoader(load),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701 - each template escapes for its own language
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(MARK=MARK, COMMAND=COMMAND)
    environment.filters.update(
        py=text.python, assign=text.assignment, doc=text.comment, md=text.markdown, code=text.code
    )
    return environment


def _bytecode_cache() -> jinja2.BytecodeCache | None:
    """Compiled templates, kept as Python keeps compiled modules; None where it could not write."""
    folder = Path(str(resources(__package__) / "templates" / "__pycache__"))
    try:
        folder.mkdir(exist_ok=True)
    except OSError:
        return None
    if not os.access(folder, os.W_OK) or sys.dont_write_bytecode:
        return None
    return jinja2.FileSystemBytecodeCache(str(folder))


def render(matrix: Matrix) -> dict[str, str]:
    """The text of every generated file by its path under the root."""
    files: dict[str, str] = {}
    document = matrix.document
    for package in ("", "backends/", "kernels/", "kv_formats/"):
        files[f"generated/{package}__init__.py"] = f"# {MARK}\n# {COMMAND}\n"
    backends: dict[str, type[Backend]] = {}
    for name in document.backends:
        attributes = backend_attributes(matrix, name)
        backends[name] = backend_class(matrix, name)
        files[f"generated/backends/{module_name(name)}.py"] = _module(
            "backend.py.j2",
            name=name,
            class_name=name.title().replace("_", ""),
            summary=attributes["summary"],
            lines=(lines := [text.assignment(k, v, 4) for k, v in attributes.items()]),
            imports=_imports("\n".join(lines)),
        )
        files[f"generated/data/backends/{name}.json"] = _json(
            {"name": name, **{k: _plain(v) for k, v in attributes.items()}}
        )
    for name in document.kv_formats:
        attributes = kv_format_attributes(matrix, name)
        files[f"generated/kv_formats/{module_name(name)}.py"] = _module(
            "kv_format.py.j2", name=name, attributes=attributes
        )
        entry = kv_format(matrix, name)
        offsets = {"data_bytes": entry.data_bytes, "scale_bytes": entry.scale_bytes}
        files[f"generated/data/kv_formats/{name}.json"] = _json(
            {"name": name, **{k: _plain(v) for k, v in attributes.items()}, **offsets}
        )
    for name, kernel in document.kernels.items():
        attributes = {
            "title": kernel.title,
            "library": kernel.library,
            "adapter": None if kernel.adapter == "none" else kernel.adapter,
            "phase": kernel.phase,
        }
        files[f"generated/kernels/{module_name(name)}.py"] = _module(
            "kernel.py.j2", name=name, attributes=attributes
        )
        rows = [{k: _plain(v) for k, v in dict(row).items()} for row in kernel.rows]
        files[f"generated/data/kernels/{name}.json"] = _json(
            {"name": name, **attributes, "rows": rows, "notes": kernel.notes}
        )
    files["generated/gpus.py"] = _module(
        "table.py.j2",
        title="GPU names, each with its compute capability.",
        name="GPUS",
        kind="dict[str, str]",
        value=dict(document.gpus),
    )
    libraries = {
        name: {
            "title": library.title,
            "homepage": library.homepage,
            "providers": {
                provider: {k: v for k, v in dict(how).items() if v is not None}
                for provider, how in library.providers.items()
            },
        }
        for name, library in document.libraries.items()
    }
    engines = tuple(
        dict.fromkeys(name for backend in document.backends.values() for name in backend.engines)
    )
    files["generated/engines.py"] = _module("engines.py.j2", engines=engines)
    files["generated/libraries.py"] = _module(
        "table.py.j2",
        title="Kernel libraries and the distributions that ship them.",
        name="LIBRARIES",
        kind="dict[str, Any]",
        value=libraries,
    )
    rules = [_rule(priority) for priority in document.priorities]
    files["generated/priorities.py"] = _module("priorities.py.j2", rules=rules)
    files["generated/data/gpus.json"] = _json(dict(document.gpus))
    files["generated/data/libraries.json"] = _json(libraries)
    files["generated/data/priorities.json"] = _json(
        {"priorities": [{"when": _plain(w), "order": list(o)} for w, o in rules]}
    )
    files["generated/capabilities.schema.json"] = schema_text()
    for path, (template, context) in pages.pages(matrix, backends).items():
        files[f"docs/reference/{path}"] = _environment().get_template(template).render(**context)
    return dict(sorted(files.items()))


def schema_text() -> str:
    """The JSON Schema of the YAML file, for editors."""
    schema = Document.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "attnmatrix capabilities"
    return _json(schema)


def _module(template: str, **context: Any) -> str:
    return _environment().get_template(template).render(**context)


def _imports(literals: str) -> list[tuple[str, list[str]]]:
    """The imports that a backend's literals need, as (module, names)."""
    signs = {
        "attnmatrix.backend": {"Backend": "", "MultipleOf": "MultipleOf("},
        "attnmatrix.cell": {"Cell": "Cell("},
        "attnmatrix.intset": {
            "ANY": "=ANY",
            "NONE": "=NONE",
            "IntSet": "=IntSet(",
            "Multiples": "(Multiples(",
        },
    }
    found = [
        (module, [name for name, sign in names.items() if sign in literals])
        for module, names in signs.items()
    ]
    return [(module, names) for module, names in found if names]


def _rule(priority: Priority) -> tuple[dict[str, Any], tuple[str, ...]]:
    when: dict[str, Any] = {}
    for field, value in dict(priority.when).items():
        if value is None:
            continue
        if field == "compute_capability":
            value = tuple(pattern.text for pattern in value)
        elif isinstance(value, list):
            value = tuple(value)
        when[field] = value
    return when, tuple(priority.order)


def _plain(value: Any) -> Any:
    """Plain JSON data for an attribute of the matrix."""
    if isinstance(value, IntSet):
        return [
            *value.values,
            *({"multiple_of": m.base, "min": m.first, "max": m.maximum} for m in value.multiples),
        ]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if hasattr(value, "__slots__"):
        if hasattr(value, "text"):
            return value.text
        return {name: _plain(getattr(value, name)) for name in value.__slots__}
    return value


def _json(data: dict[str, Any]) -> str:
    """JSON with a line for each key and for each item of a list, so that changes merge."""
    lines = []
    for key, value in {"$comment": f"{MARK} {COMMAND}", **data}.items():
        opening, closing = ("[", "]") if isinstance(value, list) else ("{", "}")
        if isinstance(value, list) and value:
            items = [_compact(item) for item in value]
        elif isinstance(value, Mapping) and value:
            items = [f"{_compact(name)}: {_compact(item)}" for name, item in value.items()]
        else:
            lines.append(f"{_compact(key)}: {_compact(value)}")
            continue
        body = ",\n  ".join(items)
        lines.append(f"{_compact(key)}: {opening}\n  {body}\n {closing}")
    return "{\n " + ",\n ".join(lines) + "\n}\n"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
