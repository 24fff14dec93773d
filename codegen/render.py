"""A checked matrix into the text of every generated file. Touches no disk but the templates."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache, partial
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

import jinja2

from attnmatrix.registry import module_name

from . import pages, picker, text
from .answers import Answers, columns
from .api import summaries
from .cell_evidence import row_evidence
from .header import Header
from .links import source_link
from .matrix import Matrix
from .page_formats import drawings
from .plain import plain
from .runtime import (
    backend_attributes,
    backend_class,
    engine_entry,
    kv_format,
    kv_format_attributes,
    model_entry,
)
from .schema import Document, Priority

_PACKAGES = {
    "": "What the matrix says, as Python.",
    "backends/": "Backends, one module each.",
    "kernels/": "Kernels, one module each.",
    "kv_formats/": "KV formats, one module each.",
}

_TAKEN = re.compile(
    "(None|True|False|Backend|Cell|IntSet|Multiples|MultipleOf|Verified|ANY|NONE|NAME|ENTRY)(Backend)*"
)


@lru_cache(maxsize=2)
def _environment(keep_templates: bool) -> jinja2.Environment:
    templates = resources(__package__) / "templates"

    def load(name: str) -> str:
        return (templates / name).read_text(encoding="utf-8")

    environment = jinja2.Environment(
        bytecode_cache=_Compiled(str(templates / "__pycache__"), keep_templates),
        loader=jinja2.FunctionLoader(load),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701 - each template escapes for its own language
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        py=text.python, assign=text.assignment, doc=text.comment, md=text.markdown, code=text.code
    )
    environment.filters["source"] = source_link
    return environment


class _Compiled(jinja2.FileSystemBytecodeCache):
    """Compiled templates, kept as Python keeps compiled modules: read always, written if asked."""

    def __init__(self, folder: str, keep: bool) -> None:
        super().__init__(folder)
        self.keep = keep and not sys.dont_write_bytecode

    def dump_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        if self.keep:
            with suppress(OSError):  # a folder that cannot be written
                Path(self.directory).mkdir(exist_ok=True)
                super().dump_bytecode(bucket)


def render(matrix: Matrix, *, keep_templates: bool = False) -> dict[str, str]:
    """The text of every generated file by its path under the root.

    keep_templates: compiled templates may be written beside the templates.
    """
    files: dict[str, str] = {}
    document = matrix.document
    header = Header(matrix.source.file)
    fill = partial(_fill, _environment(keep_templates), header)
    data = partial(_json, header)
    for package, title in _PACKAGES.items():
        files[f"generated/{package}__init__.py"] = fill("package.py.j2", title=title)
    answers: dict[str, Answers] = {}
    shown = columns(document)
    for name in document.backends:
        attributes = backend_attributes(matrix, name)
        answers[name] = Answers(backend_class(matrix, name), shown)
        files[f"generated/backends/{module_name(name)}.py"] = fill(
            "backend.py.j2",
            name=name,
            class_name=class_name(name),
            summary=attributes["summary"],
            lines=(lines := [text.assignment(k, v, 4) for k, v in attributes.items()]),
            imports=_imports("\n".join(lines)),
        )
        files[f"generated/data/backends/{name}.json"] = data(
            {
                "name": name,
                **{k: plain(v) for k, v in attributes.items()},
                "support": answers[name].support(),
            }
        )
    for name in document.kv_formats:
        attributes = kv_format_attributes(matrix, name)
        files[f"generated/kv_formats/{module_name(name)}.py"] = fill(
            "kv_format.py.j2", name=name, attributes=attributes
        )
        entry = kv_format(matrix, name)
        offsets = {"data_bytes": entry.data_bytes, "scale_bytes": entry.scale_bytes}
        files[f"generated/data/kv_formats/{name}.json"] = data(
            {"name": name, **{k: plain(v) for k, v in attributes.items()}, **offsets}
        )
    verified = {name: row_evidence(matrix, name) for name in document.kernels}
    for name, kernel in document.kernels.items():
        attributes = {
            "title": kernel.title,
            "library": kernel.library,
            "adapter": None if kernel.adapter == "none" else kernel.adapter,
            "phase": kernel.phase,
        }
        files[f"generated/kernels/{module_name(name)}.py"] = fill(
            "kernel.py.j2", name=name, attributes=attributes
        )
        files[f"generated/data/kernels/{name}.json"] = data(
            {
                "name": name,
                **attributes,
                "rows": [
                    {**row, "evidence": [word.to_json() for word in words]}
                    for row, words in zip(matrix.rows[name], verified[name], strict=True)
                ],
                "exceptions": matrix.exceptions[name],
                "notes": kernel.notes,
            }
        )
    files["generated/gpus.py"] = fill(
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
    files["generated/engines.py"] = fill("engines.py.j2", engines=engines)
    files["generated/libraries.py"] = fill(
        "table.py.j2",
        title="Kernel libraries and the distributions that ship them.",
        name="LIBRARIES",
        kind="dict[str, Any]",
        value=libraries,
    )
    rules = [_rule(priority) for priority in document.priorities]
    files["generated/priorities.py"] = fill("priorities.py.j2", rules=rules)
    files["generated/models.py"] = fill(
        "table.py.j2",
        title="Models, and what a request for one asks.",
        name="MODELS",
        kind="dict[str, Any]",
        value=(models := {name: model_entry(entry) for name, entry in document.models.items()}),
    )
    files["generated/data/models.json"] = data(plain(models))
    engine_entries = {name: engine_entry(entry) for name, entry in document.engines.items()}
    files["generated/data/engines.json"] = data(engine_entries)
    files["docs/reference/picker.jsonl"] = picker.lines(
        {"$comment": f"{header.mark} {header.command}"}
        | picker.data(
            backends={
                name: {k: plain(getattr(answered.backend, k)) for k in picker.OF_A_BACKEND}
                for name, answered in answers.items()
            },
            priorities=[{"when": plain(w), "order": list(o)} for w, o in rules],
            gpus=dict(document.gpus),
            models=plain(models),
            engines=engine_entries,
            libraries=libraries,
            released=engines,
            kv_formats={
                name: {"title": entry.title, "bytes_per_token": entry.bytes_per_token}
                for name, entry in document.kv_formats.items()
            },
            kernels={name: kernel.title for name, kernel in document.kernels.items()},
        )
    )
    files["generated/data/gpus.json"] = data(dict(document.gpus))
    files["generated/data/libraries.json"] = data(libraries)
    files["generated/data/priorities.json"] = data(
        {"priorities": [{"when": plain(w), "order": list(o)} for w, o in rules]}
    )
    files["generated/capabilities.schema.json"] = schema_text(header)
    for path, content in summaries(matrix, answers).items():
        files[f"generated/data/{path}"] = data(content, "\n  ,\n  ")
    for path, (template, context) in pages.pages(matrix, answers, verified).items():
        files[f"docs/reference/{path}"] = fill(template, **context)
    for path, drawing in drawings(matrix).items():
        files[f"docs/reference/{path}"] = f"<!-- {header.mark} {header.command} -->\n{drawing}"
    return dict(sorted(files.items()))


def class_name(backend: str) -> str:
    """The class of a backend: FlashmlaSparse for FLASHMLA_SPARSE. No two backends share one.

    An underscore stays where no letter follows; Backend is added to what the module means already.
    """
    name = re.sub(r"_([A-Z])|([A-Z])", lambda m: m[1] or m[2].lower(), f"_{backend}")
    return f"{name}Backend" if _TAKEN.fullmatch(name) else name


def schema_text(header: Header | None = None) -> str:
    """The JSON Schema of the YAML file, for editors."""
    schema = _tidy(Document.model_json_schema())
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "attnmatrix capabilities"
    return _json(header or Header(), schema)


def _tidy(node: Any) -> Any:
    """A schema without what pydantic adds: titles made from names, and null for a key left out."""
    if isinstance(node, list):
        return [_tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    tidy: dict[str, Any] = {}
    for key, value in node.items():
        if key in ("properties", "$defs"):
            tidy[key] = {name: _tidy(entry) for name, entry in value.items()}
        elif key == "anyOf":
            forms = [_tidy(form) for form in value if form != {"type": "null"}]
            tidy.update(forms[0] if len(forms) == 1 else {"anyOf": forms})
        elif key != "title" and (key, value) != ("default", None):
            tidy[key] = _tidy(value)
    return tidy


def _fill(environment: jinja2.Environment, header: Header, template: str, /, **context: Any) -> str:
    marks = {"MARK": header.mark, "COMMAND": header.command}
    return environment.get_template(template).render(**marks, **context)


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
        "attnmatrix.verified": {"Verified": "Verified("},
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


def _json(header: Header, data: dict[str, Any], between: str = ",\n  ") -> str:
    """JSON with a line for each key and for each item of a list, so that changes merge.

    between: what parts two items. With a comma on a line of its own an item that becomes the last
    leaves the one before it as it was.
    """
    lines = []
    for key, value in {"$comment": f"{header.mark} {header.command}", **data}.items():
        opening, closing = ("[", "]") if isinstance(value, list) else ("{", "}")
        if isinstance(value, list) and value:
            items = [_compact(item) for item in value]
        elif isinstance(value, Mapping) and value:
            items = [f"{_compact(name)}: {_compact(item)}" for name, item in value.items()]
        else:
            lines.append(f"{_compact(key)}: {_compact(value)}")
            continue
        body = between.join(items)
        lines.append(f"{_compact(key)}: {opening}\n  {body}\n {closing}")
    return "{\n " + ",\n ".join(lines) + "\n}\n"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
