"""Reads a YAML file strictly, and remembers where everything stood.

A strict subset: mappings with text keys, lists, text, decimal integers, `true` and `false`. What
YAML 1.1 would bend (9.0 to a float, `no` to False, 010 to 8, 12:10 to 730, dates) must be quoted;
a key may stand once; tags, anchors and merge keys are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from .problems import InvalidSource, Place, Problem

Path_ = tuple[str | int, ...]

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")  # not \t, \n
_STR = "tag:yaml.org,2002:str"
_MAX_BYTES = 64 * 1024 * 1024
_MAX_DEPTH = 64
_MAX_DIGITS = 18


class Source:
    """The data of one YAML file and the places of its keys and values.

    `problems`: what was refused while reading. `data` then holds the text as it stood, so that
    further checks can go on and report what else is wrong.
    """

    def __init__(
        self,
        file: str,
        data: Any,
        values: dict[Path_, Place],
        keys: dict[Path_, Place],
        problems: Iterable[Problem] = (),
    ):
        self.file = file
        self.data = data
        self.problems = tuple(problems)
        self._values = values
        self._keys = keys

    def place(self, path: Path_, *, key: bool = False) -> Place:
        """Where the value at a path (or its key) stands; of a missing one, its nearest holder."""
        path = tuple(path)
        while path:
            found = (self._keys.get(path) if key else None) or self._values.get(path)
            if found is not None:
                return found
            path, key = path[:-1], True
        return Place(self.file)


def read_source(path: Path | str, *, name: str | None = None, strict: bool = True) -> Source:
    """Reads a file. Raises InvalidSource with every problem, or OSError if it cannot be opened.

    `name` is what places call the file; by default the path as given. With strict=False a file
    that is YAML is returned, with what was refused as its `problems`.
    """
    shown = name or str(path)
    raw = Path(path).read_bytes()
    if len(raw) > _MAX_BYTES:
        raise InvalidSource([Problem(Place(shown), "not-yaml", f"{len(raw)} bytes is too large")])
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        message = f"byte {raw[error.start]:#04x} is not UTF-8"
        problem = Problem(Place(shown, line), "not-yaml", message, "save the file as UTF-8")
        raise InvalidSource([problem]) from None
    return parse_source(text, shown, strict=strict)


def parse_source(text: str, file: str = "capabilities.yaml", *, strict: bool = True) -> Source:
    """Parses YAML text. Raises as `read_source` does."""
    try:
        documents = list(yaml.compose_all(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Place(file, mark.line + 1, mark.column + 1) if mark else Place(file)
        words = " ".join(filter(None, (error.context, error.problem)))
        hint = ""
        if words.startswith("found undefined alias") or "alias" in words:
            hint = "this file uses no anchors or aliases; a name that begins with * must be quoted"
        elif "simple key" in words or "mapping values" in words:
            hint = "a text that holds a colon and a space, here or just above, must be quoted"
        elif "block scalar" in words or "comment" in words:
            hint = "a value that begins with > or | must be quoted"
        raise InvalidSource([Problem(place, "not-yaml", words or str(error), hint)]) from None
    except yaml.YAMLError as error:
        words = str(error).replace("\n", " ")
        raise InvalidSource([Problem(Place(file), "not-yaml", words)]) from None
    except RecursionError:
        problem = Problem(Place(file), "not-yaml", f"nested deeper than {_MAX_DEPTH} levels")
        raise InvalidSource([problem]) from None
    reader = _Reader(file, text)
    data: Any = {}
    if len(documents) > 1:
        place = reader.at(documents[1])
        reader.report(place, "not-yaml", "a second document", "keep one document, without ---")
    elif documents and documents[0] is not None:
        data = reader.value(documents[0], ())
    if strict and reader.problems:
        raise InvalidSource(reader.problems)
    return Source(file, data, reader.values, reader.keys, reader.problems)


class _Reader:
    """Turns composed nodes into plain data, keeping places and collecting problems."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        self.problems: list[Problem] = []
        self.values: dict[Path_, Place] = {}
        self.keys: dict[Path_, Place] = {}

    def at(self, node: yaml.Node) -> Place:
        mark = node.start_mark
        return Place(self.file, mark.line + 1, mark.column + 1)

    def report(self, place: Place, code: str, message: str, hint: str = "") -> None:
        self.problems.append(Problem(place, code, message, hint))

    def value(self, node: yaml.Node, path: Path_) -> Any:
        place = self.values[path] = self.at(node)
        if self._marked(node, place):
            return None
        if len(path) > _MAX_DEPTH:
            self.report(place, "not-yaml", f"nested deeper than {_MAX_DEPTH} levels")
            return None
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, i)) for i, item in enumerate(node.value)]
        assert isinstance(node, yaml.ScalarNode)
        return self._scalar(node)

    def _mapping(self, node: yaml.MappingNode, path: Path_) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            place = self.at(key_node)
            if self._marked(key_node, place):
                continue
            if not isinstance(key_node, yaml.ScalarNode):
                self.report(place, "not-yaml", "a key that is not text", "quote the key")
                continue
            if key_node.tag == "tag:yaml.org,2002:merge":
                self.report(place, "not-yaml", "a merge key (<<)", "write the keys out")
                continue
            key = self._scalar(key_node)
            if not isinstance(key, str):
                message = f"the key {key_node.value} would be read as {_kind(key)}"
                self.report(place, "unquoted-value", message, f'write "{key_node.value}"')
                key = str(key_node.value)
            if key in found:
                first = self.keys[(*path, key)]
                problem = Problem(
                    place,
                    "duplicate-key",
                    f"the key {key!r} stands twice; the first would be lost",
                    "merge the two, or rename one",
                    ((first, "the first"),),
                )
                self.problems.append(problem)
                continue
            self.keys[(*path, key)] = place
            found[key] = self.value(value_node, (*path, key))
        return found

    def _marked(self, node: yaml.Node, place: Place) -> bool:
        """Reports a tag, an anchor or an alias: no plain text can begin with their signs."""
        sign = self.text[node.start_mark.index : node.start_mark.index + 1]
        if sign == "!":
            hint = "leave the tag out; quote a value that is text"
            self.report(place, "not-yaml", f"the tag {node.tag}", hint)
        elif sign == "&":  # an alias is the node of its anchor
            self.report(place, "not-yaml", "an anchor or its alias", "write the value out")
        return sign in ("!", "&")

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        text: str = node.value
        if control := _CONTROL.search(text):
            message = f"the control character U+{ord(control[0]):04X}"
            self.report(self.at(node), "not-yaml", message, "no page can show it; take it out")
        if node.style in ('"', "'", "|", ">"):  # always text
            return text
        if node.tag == _STR:
            return text
        if node.tag == "tag:yaml.org,2002:int" and _INTEGER.fullmatch(text):
            if len(text.lstrip("-")) <= _MAX_DIGITS:
                return int(text)
            message = f"an integer of {len(text.lstrip('-'))} digits"
            hint = f"nothing counted here has more than {_MAX_DIGITS}; quote it if text is meant"
            self.report(self.at(node), "invalid-value", message, hint)
            return text
        if text in ("true", "false"):
            return text == "true"
        would_be = {
            "int": "an integer in another base",
            "float": "a number, which drops trailing zeros",
            "bool": "true or false",
            "null": "nothing",
            "timestamp": "a date",
            "merge": "a merge key",
            "value": "a default key",
        }.get(node.tag.removeprefix("tag:yaml.org,2002:"))
        if would_be is None:
            return text
        shown = text if text else "an empty value"
        hint = "write a value; none, unknown and any are words of their own"
        if text not in ("", "~", "null", "Null", "NULL"):
            hint = f'write "{text}" if text is meant'
            if would_be == "true or false":
                hint += ", true or false if a truth value is"
        message = f"{shown} would be read as {would_be}"
        self.report(self.at(node), "unquoted-value", message, hint)
        return text


def _kind(value: Any) -> str:
    return {bool: "true or false", int: "an integer"}.get(type(value), type(value).__name__)
