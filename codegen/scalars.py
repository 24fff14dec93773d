"""Texts, names, sources and numbers as the grammar takes them."""

from __future__ import annotations

import re
from math import inf
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from attnmatrix.gpus import DEVICE_NAMES, fold

from .axes import int_axis, invalid, once
from .gpus import points

MODEL_DTYPE = "model_dtype"
"""The target of an alias that stands for the model's own dtype."""

_WORDS = ("any", "none", "unknown", MODEL_DTYPE)
"""Words that stand where a name may stand."""

_LIST_PAGE = "index"
"""The page that lists a folder's entries; no entry may take its place."""


class Model(BaseModel):
    """Strict: no coercion, no unread keys, nothing changes afterwards."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, arbitrary_types_allowed=True, defer_build=True
    )


_SOURCE_FORMS = (
    "'vllm==0.33.0 path/in/wheel.py:12', 'owner/repo@commit path:12', 'owner/repo#123', "
    "'evidence/file.json' or 'https://...'"
)
_SOURCE = re.compile(
    r"""(?P<release>[A-Za-z0-9._-]+==[^\s=]+(?:\s+\S+)?)
    |(?P<repository>[\w.-]+/[\w.-]+@[0-9a-fA-F]{7,40}\s+\S+)
    |(?P<thread>[\w.-]+/[\w.-]+\#\d+)
    |(?P<evidence>evidence/[\w./+-]+\.json)
    |(?P<url>https?://\S+)""",
    re.VERBOSE,
)


def _source(text: str) -> str:
    if not _SOURCE.fullmatch(text):
        raise invalid(f"{text!r} is not a source", f"write {_SOURCE_FORMS}")
    return text


def _line(text: str) -> str:
    if "\n" in text or not text.strip():
        raise invalid("this takes one line of text")
    return text


def _text(text: str) -> str:
    if not text.strip():
        raise invalid("this takes a text")
    return text


def _name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]*", text):
        raise invalid(
            f"{text!r} is not a name", "begin with a letter; then letters, digits, _ . and -"
        )
    return text


def _entry_name(text: str) -> str:
    if text in _WORDS or text.lower() == _LIST_PAGE:
        raise invalid(f"{text!r} is a word of its own here", "give the entry another name")
    return _name(text)


def backend_name(text: str) -> str:
    """A name in capitals."""
    if not re.fullmatch(r"[A-Z][A-Z0-9_]*", text):
        raise invalid(f"{text!r} is not a backend name", "write capitals, digits and _")
    if text.lower() == _LIST_PAGE:
        raise invalid(f"{text!r} is a word of its own here", "give the entry another name")
    return text


def one_capability(value: Any) -> str:
    """One exact capability, quoted."""
    if not isinstance(value, str) or not re.fullmatch(r"[0-9]{1,2}\.[0-9]", value):
        raise invalid(f"{value!r} is not a compute capability", 'write it quoted, such as "9.0"')
    if not points(value):
        raise invalid(f"no GPU has compute capability {value}", 'such as "9.0"')
    return value


def gpu_name(text: str) -> str:
    """A GPU name that no other word folds to."""
    if not re.match(r"[A-Za-z0-9]", text) or fold(text) in ("", *DEVICE_NAMES):
        raise invalid(f"{text!r} is not a GPU name", "begin with a letter or digit")
    return _line(text)


def positive_number(text: str) -> str:
    """A quoted positive number."""
    number = float(text) if re.fullmatch(r"[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?", text) else 0.0
    if not 0 < number < inf:
        raise invalid(f"{text!r} is not a positive number", 'write it quoted, such as "1e-4"')
    return text


def _unique(items: list[Any]) -> list[Any]:
    once(items)
    return items


def established(value: Any) -> Any:
    """A condition must be known."""
    if isinstance(value, str):
        raise invalid("a condition that nobody knows is never met", "leave it out")
    return value


def flag_or_any(value: Any) -> Any:
    """true, false or any."""
    if type(value) is bool or value == "any":
        return value
    raise invalid(f"{value!r} is neither true, false nor any")


def sizes(value: Any) -> Any:
    """Positive integers, each once, as a list; with multiples within bounds among them, a set."""
    items = value if isinstance(value, list) else [value]
    if any(isinstance(item, dict) for item in items):
        return int_axis(value)
    if isinstance(value, list) and value and all(type(n) is int and n > 0 for n in value):
        return _unique(value)
    raise invalid(
        f"{value!r} is no list of positive integers",
        "write a list such as [64, 128], or {multiple_of: 8, max: 256}",
    )


def sizes_or_any(value: Any) -> Any:
    """The same, or any."""
    return value if value == "any" else sizes(value)


Count = Annotated[int, Field(gt=0)]
Line = Annotated[str, AfterValidator(_line)]
Name = Annotated[str, AfterValidator(_name)]
EntryName = Annotated[str, AfterValidator(_entry_name)]
Unique = AfterValidator(_unique)
SourceText = Annotated[str, AfterValidator(_source)]
Sources = Annotated[
    list[SourceText], Field(description=f"Where the fact can be read: {_SOURCE_FORMS}.")
]
Text = Annotated[str, AfterValidator(_text)]
Notes = Annotated[list[Text], Field(description="Remarks shown beside the claim; plain text.")]
