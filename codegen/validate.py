"""Holds a source against the grammar: every deviation becomes a Problem with its place."""

from __future__ import annotations

import re
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from attnmatrix.spelling import did_you_mean

from .problems import Problem
from .schema import Document, Model, Padding, Stored
from .source import Path_, Source

_BEHIND: dict[str, type[BaseModel]] = {"kv_cache_dtypes": Stored, "query_heads": Padding}
"""Models that a field's annotation does not show, since it also takes other forms."""

_TYPE_WORDS = {
    "string_type": "text",
    "int_type": "an integer",
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "list_type": "a list",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}


def validate(source: Source, data: Any = None) -> tuple[Document | None, list[Problem]]:
    """The document of a source (or of a part of its data), and every deviation from the grammar.

    The document is None where it deviates too far to be read.
    """
    try:
        document = Document.model_validate(source.data if data is None else data)
    except ValidationError as error:
        return None, [_problem(source, details) for details in error.errors(include_url=False)]
    return document, _missing_sources(source, document, ())


def _problem(source: Source, error: ErrorDetails) -> Problem:
    kind = error["type"]
    path, value, rest = _walk(source.data, error["loc"])
    if kind == "missing":
        name = str(error["loc"][-1])
        present = ", ".join(value) if isinstance(value, dict) and value else "nothing"
        message = f"the key {name!r} is missing; present: {present}"
        hint = "write it: absence is never read as any (any, none and unknown are values)"
        return Problem(source.place(path, key=True), "missing-key", message, hint)
    if kind == "extra_forbidden":
        known = _known_keys(error["loc"])
        hint = f"known keys: {', '.join(known)}" if known else ""
        message = f"nothing reads the key {path[-1]!r}{did_you_mean(str(path[-1]), known)}"
        return Problem(source.place(path, key=True), "unknown-key", message, hint)
    place = source.place(path, key="[key]" in rest)
    if kind == "invalid_value":
        context = error.get("ctx", {})
        return Problem(place, "invalid-value", context["message"], context.get("hint", ""))
    if kind in _TYPE_WORDS:
        message = f"{_shown(value)} is not {_TYPE_WORDS[kind]}"
        hint = "quote it to make it text" if kind == "string_type" else ""
        return Problem(place, "wrong-type", message, hint)
    words = error["msg"].removeprefix("Input should be ")
    accepted = str(error.get("ctx", {}).get("expected", ""))
    near = did_you_mean(str(value), re.findall("'(.*?)'", accepted))
    name = f"{path[-1]}: " if path and isinstance(path[-1], str) else ""
    verb = " is not" if words != error["msg"] else ":"
    return Problem(place, "invalid-value", f"{name}{_shown(value)}{verb} {words}{near}")


def _walk(data: Any, loc: tuple[int | str, ...]) -> tuple[Path_, Any, tuple[int | str, ...]]:
    """Follows a location as far as the data goes; pydantic adds the tags of its unions."""
    path: list[int | str] = []
    rest: list[int | str] = []
    for step in loc:
        if isinstance(data, dict) and step in data:
            data = data[step]
        elif isinstance(data, list) and isinstance(step, int) and step < len(data):
            data = data[step]
        else:
            rest.append(step)
            continue
        path.append(step)
    return tuple(path), data, tuple(rest)


def _known_keys(loc: tuple[int | str, ...]) -> list[str]:
    """The keys of the model that a location lies in."""
    kind: type[BaseModel] = Document
    steps = iter(loc[:-1])
    for step in steps:
        field = kind.model_fields.get(str(step))
        if field is None:  # a position in a list
            continue
        kind = _BEHIND.get(str(step)) or _model_in(field.annotation)
        if get_origin(field.annotation) is dict:
            next(steps, None)  # the name of an entry
    return sorted(kind.model_fields)


def _model_in(annotation: Any) -> Any:
    """The model that an annotation holds, however wrapped."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((m for m in map(_model_in, get_args(annotation)) if m is not None), None)


def _missing_sources(source: Source, node: Any, path: Path_) -> list[Problem]:
    if isinstance(node, Model):
        problems = []
        if getattr(node, "sources", None) == []:
            message = "an empty list of sources: nothing shows that this is so"
            hint = "name the file, release, issue or probe record that does"
            place = source.place((*path, "sources"))
            problems.append(Problem(place, "missing-source", message, hint))
        for name in type(node).model_fields:
            problems += _missing_sources(source, getattr(node, name), (*path, name))
        return problems
    if isinstance(node, dict):
        return [p for k, v in node.items() for p in _missing_sources(source, v, (*path, k))]
    if isinstance(node, list):
        return [p for i, v in enumerate(node) for p in _missing_sources(source, v, (*path, i))]
    return []


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
